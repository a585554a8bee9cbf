/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of one schedule for different numbers of micro-batches. */
#ifndef STAGESIM_PLAN_REPEATS_H
#define STAGESIM_PLAN_REPEATS_H

#include "schedules/plan/plan.h"

/* The smallest number of micro-batches with which the orders of all workers seem to repeat, in their middle; counted in
 * one direction of a pipeline. 0: there is none. */
uint32_t plan_step(const struct plan *plan);

/* Whether `whole` is `part` but for beats that repeat in the middle of every worker's order, `more` of them. */
bool plan_extends(const struct plan *whole, const struct plan *part, uint32_t more);

#endif
