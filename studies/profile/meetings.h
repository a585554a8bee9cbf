/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives of several ranks' profiles: which operations are one, and when the last member came. */
#ifndef STAGESIM_PROFILE_MEETINGS_H
#define STAGESIM_PROFILE_MEETINGS_H

#include "traces/recorded.h"

struct arena;

struct meetings {
    double *latest; /* [operation]: when the last member of its collective came, or the later end of its message; NaN:
                       the others are not in the trace */
    size_t met, alone; /* collectives whose members are all in the trace, operations of others */
    size_t completed;  /* of these operations, where the missing members were taken to come with those that are there */
    double *lateness;  /* [rank index]: seconds that it comes after the first, the mean over collectives that are met */
};

/* Clocks have to agree, see clocks.h. `symmetric`: members that are not in the trace come with the last of those that
 * are. Memory from the arena. */
void meetings_find(const struct recorded *recorded, bool symmetric, struct arena *arena, struct meetings *meetings);

#endif
