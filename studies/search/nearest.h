/* SPDX-License-Identifier: Apache-2.0 */
/* How far a job's layout is from the best one that a short search finds. */
#ifndef STAGESIM_SEARCH_NEAREST_H
#define STAGESIM_SEARCH_NEAREST_H

#include "analysis/figures/nearest.h"
#include "job/scenario/scenario.h"

struct arena;

/* Where the scenario asks for it (output.nearest; auto: where there is a page, and the user is told things): times its
 * own layout and searches others of as many GPUs, all without contention. Looks at as many as an amount of work allows
 * that does not depend on the machine, so that the outcome does not, either. `layouts` 0 where it is not asked for or
 * cannot be said; nothing is reported. `like`: what was found of the same scenario with another schedule, whose best is
 * the same; NULL: nothing. Memory from the arena. */
struct nearest nearest_find(const struct scenario *scenario, bool quiet, const struct nearest *like,
                            struct arena *arena);

#endif
