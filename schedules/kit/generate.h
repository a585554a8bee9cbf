/* SPDX-License-Identifier: Apache-2.0 */
/* What generators of plans share. */
#ifndef STAGESIM_SCHEDULES_GENERATE_H
#define STAGESIM_SCHEDULES_GENERATE_H

#include "schedules/kit/schedule.h"

/* One stage per worker: the `stages` of schedules without chunks. */
uint32_t stages_one_per_worker(const struct schedule_request *request);

/* A plan of one pipeline with stage s on worker s mod D, all of the request's iterations in it; the caller owns it. */
struct plan *plan_create_looped(const struct schedule_request *request, uint32_t stages);

/* The order of stage `worker` on its worker: `warm` forwards (at most all), then a forward and a backward in turn, then
 * the backwards that are left. */
void order_one_forward_one_backward(struct plan *plan, uint32_t worker, uint32_t warm);

#endif
