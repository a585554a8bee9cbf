/* SPDX-License-Identifier: Apache-2.0 */
/* The machines of a training: those that hold a place in the job, those that wait, and those in repair. */
#ifndef STAGESIM_TRAINING_CREW_H
#define STAGESIM_TRAINING_CREW_H

#include "training/plan.h"

struct clocks;
struct crew;

#define NO_PLACE UINT32_MAX

/* Machine i holds place i of the job's, and spares follow. The caller destroys it. */
struct crew *crew_create(const struct training_plan *plan);
void crew_destroy(struct crew *crew);
/* All of them. */
uint32_t crew_machines(const struct crew *crew);
/* The place that a machine holds; NO_PLACE: none. */
uint32_t crew_place(const struct crew *crew, uint32_t machine);

/* The machine leaves its place at `time` for a repair of `repair` seconds, and another one takes it: one that waits,
 * or the next that comes back, or one from the pool after `pool` seconds (INFINITY: there is none), whichever is first.
 * Returns when that one is there, at least `time`. */
double crew_replace(struct crew *crew, uint32_t machine, double time, double repair, double pool,
                    struct clocks *clocks);
/* The most machines that were away at a time. */
uint32_t crew_away_most(const struct crew *crew);

#endif
