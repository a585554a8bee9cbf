/* SPDX-License-Identifier: Apache-2.0 */
#include "base/isolate.h"

#include "base/arena.h"
#include "base/exit_code.h"
#include "base/sanitized.h"
#include "base/standard_streams.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* What child and parent share. */
struct shared {
    volatile int stage;
    volatile bool finished; /* the body has returned, and all that it wrote is on its way */
};

struct child {
    int (*body)(void *user, struct isolated *self);
    void *user;
    FILE *results, *kept; /* kept: what goes to stderr */
    struct shared *shared;
    FILE *console; /* the standard error stream as the user sees it */
    pid_t parent;
};

/* Of what a child wrote to its standard error the end is read. A backtrace, in front of which SimGrid's words are, has
 * a line for each caller and is longer the longer their names are; other words are the last ones. */
enum { ENDING = 1 << 18, WORDS = 4095 };

/* Cuts the backtrace off and returns the text behind SimGrid's time, file and "[category/CRITICAL] ". */
static const char *undecorated(char *text)
{
    char *end = strstr(text, "\nBacktrace"), *start = strstr(text, "/CRITICAL] ");
    if (end)
        *end = '\0';
    if (start && (!end || start < end))
        return start + strlen("/CRITICAL] ");
    size_t length = strlen(text);
    return length > WORDS ? text + length - WORDS : text;
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

/* Whether it begins with these words: SimGrid's solver bmf says so before all its numbers. */
static bool begins_with(FILE *kept, const char *words)
{
    char text[64];
    rewind(kept);
    size_t length = fread(text, 1, sizeof text, kept);
    return length >= strlen(words) && memcmp(text, words, strlen(words)) == 0;
}

struct isolation {
    FILE *results, *kept;
    struct shared *shared;
    pid_t pid;
    int status;
    struct rusage usage; /* of the child, when it has ended */
    bool has_ended, was_lost;
    bool was_here; /* ran in this process, and ended with `code` */
    int code;
};

/* Not every library says that it got no memory: how much the process held then, and might have held (see room.h),
 * tells. */
static void name_signal(const struct isolation *isolation, struct fault *fault)
{
    int number = WTERMSIG(isolation->status);
    double held = 1024.0 * (double)isolation->usage.ru_maxrss;
    struct rlimit limit;
    if (getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && held > 0.5 * (double)limit.rlim_cur)
        fault_set(fault,
                  "the simulation's process was ended by signal %d (%s) when it held %.0f MB of the %.0f MB of memory "
                  "that it may take",
                  number, strsignal(number), held / 1e6, (double)limit.rlim_cur / 1e6);
    else
        fault_set(fault, "the simulation's process was ended by signal %d (%s)", number, strsignal(number));
}

/* The last lines that SimGrid wrote before it gave up, without its decoration. */
static void last_words(const struct isolation *isolation, struct fault *fault)
{
    char *text = array_zeroed(ENDING, 1);
    read_end(isolation->kept, text, ENDING);
    const char *words = undecorated(text);
    if (strcmp(words, "Segmentation fault.") == 0) /* SimGrid's handler; the plug-in's or the program's own it may be */
        fault_set(fault, "the simulation's process crashed (segmentation fault)");
    else if (begins_with(isolation->kept, "Unable to find a BMF allocation"))
        fault_set(fault, "SimGrid's solver bmf finds no shares of the links in this job; maxmin does");
    else if (*words)
        fault_set(fault, "%.900s", words);
    else if (WIFSIGNALED(isolation->status))
        name_signal(isolation, fault);
    else
        fault_set(fault, "the simulation's process ended with code %d", WEXITSTATUS(isolation->status));
    free(text);
}

/* The parent tells what a child ended by; it does not try to itself. */
static void release_signals(void)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes && !SANITIZED; i++)
        signal(crashes[i], SIG_DFL);
}

void isolate_bond(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it ended between fork() and here: nobody would tell of it any more */
        _exit(1);
}

static int run_child(const struct child *child)
{
    isolate_bond(child->parent); /* nobody else waits for its results */
    release_signals();
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    struct isolated self = {child->results, child->console, &child->shared->stage};
    setvbuf(self.console, NULL, _IOLBF, BUFSIZ);
    dup2(fileno(child->kept), STDERR_FILENO);
    struct fault fault = {""};
    int code = child->body(child->user, &self);
    bool complete = standard_output_finish(&fault);
    errno = EIO;
    if (fflush(child->results) || ferror(child->results))
        complete = fault_set(&fault, "the simulation's results could not be kept: %s", strerror(errno));
    if (!complete && code == 0) {
        fprintf(self.console, "stagesim: %s\n", fault.text);
        code = 3;
    }
    fflush(self.console);
    child->shared->finished = true;
    return code;
}

/* Waits, or looks whether it has ended (WNOHANG). */
static void look(struct isolation *isolation, int options)
{
    while (!isolation->has_ended) {
        pid_t ended = wait4(isolation->pid, &isolation->status, options, &isolation->usage);
        isolation->was_lost = ended < 0 && errno != EINTR;
        isolation->has_ended = ended > 0 || isolation->was_lost;
        if (ended == 0)
            return;
    }
}

static int exit_code(const struct isolation *isolation, struct fault *fault)
{
    if (isolation->was_here)
        return isolation->code;
    if (isolation->was_lost) {
        fault_set(fault, "the simulation's process was lost");
        return -1;
    }
    int status = WEXITSTATUS(isolation->status);
    bool ended_itself = WIFEXITED(isolation->status) && (status <= EXIT_FAILED || status == EXIT_AHEAD);
    if (ended_itself && isolation->shared->finished)
        return WEXITSTATUS(isolation->status);
    if (ended_itself) {
        char text[400];
        read_end(isolation->kept, text, sizeof text);
        if (strncmp(text, "stagesim: out of memory", 23) == 0) /* the one thing that is not said to the console */
            fprintf(stderr, "%s\n", text);
        else if (strncmp(text, "stagesim: error: ", 17) == 0) /* of base/process/limit.h, of cairo */
            fault_set(fault, "%s", text + 17);
        else
            fault_set(fault, "the process called exit(%d) before it was done; a workload returns",
                      WEXITSTATUS(isolation->status));
        return fault->text[0] ? -1 : WEXITSTATUS(isolation->status);
    }
    if (WIFEXITED(isolation->status) && WEXITSTATUS(isolation->status) == EXIT_CLOSED)
        fault_set(fault, "a plug-in closed descriptors that are not its own");
    else
        last_words(isolation, fault);
    return -1;
}

static void release(struct isolation *isolation)
{
    if (isolation->kept)
        fclose(isolation->kept);
    if (isolation->shared != MAP_FAILED)
        munmap(isolation->shared, sizeof *isolation->shared);
    free(isolation);
}

static FILE *console_copy(void)
{
    int descriptor = dup(STDERR_FILENO);
    FILE *console = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (descriptor >= 0 && !console)
        close(descriptor);
    return console;
}

static bool stays; /* about this process: see isolate_stay */

void isolate_stay(void)
{
    stays = true;
}

/* Where the system has no processes (WebAssembly, which is a box of its own), or needs none: the body runs at once. */
static void run_here(struct isolation *isolation, const struct child *child)
{
    struct isolated self = {child->results, child->console, &child->shared->stage};
    fflush(stderr);
    setvbuf(self.console, NULL, _IOLBF, BUFSIZ);
    isolation->code = child->body(child->user, &self);
    isolation->has_ended = isolation->was_here = true;
    fflush(self.console);
}

static void run_apart(struct isolation *isolation, const struct child *child, struct fault *fault)
{
    fflush(NULL);
    isolation->pid = fork();
    if (isolation->pid == 0)
        _exit(run_child(child));
    if (isolation->pid < 0 && errno == ENOSYS)
        run_here(isolation, child);
    else if (isolation->pid < 0)
        fault_set(fault, "no process for the simulation: %s", strerror(errno));
}

/* A file without a name: of a body that runs here in memory, which takes no directory of a disk. */
static FILE *nameless_file(bool here)
{
    int descriptor = here ? memfd_create("isolated", MFD_CLOEXEC) : -1;
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w+") : NULL;
    if (descriptor >= 0 && !file)
        close(descriptor);
    return file ? file : tmpfile();
}

static struct isolation *start(int (*body)(void *user, struct isolated *self), void *user, bool here,
                               struct fault *fault)
{
    struct isolation *isolation = array_grow(NULL, &(size_t){0}, 1, sizeof *isolation);
    *isolation = (struct isolation){.results = nameless_file(here), .kept = nameless_file(here)};
    isolation->shared =
        mmap(NULL, sizeof *isolation->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    FILE *console = console_copy();
    if (isolation->shared != MAP_FAILED && isolation->kept && isolation->results && console) {
        struct child child = {body, user, isolation->results, isolation->kept, isolation->shared, console, getpid()};
        if (here)
            run_here(isolation, &child);
        else
            run_apart(isolation, &child, fault);
    } else {
        fault_set(fault, "no temporary file for the simulation: %s", strerror(errno));
    }
    if (console)
        fclose(console);
    if (isolation->pid > 0 || isolation->was_here)
        return isolation;
    if (isolation->results)
        fclose(isolation->results);
    release(isolation);
    return NULL;
}

struct isolation *isolate_start(int (*body)(void *user, struct isolated *self), void *user, struct fault *fault)
{
    return start(body, user, false, fault);
}

struct isolation *isolate_start_plain(int (*body)(void *user, struct isolated *self), void *user, struct fault *fault)
{
    return start(body, user, stays, fault);
}

bool isolate_runs(struct isolation *isolation)
{
    look(isolation, WNOHANG);
    return !isolation->has_ended;
}

unsigned isolate_count(struct isolation **isolations, unsigned count)
{
    unsigned running = 0;
    for (unsigned i = 0; i < count; i++)
        running += isolate_runs(isolations[i]);
    return running;
}

void isolate_signal(struct isolation *isolation, int number)
{
    if (!isolation->has_ended)
        kill(isolation->pid, number);
}

int isolate_wait(struct isolation *isolation, FILE **results, int *stage, struct fault *fault)
{
    look(isolation, 0);
    int code = exit_code(isolation, fault);
    rewind(isolation->results);
    *results = isolation->results;
    *stage = isolation->shared->stage;
    release(isolation);
    return code;
}

int isolate(int (*body)(void *user, struct isolated *self), void *user, FILE **results, int *stage, struct fault *fault)
{
    struct isolation *isolation = isolate_start(body, user, fault);
    *results = NULL;
    return isolation ? isolate_wait(isolation, results, stage, fault) : -1;
}

bool isolate_value(int (*body)(void *user, struct isolated *self), void *user, void *value, size_t size,
                   struct fault *fault)
{
    FILE *results;
    int stage = 0, code = isolate(body, user, &results, &stage, fault);
    char *written = array_zeroed(size, 1);
    bool read = code == 0 && results && fread(written, 1, size, results) == size;
    if (read)
        memcpy(value, written, size);
    if (results)
        fclose(results);
    free(written);
    return read;
}
