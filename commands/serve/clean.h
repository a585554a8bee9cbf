/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a process that has run a request is as it was before, so that the next one finds nothing of it. */
#ifndef STAGESIM_SERVE_CLEAN_H
#define STAGESIM_SERVE_CLEAN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* What a request may leave behind that can be seen. */
struct clean {
    uint64_t descriptors;         /* which of the first 64 are open, a bit each */
    unsigned long long libraries; /* how many were loaded since the process began */
    void (*handlers[32])(int);    /* of the signals, by number */
    sigset_t blocked;
};

/* How it is now. */
struct clean clean_state(void);

/* Forgets which files the request read. False where more is left of it: another of the above, a process, an
 * interruption, a figure that is not finite, or more memory than 100 MB. */
bool clean_again(const struct clean *before);

#endif
