/* SPDX-License-Identifier: Apache-2.0 */
/* A process in which one request runs: what it costs, breaks or leaves behind ends with it. */
#ifndef STAGESIM_SERVE_WORKER_H
#define STAGESIM_SERVE_WORKER_H

#include "base/diagnostics.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct worker {
    pid_t process;        /* 0: none */
    int output, messages; /* files with what it writes to standard output and error */
    double deadline;      /* seconds of the monotonic clock (base/process/clock.h); INFINITY: none */
    const char *why;      /* it was ended: why; NULL: it was not */
};

/* Makes a process for a request. In that process it returns 0, with both streams going into the files, nothing to read,
 * the signals of `usual` blocked, and no more memory than `megabytes` (0: as before); in this one its number, or -1
 * with the fault filled. The files are the caller's then: worker_release. */
pid_t worker_start(struct worker *worker, double seconds, double megabytes, const sigset_t *usual, struct fault *fault);
/* Ends it with all processes that it made; `why` stays with it. */
void worker_end(struct worker *worker, const char *why);
/* The exit code and what there is to say for a process that ended so; NULL: it said all. `text` has room for it. */
int worker_code(const struct worker *worker, int status, char *text, size_t size, const char **more);
/* Closes the files. */
void worker_release(struct worker *worker);

#endif
