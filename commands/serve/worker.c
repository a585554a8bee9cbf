/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/serve/worker.h"

#include "base/exit_code.h"
#include "base/isolate.h"
#include "base/process/clock.h"
#include "base/sanitized.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void limit_memory(double megabytes)
{
    struct rlimit limit;
    if (SANITIZED || megabytes <= 0 || getrlimit(RLIMIT_DATA, &limit) != 0)
        return; /* a sanitizer reserves far more than it uses */
    double bytes = 1e6 * megabytes;
    if (limit.rlim_cur == RLIM_INFINITY || bytes < (double)limit.rlim_cur)
        limit.rlim_cur = (rlim_t)bytes;
    setrlimit(RLIMIT_DATA, &limit);
}

static void become(const struct worker *worker, pid_t parent, double megabytes, const sigset_t *usual)
{
    isolate_bond(parent);
    setpgid(0, 0);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(worker->output, STDOUT_FILENO) < 0 ||
        dup2(worker->messages, STDERR_FILENO) < 0)
        _exit(EXIT_FAILED);
    sigprocmask(SIG_SETMASK, usual, NULL);
    limit_memory(megabytes);
    isolate_stay();
}

pid_t worker_start(struct worker *worker, double seconds, double megabytes, const sigset_t *usual, struct fault *fault)
{
    *worker = (struct worker){.output = memfd_create("output", MFD_CLOEXEC),
                              .messages = memfd_create("messages", MFD_CLOEXEC),
                              .deadline = seconds > 0 ? clock_now() + seconds : INFINITY};
    pid_t parent = getpid();
    if (worker->output >= 0 && worker->messages >= 0)
        worker->process = fork();
    if (worker->output >= 0 && worker->messages >= 0 && worker->process == 0) {
        become(worker, parent, megabytes, usual);
        return 0;
    }
    if (worker->process > 0) {
        setpgid(worker->process, worker->process); /* both do: whoever comes first */
        return worker->process;
    }
    fault_set(fault, "no process for the request: %s", strerror(errno));
    worker_release(worker);
    worker->process = 0;
    return -1;
}

void worker_end(struct worker *worker, const char *why)
{
    if (!worker->process || worker->why)
        return;
    worker->why = why;
    kill(-worker->process, SIGKILL);
    kill(worker->process, SIGKILL); /* it may not have its group yet */
}

int worker_code(const struct worker *worker, int status, char *text, size_t size, const char **more)
{
    *more = worker->why;
    if (worker->why)
        return EXIT_FAILED;
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    snprintf(text, size, "the request's process was ended by signal %d (%s)\n", WTERMSIG(status),
             strsignal(WTERMSIG(status)));
    *more = text;
    return EXIT_FAILED;
}

void worker_release(struct worker *worker)
{
    if (worker->output >= 0)
        close(worker->output);
    if (worker->messages >= 0)
        close(worker->messages);
    worker->output = worker->messages = -1;
}
