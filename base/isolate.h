/* SPDX-License-Identifier: Apache-2.0 */
/* A simulation in a process of its own: SimGrid knows one platform and one simulation per process, and ends the process
 * on some mistakes; the parent lives on and says why. Where there are no processes, the body runs in this one. */
#ifndef STAGESIM_ISOLATE_H
#define STAGESIM_ISOLATE_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* The child's side. */
struct isolated {
    FILE *results; /* what the parent reads afterwards */
    FILE *console; /* the standard error stream as the user sees it; stderr itself is kept back */
    volatile int
        *stage; /* how far the child is, for the parent when it ends abnormally; any meaning that the caller gives it */
};

/* Runs body in a child process and returns its exit code. *results is a stream at its start with what the child wrote,
 * to be closed by the caller. When the child ends by a signal or is ended by a library, the fault holds what was
 * last written to stderr, *stage tells how far it was, and -1 is returned. -1 with the fault filled also when no
 * process could be made. */
int isolate(int (*body)(void *user, struct isolated *self), void *user, FILE **results, int *stage,
            struct fault *fault);
/* The same for a body that writes one value of `size` bytes. False where it did not end with 0 or wrote less; then the
 * fault holds why, as far as that is known, and the value is as it was. */
bool isolate_value(int (*body)(void *user, struct isolated *self), void *user, void *value, size_t size,
                   struct fault *fault);

/* The same in two steps, for several processes at a time. */
struct isolation;
/* NULL with the fault filled when no process could be made. The caller ends it with isolate_wait. */
struct isolation *isolate_start(int (*body)(void *user, struct isolated *self), void *user, struct fault *fault);
/* This process is itself one for a single request: isolate_start_plain makes no other. */
void isolate_stay(void);
/* As isolate_start, for a body that touches neither SimGrid nor code of somebody else: after isolate_stay it runs at
 * once, in this process. */
struct isolation *isolate_start_plain(int (*body)(void *user, struct isolated *self), void *user, struct fault *fault);
/* Whether the process has not ended yet; does not wait. */
bool isolate_runs(struct isolation *isolation);
/* How many of them have not ended yet. */
unsigned isolate_count(struct isolation **isolations, unsigned count);
/* Sends it a signal. */
void isolate_signal(struct isolation *isolation, int number);
/* Waits for its end; arguments and result as of isolate. Frees the isolation. */
int isolate_wait(struct isolation *isolation, FILE **results, int *stage, struct fault *fault);

/* Called in a new process: it is killed when the process `parent` ends, and ends at once where that has ended before.
 * `parent` is what getpid() was before fork(): the parent may be gone when the new process first runs. */
void isolate_bond(pid_t parent);

#endif
