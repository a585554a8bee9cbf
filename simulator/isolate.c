/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/isolate.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
    int (*body)(void *user, struct isolated *self);
    void *user;
    FILE *results, *kept; /* kept: what goes to stderr */
    volatile int *stage;
};

/* Cuts the backtrace off and returns the text behind SimGrid's time, file and "[category/CRITICAL] ". */
static const char *undecorated(char *text)
{
    char *end = strstr(text, "\nBacktrace"), *start = strstr(text, "/CRITICAL] ");
    if (end)
        *end = '\0';
    return start && (!end || start < end) ? start + strlen("/CRITICAL] ") : text;
}

/* The end of what the child wrote to its standard error, without white space behind it. */
static void read_end(FILE *kept, char *text, size_t size)
{
    fflush(kept);
    fseek(kept, 0, SEEK_END);
    long end = ftell(kept);
    fseek(kept, end > (long)size - 1 ? end - (long)size + 1 : 0, SEEK_SET);
    size_t length = fread(text, 1, size - 1, kept);
    while (length && (text[length - 1] == '\n' || text[length - 1] == ' '))
        length--;
    text[length] = '\0';
}

/* The last lines that SimGrid wrote before it gave up, without its decoration. */
static void last_words(FILE *kept, int status, struct fault *fault)
{
    char text[4096];
    read_end(kept, text, sizeof text);
    const char *words = undecorated(text);
    if (*words)
        fault_set(fault, "%.900s", words);
    else if (WIFSIGNALED(status))
        fault_set(fault, "the simulation's process was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        fault_set(fault, "the simulation's process ended with code %d", WEXITSTATUS(status));
}

static int run_child(const struct child *child)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody waits for its results then */
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    int console = dup(STDERR_FILENO);
    struct isolated self = {child->results, console >= 0 ? fdopen(console, "w") : stderr, child->stage};
    setvbuf(self.console, NULL, _IOLBF, BUFSIZ);
    dup2(fileno(child->kept), STDERR_FILENO);
    int code = child->body(child->user, &self);
    fflush(self.console);
    fflush(stdout);
    if (fflush(child->results) && code == 0)
        code = 3;
    return code;
}

static int await(pid_t pid, FILE *kept, struct fault *fault)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) {
            fault_set(fault, "the simulation's process was lost: %s", strerror(errno));
            return -1;
        }
    if (WIFEXITED(status) && WEXITSTATUS(status) < 4) {
        char text[256];
        read_end(kept, text, sizeof text);
        if (strncmp(text, "stagesim: out of memory", 23) == 0) /* the one thing that is not said to the console */
            fprintf(stderr, "%s\n", text);
        return WEXITSTATUS(status);
    }
    last_words(kept, status, fault);
    return -1;
}

int isolate(int (*body)(void *user, struct isolated *self), void *user, FILE **results, int *stage, struct fault *fault)
{
    int *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    FILE *kept = tmpfile();
    *results = tmpfile();
    int code = -1;
    if (shared != MAP_FAILED && kept && *results) {
        struct child child = {body, user, *results, kept, shared};
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0)
            _exit(run_child(&child));
        if (pid < 0)
            fault_set(fault, "no process for the simulation: %s", strerror(errno));
        else
            code = await(pid, kept, fault);
        fseek(kept, 0, SEEK_END);
        rewind(*results);
        *stage = *shared;
    } else {
        fault_set(fault, "no temporary file for the simulation: %s", strerror(errno));
    }
    if (kept)
        fclose(kept);
    if (shared != MAP_FAILED)
        munmap(shared, sizeof *shared);
    return code;
}
