/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/steady.h"

#include "schedules/schedules.h"

#include <math.h>

static double interval(const struct plan_timing *timing, uint32_t iteration)
{
    return timing->iteration_ends[iteration] - timing->iteration_ends[iteration - 1];
}

/* The interval after the first two that agree. False when there is none among the iterations. */
static bool find_steady(const struct plan_timing *timing, uint32_t iterations, double *steady)
{
    for (uint32_t i = 2; i + 1 < iterations; i++) {
        double before = interval(timing, i - 1), now = interval(timing, i);
        *steady = interval(timing, i + 1);
        if (fabs(now - before) <= 1e-9 * fmax(fabs(now), fabs(before)))
            return true;
    }
    return false;
}

double schedule_steady_iteration(const struct schedule *schedule, const struct schedule_request *request,
                                 const struct plan_costs *costs)
{
    uint64_t possible = (uint64_t)SCHEDULE_FORWARDS_MAX / schedule->stages(request) / request->micro_batches;
    uint64_t most = 2 * (uint64_t)request->workers + 2;
    most = most < possible ? most : possible;
    struct schedule_request several = *request;
    several.iterations = schedule->crosses && most > 1 ? 4 : 1;
    for (double steady;;) {
        if (several.iterations > most)
            several.iterations = (uint32_t)most;
        struct plan *plan = schedule->plan(&several);
        struct plan_timing timing;
        plan_timing_init(&timing, plan, costs);
        bool found = find_steady(&timing, plan->iterations, &steady);
        bool last = plan->iterations == 1 || several.iterations == most;
        if (!found)
            steady = timing.iteration;
        plan_timing_finish(&timing);
        plan_destroy(plan);
        if (found || last)
            return steady;
        several.iterations *= 2;
    }
}
