/* SPDX-License-Identifier: Apache-2.0 */
/* Beats of a timeline without contention that advance linearly, though no state comes back: every operation a constant
 * later than a beat before, but not all by the same.
 *
 * Without contention an operation starts when the latest of what it waits for ends. As long as that is the same
 * operation, a beat later, as the beat before, its time advances as that one's does, so that two equal steps of all
 * operations of a beat go on for ever unless another wait overtakes. When the first one does follows from how far it is
 * behind now and how much it gains in a beat: up to then every time is known. */
#ifndef STAGESIM_DRIFT_H
#define STAGESIM_DRIFT_H

#include "simulator/program/beats.h"

struct drift {
    uint32_t **begun; /* [entry][stream]: operations before the place from which it is known what follows */
    uint32_t holds;   /* beats behind it for which no wait changes its winner */
};

/* The newest place of the timeline, in which messages do not overtake and collectives take no compute, behind three
 * beats of which the last two advance linearly. False: there is none. Memory from the arena. */
bool drift_find(const struct beats *beats, const struct timeline *timeline, struct arena *arena, struct drift *drift);

/* Into a timeline of the same program, times NaN: those of the operations before the place as they are `more` beats
 * later. An engine goes on from there. */
void drift_resume(const struct drift *drift, const struct beats *beats, const struct timeline *part, uint32_t more,
                  struct timeline *resumed);

/* The whole job's times: up to the place those of `part`, then `more` <= holds beats, then those of `resumed`. */
void drift_fill(const struct drift *drift, const struct beats *beats, const struct timeline *part,
                const struct timeline *resumed, uint32_t more, struct timeline *whole);

#endif
