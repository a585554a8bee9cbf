/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of one schedule for different numbers of micro-batches. */
#ifndef STAGESIM_PLAN_REPEATS_H
#define STAGESIM_PLAN_REPEATS_H

#include "schedules/plan/plan.h"

/* The smallest number of micro-batches with which the orders of all workers seem to repeat, in their middle; counted in
 * one direction of a pipeline. 0: there is none. */
uint32_t plan_step(const struct plan *plan);

/* What a worker's order has more of: slots of a beat, of which one stands before the slot number `place` in both
 * orders, and the others of the longer one behind it. */
struct order_beat {
    size_t length, place;
};

/* Whether `whole` is `part` but for beats that repeat in the middle of every worker's order, `more` of them. Fills
 * beats[worker], unless it is NULL. */
bool plan_extends(const struct plan *whole, const struct plan *part, uint32_t more, struct order_beat *beats);

#endif
