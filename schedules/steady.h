/* SPDX-License-Identifier: Apache-2.0 */
/* The iteration time of schedules whose iterations overlap. */
#ifndef STAGESIM_STEADY_H
#define STAGESIM_STEADY_H

#include "schedules/plan/plan_timing.h"
#include "schedules/schedule.h"

/* The mean time of an iteration over the cycle after which the workers are in the same state again
 * (base/numbers/cycle.h); where no state comes back in as many iterations as are tried, the mean over the second half
 * of them; the makespan of one iteration where they do not overlap. The request must fit, and ask for one iteration;
 * `plan` is its plan, and `timing` its times with these costs. */
double schedule_steady_iteration(const struct schedule *schedule, const struct schedule_request *request,
                                 const struct plan_costs *costs, const struct plan *plan,
                                 const struct plan_timing *timing);

#endif
