/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives of several ranks' profiles: which operations are one, when the last member came, and whose clocks are
 * off. */
#ifndef STAGESIM_PROFILE_MEETINGS_H
#define STAGESIM_PROFILE_MEETINGS_H

#include "traces/recorded.h"

struct arena;

struct meetings {
    double *latest; /* [operation]: when the last member of its collective came; NaN: the others are not in the trace */
    size_t met, alone; /* collectives with more than one member in the trace, operations without */
    double *lateness;  /* [rank index]: seconds that it comes after the first, the mean over collectives that are met */
    double shifted;    /* largest seconds by which a rank's clock was corrected; 0: none was */
    uint32_t shifted_rank; /* index */
};

/* Aligns clocks first: members of a collective end together, so a rank whose ends differ from the others' by the same
 * time all along has another clock. Its times are changed, and a note says so. Memory from the arena. */
void meetings_find(struct recorded *recorded, struct arena *arena, struct meetings *meetings);

#endif
