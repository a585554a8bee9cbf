/* SPDX-License-Identifier: Apache-2.0 */
/* A process in which requests run, one after the other: what one of them costs, breaks or leaves behind ends with the
 * process. It takes another one only where it is as it was before. */
#ifndef STAGESIM_SERVE_WORKER_H
#define STAGESIM_SERVE_WORKER_H

#include "base/diagnostics.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct worker {
    pid_t process;        /* 0: this is that process */
    int output, messages; /* files with what it writes to standard output and error */
    int talk;             /* the socket to the other process */
    double deadline;      /* seconds of the monotonic clock (base/process/clock.h); INFINITY: none */
    const char *why;      /* it was ended: why; NULL: it was not */
    bool limited;         /* its memory is: it takes no other request */
    unsigned answered;    /* in its process: how many requests */
    struct worker *next;  /* the owner's */
};

/* Makes a process for a request. There the worker's process is 0, both streams go into the files, nothing is to be
 * read, the signals of `usual` are blocked, and there is no more memory than `megabytes` (0: as before). NULL with the
 * fault filled where there is none. worker_destroy ends it. */
struct worker *worker_start(double seconds, double megabytes, const sigset_t *usual, struct fault *fault);
/* Hands the words of another request to one that waits. Does not wait. False where it has gone or does not take all of
 * them at once; then it is of no more use. */
bool worker_give(struct worker *worker, char *const *words, int count, double seconds);
/* Whether it has answered its request, with code 0, and waits for the next. Does not wait; to be asked where there is
 * something to read at `talk`. */
bool worker_waits(const struct worker *worker);
/* Ends it with all processes that it made; `why` stays with it. */
void worker_end(struct worker *worker, const char *why);
/* The exit code and what there is to say for a process that ended so; NULL: it said all. `text` has room for it. */
int worker_code(const struct worker *worker, int status, char *text, size_t size, const char **more);
/* Closes the files, and so ends a process that waits. */
void worker_destroy(struct worker *worker);

/* In its process: says that the request is done with code 0, and waits for the words of the next, NULL behind the last:
 * *count of them. They and the texts are one block, to be freed. NULL: there is no other request. Without that the end
 * of the process is its answer. */
char **worker_next(struct worker *worker, int *count);

#endif
