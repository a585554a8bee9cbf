/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process/apart.h"

#include "base/exit_code.h"
#include "base/isolate.h"
#include "base/process/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Of die_of_memory. */
enum { EXIT_OUT_OF_MEMORY = 3 };

/* What both processes see. */
struct shared {
    volatile double loading_since; /* seconds of the monotonic clock; 0: nothing is being loaded */
    volatile bool loaded, done;    /* something was loaded; the command has ended as it should */
    volatile int code;
    char what[200];
};

/* A signal's handler reaches nothing else. */
static struct {
    bool is_ready;
    struct shared *shared; /* NULL: nothing runs apart */
    pid_t child;
} apart;

static const int passed_on[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

/* A terminal sends to both processes; what a process sends is handed on. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code <= 0)
        kill(apart.child, number);
}

static void pass_signals_on(void)
{
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++) {
        struct sigaction action;
        if (sigaction(passed_on[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN)
            continue; /* nohup */
        action = (struct sigaction){.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
        sigaction(passed_on[i], &action, NULL);
    }
}

/* Whether the child ended within a moment; `descriptor` is a pidfd, or -1. */
static bool ends_soon(int descriptor, int *status)
{
    struct pollfd ending = {.fd = descriptor, .events = POLLIN};
    if (descriptor >= 0)
        poll(&ending, 1, 200);
    else
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    return waitpid(apart.child, status, WNOHANG) == apart.child;
}

/* Waits for the child; true when it had to be stopped. */
static bool wait_for_child(int *status)
{
    int descriptor = (int)syscall(SYS_pidfd_open, apart.child, 0);
    bool stopped = false;
    while (!ends_soon(descriptor, status)) {
        double since = apart.shared->loading_since;
        if (since <= 0 || clock_now() - since < APART_SECONDS || stopped)
            continue;
        kill(apart.child, SIGKILL);
        stopped = true;
    }
    if (descriptor >= 0)
        close(descriptor);
    return stopped;
}

static void tell_end(int status, bool stopped, struct fault *fault)
{
    const struct shared *shared = apart.shared;
    const char *when = shared->loading_since > 0 ? " while it was loaded" : "";
    if (stopped)
        fault_set(fault, "%s: it was not loaded within %d s: what runs at its loading does not return", shared->what,
                  APART_SECONDS);
    else if (WIFSIGNALED(status))
        fault_set(fault, "%s: it ended the process by signal %d (%s)%s", shared->what, WTERMSIG(status),
                  strsignal(WTERMSIG(status)), when);
    else if (WEXITSTATUS(status) == EXIT_CLOSED)
        fault_set(fault, "%s: it closed descriptors that are not its own%s", shared->what, when);
    else
        fault_set(fault, "%s: it ended the process by exit(%d)%s", shared->what, WEXITSTATUS(status), when);
}

/* The user's wish is no failure of the code's. */
static void end_if_interrupted(int status)
{
    for (size_t i = 0; WIFSIGNALED(status) && i < sizeof passed_on / sizeof *passed_on; i++)
        if (WTERMSIG(status) == passed_on[i]) {
            signal(passed_on[i], SIG_DFL);
            raise(passed_on[i]);
        }
}

/* Ends as the child did. */
static _Noreturn void end_likewise(int status, bool stopped)
{
    struct fault fault = {""};
    if (apart.shared->done)
        _exit(apart.shared->code);
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_OUT_OF_MEMORY)
        _exit(EXIT_OUT_OF_MEMORY); /* has said so */
    tell_end(status, stopped, &fault);
    diag_fault(&(struct diag){.out = stderr}, "stagesim", fault.text);
    _exit(3);
}

static void start_child(pid_t parent)
{
    struct rlimit no_core = {0, 0};
    isolate_bond(parent);
    setrlimit(RLIMIT_CORE, &no_core);
}

static bool watch_child(struct fault *fault)
{
    int status = 0;
    pass_signals_on();
    bool stopped = wait_for_child(&status);
    end_if_interrupted(status);
    if (apart.shared->loaded || apart.shared->done)
        end_likewise(status, stopped);
    tell_end(status, stopped, fault);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++) {
        struct sigaction action;
        if (sigaction(passed_on[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            signal(passed_on[i], SIG_DFL);
    }
    munmap(apart.shared, sizeof *apart.shared);
    apart.shared = NULL;
    return false;
}

void apart_ready(void)
{
    apart.is_ready = true;
}

static bool share(struct fault *fault)
{
    void *page = mmap(NULL, sizeof *apart.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return fault_set(fault, "no memory to share with the process of a plug-in: %s", strerror(errno));
    apart.shared = page;
    return true;
}

bool apart_enter(const char *what, struct fault *fault)
{
    bool first = !apart.shared;
    if (!apart.is_ready)
        return true;
    if (first && !share(fault))
        return false;
    snprintf(apart.shared->what, sizeof apart.shared->what, "%s", what);
    apart.shared->loading_since = clock_now();
    if (!first)
        return true;
    fflush(NULL);
    pid_t parent = getpid();
    apart.child = fork();
    if (apart.child > 0)
        return watch_child(fault);
    if (apart.child < 0) {
        munmap(apart.shared, sizeof *apart.shared);
        apart.shared = NULL;
        return fault_set(fault, "no process for the plug-in: %s", strerror(errno));
    }
    start_child(parent);
    return true;
}

void apart_loaded(void)
{
    if (!apart.shared)
        return;
    apart.shared->loaded = true;
    apart.shared->loading_since = 0;
}

void apart_done(int code)
{
    if (!apart.shared)
        return;
    apart.shared->code = code;
    apart.shared->done = true;
}
