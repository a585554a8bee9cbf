/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that cut the sequence of a micro-batch into slices. A "micro-batch" of such a plan is a slice of one: slice q
 * of n of micro-batch m has the number m n + q. With causal attention a slice attends to those before it, so it takes
 * longer the later it is. Its forward waits for that of the slice before in the same stage, whose keys and values it
 * needs; its backward for that of the slice after. */
#ifndef STAGESIM_PLAN_SLICES_H
#define STAGESIM_PLAN_SLICES_H

#include "schedules/plan/plan.h"

/* Slices of equal length; the plan's micro-batches are a multiple. */
void plan_cut(struct plan *plan, uint32_t slices);
/* Where the slices end, as shares of the sequence, where a share `attention` of a forward's time is causal attention
 * and all slices are to take the same time. Ends are multiples of `grain` (0: any), from the last slice back the
 * lengths rounded down; the first one gets the rest. */
void plan_cut_balanced(struct plan *plan, double attention, double grain);

/* The share of a micro-batch's sequence in a slice; 1 where nothing is cut. */
double plan_slice_length(const struct plan *plan, uint32_t micro_batch);
/* The share of a micro-batch's time of which a share `attention` is causal attention. */
double plan_slice_work(const struct plan *plan, uint32_t micro_batch, double attention);

#endif
