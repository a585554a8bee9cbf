/* SPDX-License-Identifier: Apache-2.0 */
/* The iteration time of schedules whose iterations overlap. */
#ifndef STAGESIM_STEADY_H
#define STAGESIM_STEADY_H

#include "schedules/plan/plan_timing.h"
#include "schedules/schedule.h"

/* The interval between the ends of consecutive iterations once two intervals in a row agree to 1e-9, after at most 2 D
 * iterations; the makespan of one iteration where they do not overlap. The request must fit; its iterations do not
 * matter. */
double schedule_steady_iteration(const struct schedule *schedule, const struct schedule_request *request,
                                 const struct plan_costs *costs);

#endif
