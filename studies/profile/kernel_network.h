/* SPDX-License-Identifier: Apache-2.0 */
/* What messages and collectives of a profile take on a scenario's network: its steps are replayed there, so that
 * transfers share links with the others that the profile has under way, and once more so that each has them for itself.
 */
#ifndef STAGESIM_PROFILE_KERNEL_NETWORK_H
#define STAGESIM_PROFILE_KERNEL_NETWORK_H

#include "job/scenario/scenario.h"
#include "traces/recorded.h"

struct arena;

struct kernel_network {
    bool known;             /* otherwise ranks are missing, or the trace is not replayed */
    double *shared, *alone; /* [operation]: seconds beside each other, and alone; NaN: not known */
    uint32_t missing;       /* ranks of the scenario that the trace lacks: nobody knows what they do on the links */
    uint32_t left_out;      /* collectives of which the trace does not say what they are, or of how many bytes */
};

/* An exit code, after every mistake was reported on standard error. Memory from the
 * arena. */
int kernel_network_find(const struct scenario *scenario, const struct recorded *recorded, struct arena *arena,
                        struct kernel_network *network);

/* What each takes alone there, [operation]; an exit code likewise. */
int kernel_network_alone(const struct scenario *scenario, const struct recorded *recorded, double *seconds);

/* What messages and collectives took from when all members had come, [operation]; NaN: some are not known. NULL with
 * the fault filled. Memory from the arena. */
double *kernel_network_own(const struct recorded *recorded, struct arena *arena, struct fault *fault);

#endif
