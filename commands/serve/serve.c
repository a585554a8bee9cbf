/* SPDX-License-Identifier: Apache-2.0 */
/* stagesim serve --stdio: requests come as lines, and each gets a line as its answer. */
#include "commands/serve/serve.h"
#include "base/arena.h"
#include "base/process/clock.h"
#include "base/sanitized.h"
#include "commands/cli/command.h"
#include "commands/cli/option_next.h"
#include "commands/serve/answer.h"
#include "commands/serve/clean.h"
#include "commands/serve/request.h"
#include "commands/serve/worker.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* Longer lines are refused; where so many requests wait, no more are read. */
enum { LINE_MAX_BYTES = 4 << 20, WAITING_MAX = 10000, JOBS_MAX = 256, READ_BYTES = 1 << 16 };

/* So many requests a process answers at the most. */
enum { ANSWERS_MAX = SANITIZED ? 50 : 1000 };

/* A request that waits or runs. */
struct task {
    struct arena *arena; /* its memory */
    struct request request;
    struct worker *worker; /* NULL: it waits */
    struct task *next;
};

static const struct command *const *offered; /* set once, by main */

void serve_offer(const struct command *const *commands)
{
    offered = commands;
}

struct server {
    unsigned jobs;             /* processes at a time */
    double seconds, megabytes; /* limits of a request; 0: none */
    sigset_t usual;            /* the signals that are blocked elsewhere */
    int ended;                 /* says that a process has ended */
    char empty[40];            /* the file of a scenario without keys */
    char *line;                /* what of a line has come */
    size_t size, capacity;
    bool too_long, at_end; /* the line is; there are no more */
    struct task *first, *last, *running;
    struct worker *idle; /* processes that wait for a request */
    unsigned running_count, waiting_count;
};

/* What a line leads to. */
enum turn { GOES_ON, IS_REQUEST /* in the process that runs it */ };

static void task_destroy(struct task *task)
{
    arena_destroy(task->arena);
    free(task);
}

static void refuse(const struct request *request, int code, const char *text)
{
    answer_write(stdout,
                 &(struct answer){.id = request->id, .code = code, .output = -1, .messages = -1, .instead = text});
}

static double smaller(double asked, double limit)
{
    return asked > 0 && limit > 0 ? fmin(asked, limit) : fmax(asked, limit);
}

static double seconds_of(const struct server *server, const struct task *task)
{
    return smaller(task->request.seconds, server->seconds);
}

/* A process that waits takes the request; false: there is none. Where memory is limited, each request has a process of
 * its own, whose memory is all its. */
static bool give(struct server *server, struct task *task)
{
    if (task->request.megabytes > 0 || server->megabytes > 0)
        return false;
    while (server->idle) {
        struct worker *worker = server->idle;
        server->idle = worker->next;
        if (worker_give(worker, task->request.words, task->request.word_count, seconds_of(server, task))) {
            task->worker = worker;
            return true;
        }
        worker_end(worker, "it takes no request"); /* somebody has ended or stopped it, or the request is too long */
        worker_destroy(worker);
    }
    return false;
}

static void destroy_workers(struct server *server)
{
    for (struct task *task = server->running; task; task = task->next)
        worker_destroy(task->worker);
    while (server->idle) {
        struct worker *worker = server->idle;
        server->idle = worker->next;
        worker_destroy(worker);
    }
}

/* Starts what waits while there is room; IS_REQUEST: this is the process that was made, `*own` is what it does. */
static enum turn start_some(struct server *server, struct task **own)
{
    while (server->first && server->running_count < server->jobs) {
        struct task *task = server->first;
        struct fault fault = {""};
        server->first = task->next;
        server->last = server->first ? server->last : NULL;
        server->waiting_count--;
        if (!give(server, task))
            task->worker = worker_start(seconds_of(server, task), smaller(task->request.megabytes, server->megabytes),
                                        &server->usual, &fault);
        if (task->worker && task->worker->process == 0) {
            destroy_workers(server); /* their sockets end with one process, not with two */
            *own = task;
            return IS_REQUEST;
        }
        if (!task->worker) {
            refuse(&task->request, EXIT_FAILED, fault.text);
            task_destroy(task);
            continue;
        }
        task->next = server->running;
        server->running = task;
        server->running_count++;
    }
    return GOES_ON;
}

/* ---- lines ---- */

/* A request that waits goes; one that runs is ended, and answers for itself. */
static void cancel(struct server *server, const struct request *request)
{
    bool found = false;
    for (struct task *task = server->running; task; task = task->next)
        if (!strcmp(task->request.id, request->of)) {
            worker_end(task->worker, "cancelled");
            found = true;
        }
    for (struct task **link = &server->first, *before = NULL; *link;) {
        struct task *task = *link;
        if (strcmp(task->request.id, request->of) != 0) {
            before = task;
            link = &task->next;
            continue;
        }
        found = true;
        *link = task->next;
        server->last = task->next ? server->last : before;
        server->waiting_count--;
        refuse(&task->request, EXIT_FAILED, "cancelled");
        task_destroy(task);
    }
    refuse(request, found ? EXIT_DONE : EXIT_BAD_INPUT, found ? NULL : "no such request waits or runs");
}

static void take_line(struct server *server, const char *line, size_t size)
{
    struct fault fault = {""};
    struct task *task = array_zeroed(1, sizeof *task);
    task->arena = arena_create();
    bool good = request_read(line, size, offered, server->empty, &task->request, task->arena, &fault);
    if (!good)
        refuse(&task->request, EXIT_USAGE, fault.text);
    else if (!task->request.command)
        cancel(server, &task->request);
    if (!good || !task->request.command) {
        task_destroy(task);
        return;
    }
    *(server->last ? &server->last->next : &server->first) = task;
    server->last = task;
    server->waiting_count++;
}

static bool is_blank(const char *line, size_t size)
{
    return strspn(line, " \t\r") >= size;
}

/* The lines that are whole; the rest stays. */
static void take_lines(struct server *server)
{
    char *from = server->line, *end;
    while ((end = memchr(from, '\n', server->size - (size_t)(from - server->line)))) {
        *end = '\0';
        if (server->too_long)
            refuse(&(struct request){.id = "null"}, EXIT_USAGE, "the line is longer than 4 MiB");
        else if (!is_blank(from, (size_t)(end - from)))
            take_line(server, from, (size_t)(end - from));
        server->too_long = false;
        from = end + 1;
    }
    server->size -= (size_t)(from - server->line);
    memmove(server->line, from, server->size);
    server->too_long |= server->size > LINE_MAX_BYTES;
    if (server->too_long)
        server->size = 0;
}

static void read_some(struct server *server)
{
    server->line = array_grow(server->line, &server->capacity, server->size + READ_BYTES + 1, 1);
    ssize_t length = read(STDIN_FILENO, server->line + server->size, READ_BYTES);
    if (length < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    server->at_end = length <= 0;
    server->size += length > 0 ? (size_t)length : 0;
    if (server->at_end && (server->size || server->too_long))
        server->line[server->size++] = '\n'; /* the last line has no end */
    take_lines(server);
}

/* ---- processes ---- */

/* Answers, with what the process wrote; `instead`: the messages, where that says nothing of them. */
static void answer(struct server *server, struct task **link, int code, const char *instead)
{
    struct task *task = *link;
    struct worker *worker = task->worker;
    bool whole = !worker->why; /* of one that was ended, what it wrote may be half of something */
    answer_write(stdout, &(struct answer){.id = task->request.id,
                                          .code = code,
                                          .output = whole ? worker->output : -1,
                                          .messages = whole ? worker->messages : -1,
                                          .instead = instead,
                                          .empty = server->empty});
    *link = task->next;
    server->running_count--;
    task_destroy(task);
}

/* The process has ended. */
static void finish(struct server *server, struct task **link, int status)
{
    char text[200];
    const char *instead;
    struct worker *worker = (*link)->worker;
    int code = worker_code(worker, status, text, sizeof text, &instead);
    answer(server, link, code, instead);
    worker_destroy(worker);
}

/* Its number may be another process's from now on. */
static void drop_idle(struct server *server, pid_t process)
{
    for (struct worker **link = &server->idle; *link; link = &(*link)->next)
        if ((*link)->process == process) {
            struct worker *worker = *link;
            *link = worker->next;
            worker_destroy(worker);
            return;
        }
}

static void reap(struct server *server)
{
    int status;
    pid_t process;
    while ((process = waitpid(-1, &status, WNOHANG)) > 0) {
        struct task **link = &server->running;
        while (*link && (*link)->worker->process != process)
            link = &(*link)->next;
        if (*link)
            finish(server, link, status);
        else
            drop_idle(server, process);
    }
}

/* The processes that have answered wait from now on. `polled` are the sockets of those that run, in their order. */
static void take_answers(struct server *server, const struct pollfd *polled)
{
    struct task **link = &server->running;
    for (size_t i = 0; *link; i++) {
        struct worker *worker = (*link)->worker;
        if (!polled[i].revents || worker->why || !worker_waits(worker)) {
            link = &(*link)->next;
            continue;
        }
        answer(server, link, EXIT_DONE, NULL);
        worker->next = server->idle;
        server->idle = worker;
    }
}

/* Milliseconds until a request has to be ended, which is done where it is late; -1: none. */
static int end_late(struct server *server)
{
    double now = clock_now(), next = INFINITY;
    for (struct task *task = server->running; task; task = task->next) {
        if (task->worker->deadline <= now)
            worker_end(task->worker, "the time that the request may take is over");
        else
            next = fmin(next, task->worker->deadline);
    }
    return isfinite(next) ? (int)fmin(ceil(1e3 * (next - now)), 1e6) : -1;
}

/* Waits for something to do, and does it. False: it cannot wait. */
static bool turn(struct server *server)
{
    struct pollfd polled[2 + JOBS_MAX];
    struct signalfd_siginfo info;
    bool reads = !server->at_end && server->waiting_count < WAITING_MAX;
    nfds_t count = 2;
    polled[0] = (struct pollfd){.fd = server->ended, .events = POLLIN};
    polled[1] = (struct pollfd){.fd = reads ? STDIN_FILENO : -1, .events = POLLIN};
    for (const struct task *task = server->running; task; task = task->next)
        polled[count++] = (struct pollfd){.fd = task->worker->talk, .events = POLLIN};
    if (poll(polled, count, end_late(server)) < 0)
        return errno == EINTR;
    take_answers(server, polled + 2);
    if (polled[0].revents && read(server->ended, &info, sizeof info) > 0)
        reap(server);
    if (polled[1].revents)
        read_some(server);
    return true;
}

/* Until the last answer. IS_REQUEST as of start_some. */
static enum turn serve(struct server *server, struct task **own)
{
    while (start_some(server, own) == GOES_ON)
        if ((server->at_end && !server->running_count) || !turn(server))
            return GOES_ON;
    return IS_REQUEST;
}

/* The process of a request: that one, and those that come after it. */
static int run_requests(struct worker *worker, const struct command *command, int count, char **words)
{
    char **own = NULL;
    int code = EXIT_DONE;
    const struct clean before = clean_state();
    for (;;) {
        optind = 0; /* getopt begins anew */
        code = command->run(command, count, words);
        free(own);
        /* Only then is what it printed written: main takes it back where it is not finite. */
        if (code != EXIT_DONE || worker->limited || worker->answered >= ANSWERS_MAX || !clean_again(&before) ||
            fflush(stdout))
            return code;
        words = own = worker_next(worker, &count);
        if (!words)
            return EXIT_DONE;
        for (size_t i = 0; offered[i]; i++)
            command = strcmp(offered[i]->name, words[0]) ? command : offered[i];
    }
}

/* ---- the command ---- */

static bool open_server(struct server *server, struct fault *fault)
{
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &server->usual);
    server->ended = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    int empty = memfd_create("scenario", 0);
    if (server->ended < 0 || empty < 0 || write(empty, "{}\n", 3) != 3)
        return fault_set(fault, "it cannot begin: %s", strerror(errno));
    snprintf(server->empty, sizeof server->empty, "/proc/self/fd/%d", empty);
    return true;
}

static bool read_number(const struct command *command, const char *option, double most, double *value, int *code)
{
    char *end;
    double number = strtod(optarg, &end);
    if (end != optarg && !*end && number > 0 && number <= most) {
        *value = number;
        return true;
    }
    *code = command_usage(command, "--%s: expected a number from 0 to %g, got '%.40s'", option, most, optarg);
    return false;
}

static int read_options(const struct command *command, int argc, char **argv, struct server *server)
{
    static const struct option options[] = {{"stdio", no_argument, NULL, 'i'},
                                            {"jobs", required_argument, NULL, 'j'},
                                            {"seconds", required_argument, NULL, 's'},
                                            {"megabytes", required_argument, NULL, 'm'},
                                            {0}};
    int letter, code = EXIT_DONE;
    bool stdio = false;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    double jobs = processors < 1 ? 1 : fmin((double)processors, JOBS_MAX);
    while ((letter = option_next(command, argc, argv, "", options, &code)) != -1) {
        stdio |= letter == 'i';
        bool good =
            letter == 'i' || (letter == 'j'   ? read_number(command, "jobs", JOBS_MAX, &jobs, &code)
                              : letter == 's' ? read_number(command, "seconds", 1e9, &server->seconds, &code)
                                              : read_number(command, "megabytes", 1e9, &server->megabytes, &code));
        if (!good)
            return code;
    }
    if (code != EXIT_DONE)
        return code;
    if (!stdio || optind != argc)
        return command_usage(command, !stdio ? "expected --stdio: it has no other way to be asked"
                                             : "expected no argument beside --stdio");
    server->jobs = (unsigned)ceil(jobs);
    return EXIT_DONE;
}

static void destroy_all(struct task *task)
{
    while (task) {
        struct task *next = task->next;
        task_destroy(task);
        task = next;
    }
}

/* All that is left, also in the process of a request: `own` is in no list there. */
static void release(struct server *server, struct task *own)
{
    free(server->line);
    destroy_all(server->first);
    destroy_all(server->running);
    if (own)
        task_destroy(own);
}

/* All that it had to do was done: what others end it with is no fault of its own. */
static bool ended_well(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) == EXIT_DONE
                             : WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM;
}

/* The processes that wait end. False where one of them could not do so as it should. */
static bool end_workers(struct server *server)
{
    int status;
    bool good = true;
    for (const struct worker *worker = server->idle; worker; worker = worker->next)
        kill(worker->process, SIGCONT); /* one that was stopped could not end */
    destroy_workers(server);
    while (waitpid(-1, &status, 0) > 0)
        good &= ended_well(status);
    return good;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct server server = {0};
    struct fault fault = {""};
    struct task *own = NULL;
    int code = read_options(command, argc, argv, &server);
    if (code != EXIT_DONE)
        return code;
    if (!open_server(&server, &fault)) {
        diag_print(stderr, "stagesim serve: %s\n", fault.text);
        return EXIT_FAILED;
    }
    if (serve(&server, &own) == IS_REQUEST) {
        struct worker *worker = own->worker;
        code = run_requests(worker, own->request.command, own->request.word_count, own->request.words);
        if (!SANITIZED) /* freeing what waits would copy all its pages; the process ends anyway */
            return code;
        worker_destroy(worker);
    } else if (!end_workers(&server)) {
        diag_print(stderr, "stagesim serve: a process that had answered did not end as it should\n");
        code = EXIT_FAILED;
    }
    release(&server, own);
    return code;
}

const struct command command_serve = {
    .name = "serve",
    .arguments = SERVE_ARGUMENTS,
    .summary = SERVE_SUMMARY,
    .help = SERVE_HELP,
    .run = run,
};
