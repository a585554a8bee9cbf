/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule of examples/schedule: the checker takes its plans, no worker stashes more than the cap, and with a cap
 * of as many as there are workers it is 1F1B. */
#include "schedules/plan/plan_check.h"
#include "schedules/plan/plan_timing.h"
#include "schedules/schedule.h"

#include <criterion/criterion.h>
#include <math.h>

extern const struct schedule schedule_capped;

/* Time with a forward of 1 and a backward of 2, after checking the plan and its stashes. */
static double makespan(uint32_t workers, uint32_t micro_batches, int64_t cap)
{
    static const double forward[] = {1, 1, 1, 1, 1, 1, 1, 1}, backward[] = {2, 2, 2, 2, 2, 2, 2, 2};
    struct schedule_request request = schedule_request_default(&schedule_capped, workers, micro_batches);
    request.options[0] = cap;
    struct schedule_refusal refusal;
    cr_assert(schedule_fits(&schedule_capped, &request, &refusal), "%s", refusal.text);
    struct plan *plan = schedule_capped.plan(&request);
    cr_assert(plan_check(plan, NULL));
    struct plan_timing timing;
    plan_timing_init(&timing, plan, &(struct plan_costs){.forward = forward, .backward = backward});
    for (uint32_t worker = 0; worker < workers; worker++)
        cr_expect_eq(timing.peak_in_flight[worker], fmin(fmin((double)cap, micro_batches), workers - worker));
    double seconds = timing.makespan;
    plan_timing_finish(&timing);
    plan_destroy(plan);
    return seconds;
}

Test(example_schedule, is_one_forward_one_backward_with_a_high_cap)
{
    for (uint32_t workers = 1; workers <= 8; workers++)
        cr_expect_eq(makespan(workers, 16, workers), (16 + workers - 1) * 3.0);
}

/* With one stash a micro-batch runs through all workers and back before the next one starts. */
Test(example_schedule, is_one_micro_batch_after_the_other_with_a_cap_of_one)
{
    cr_expect_eq(makespan(4, 6, 1), 6 * 4 * 3.0);
}

Test(example_schedule, refuses_a_cap_of_none)
{
    struct schedule_request request = schedule_request_default(&schedule_capped, 4, 4);
    struct schedule_refusal refusal;
    request.options[0] = 0;
    cr_expect(!schedule_fits(&schedule_capped, &request, &refusal));
}
