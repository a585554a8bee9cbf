/* SPDX-License-Identifier: Apache-2.0 */
/* What the schedules share that split the backward into input gradient (B) and weight gradient (W). */
#ifndef STAGESIM_ZERO_BUBBLE_H
#define STAGESIM_ZERO_BUBBLE_H

#include "schedules/kit/generate.h"

/* The option `optimizer`, for schedules whose workers end an iteration at different times: with post-validation
 * (the default) a worker steps on its own gradients and goes on with the next iteration, and the global check (norm,
 * overflow) comes after the fact; blocking waits for an all-reduce over all workers before any step, so that iterations
 * do not overlap. */
#define OPTIMIZER_OPTION                                                                                               \
    {                                                                                                                  \
        .key = "optimizer", .names = optimizer_names, .doc = "what a worker's step waits for: nothing, or all workers" \
    }
extern const char *const optimizer_names[];
/* That option alone. */
extern const struct schedule_option optimizer_options[];

/* The request as `optimizer`, the option of that number, lets the plan spell it out: one iteration when it blocks. */
struct schedule_request optimizer_request(const struct schedule_request *request, uint32_t option);
/* Writes the kind of step into the plan. */
void optimizer_apply(const struct schedule_request *request, uint32_t option, struct plan *plan);

/* The stages of schedules with two chunks a worker: 2 D. */
uint32_t stages_two_per_worker(const struct schedule_request *request);

/* A plan of one pipeline that runs to and fro over the workers: with k = s div D and r = s mod D, stage s is on worker
 * r when k is even and on D - 1 - r when k is odd. Two runs make the V of ZB-V. All of the request's iterations are in
 * it; the caller owns it. */
struct plan *plan_create_waves(const struct schedule_request *request, uint32_t stages);

/* Appends an input-gradient backward whose weight gradient comes in a later slot. */
void append_split_backward(struct plan *plan, uint32_t worker, uint32_t stage, uint32_t micro_batch);

#endif
