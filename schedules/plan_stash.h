/* SPDX-License-Identifier: Apache-2.0 */
/* How many micro-batches' activations each worker of a plan holds at once. */
#ifndef STAGESIM_PLAN_STASH_H
#define STAGESIM_PLAN_STASH_H

#include "schedules/plan_timing.h"

/* Fills peaks[worker] as plan_timing.peak_in_flight says. `timing` matters only for plans that evict stashes: there it says
 * in which order the two partners' memory changes. */
void plan_stash_peaks(const struct plan *plan, const struct plan_timing *timing, double *peaks);

#endif
