/* SPDX-License-Identifier: Apache-2.0 */
/* How many micro-batches' activations each worker of a plan holds at once. */
#ifndef STAGESIM_PLAN_STASH_H
#define STAGESIM_PLAN_STASH_H

#include "schedules/plan/plan.h"

/* Fills peaks[worker] with the most activations held at once, in micro-batches of one worker's share: taken at the
 * start of F, given back at the end of B, or of W where the backward is split; a chunk counts workers/stages, a half
 * 1/2; a stash that moves between partners counts as plan.h says. Slots of a worker follow each other, so its order
 * alone decides. */
void plan_stash_peaks(const struct plan *plan, double *peaks);

#endif
