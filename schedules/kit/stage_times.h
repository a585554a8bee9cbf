/* SPDX-License-Identifier: Apache-2.0 */
/* The times of the stages that a request is for, as schedules need them that adapt to times. */
#ifndef STAGESIM_STAGE_TIMES_H
#define STAGESIM_STAGE_TIMES_H

#include "schedules/best/instance.h"
#include "schedules/kit/schedule.h"

/* Writes times and latency of a problem with `stages` stages; without `split` there is no weight gradient of its own.
 * Times are the request's costs, or where it has none those of a share, spread evenly; memory is the arena's. */
void stage_times_fill(const struct schedule_request *request, uint32_t stages, bool split,
                      struct instance_request *instance, struct arena *arena);

#endif
