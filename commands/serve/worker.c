/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/serve/worker.h"

#include "base/bulk.h"
#include "base/exit_code.h"
#include "base/isolate.h"
#include "base/process/clock.h"
#include "base/sanitized.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
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

static void become(struct worker *worker, pid_t parent, double megabytes, const sigset_t *usual)
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

static double deadline_after(double seconds)
{
    return seconds > 0 ? clock_now() + seconds : INFINITY;
}

struct worker *worker_start(double seconds, double megabytes, const sigset_t *usual, struct fault *fault)
{
    struct worker *worker = memory_zeroed(1, sizeof *worker);
    pid_t parent = getpid();
    int ends[2] = {-1, -1};
    bool good = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
    worker->output = memfd_create("output", MFD_CLOEXEC);
    worker->messages = memfd_create("messages", MFD_CLOEXEC);
    worker->deadline = deadline_after(seconds);
    worker->limited = megabytes > 0;
    good = good && worker->output >= 0 && worker->messages >= 0;
    worker->process = good ? fork() : -1;
    if (worker->process < 0)
        fault_set(fault, "no process for the request: %s", strerror(errno));
    worker->talk = ends[worker->process == 0];
    if (ends[worker->process != 0] >= 0)
        close(ends[worker->process != 0]);
    if (worker->process == 0)
        become(worker, parent, megabytes, usual);
    else if (worker->process > 0)
        setpgid(worker->process, worker->process); /* both do: whoever comes first */
    if (worker->process >= 0)
        return worker;
    worker_destroy(worker);
    return NULL;
}

/* ---- one request after the other ---- */

/* All of it; false where the other process has gone. */
static bool receive_all(int socket, void *bytes, size_t size)
{
    while (size) {
        ssize_t length = recv(socket, bytes, size, MSG_WAITALL);
        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0)
            return false;
        bytes = (char *)bytes + length;
        size -= (size_t)length;
    }
    return true;
}

static bool empty(int file)
{
    return ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0; /* both processes share its position */
}

/* How many bytes the words take, each with its end, and how many there are. */
struct letter {
    size_t size;
    int count;
};

bool worker_give(struct worker *worker, char *const *words, int count, double seconds)
{
    struct letter letter = {0, count};
    for (int i = 0; i < count; i++)
        letter.size += strlen(words[i]) + 1;
    char *bytes = memory_zeroed(1, sizeof letter + letter.size), *end = mempcpy(bytes, &letter, sizeof letter);
    for (int i = 0; i < count; i++)
        end = stpcpy(end, words[i]) + 1;
    ssize_t size = end - bytes;
    /* It does not wait: the other process may have been stopped, and then reads nothing. */
    bool good = empty(worker->output) && empty(worker->messages) &&
                send(worker->talk, bytes, (size_t)size, MSG_NOSIGNAL | MSG_DONTWAIT) == size;
    free(bytes);
    worker->deadline = deadline_after(seconds);
    return good;
}

bool worker_waits(const struct worker *worker)
{
    char done;
    return recv(worker->talk, &done, 1, MSG_DONTWAIT) == 1;
}

char **worker_next(struct worker *worker, int *count)
{
    struct letter letter;
    worker->answered++;
    if (send(worker->talk, "", 1, MSG_NOSIGNAL) != 1 || !receive_all(worker->talk, &letter, sizeof letter))
        return NULL;
    size_t table = ((size_t)letter.count + 1) * sizeof(char *);
    char **words = memory_zeroed(1, table + letter.size), *text = (char *)words + table;
    if (!receive_all(worker->talk, text, letter.size)) {
        free(words);
        return NULL;
    }
    for (int i = 0; i < letter.count; i++, text += strlen(text) + 1)
        words[i] = text;
    *count = letter.count;
    return words;
}

/* ---- the end ---- */

void worker_end(struct worker *worker, const char *why)
{
    if (worker->why)
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

void worker_destroy(struct worker *worker)
{
    const int files[] = {worker->output, worker->messages, worker->talk};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] >= 0)
            close(files[i]);
    free(worker);
}
