/* SPDX-License-Identifier: Apache-2.0 */
/* How long blocks of two slots take where stages cost unequally: braids are shorter by half of what a block of either
 * stage's forward and backward is shorter by, of each of the two; weight gradients hide nothing. */
#include "schedules/plan/plan_timing.h"

#include "schedules/schedule.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { STAGES = 8 };

static const double forward[STAGES] = {1, 3, 2, 5, 4, 1.5, 2.5, 3.5}, backward[STAGES] = {2, 7, 4, 8, 9, 3, 6, 5},
                    weight[STAGES] = {0.5, 3, 1, 4, 2, 1.25, 2.25, 1.75},
                    block[STAGES] = {2.75, 9, 5, 12, 10, 4, 8, 7.5};

static double own(const struct slot *slot)
{
    uint32_t stage = slot->stage;
    return slot->kind == SLOT_FORWARD    ? forward[stage]
           : slot->kind == SLOT_WEIGHT   ? weight[stage]
           : slot->kind == SLOT_BACKWARD ? backward[stage] - (slot->split ? weight[stage] : 0)
                                         : 0;
}

static double hides(const struct slot *slot)
{
    return slot->kind == SLOT_WEIGHT ? 0 : (forward[slot->stage] + backward[slot->stage] - block[slot->stage]) / 2;
}

Test(plan_timing, braids_of_unequal_stages)
{
    const struct schedule *schedule = schedule_find("stp");
    struct schedule_request request = schedule_request_default(schedule, 4, 12);
    const struct plan_costs costs = {.forward = forward, .backward = backward, .weight = weight, .block = block};
    struct plan *plan = schedule->plan(&request);
    struct plan_timing timing;
    unsigned braids = 0, unequal = 0;
    cr_assert_eq(plan->stages, STAGES);
    plan_timing_init(&timing, plan, &costs);
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        for (size_t i = 0; i + 1 < plan->orders[worker].count; i++) {
            const struct slot *slots = &plan->orders[worker].slots[i];
            if (slots[1].joined != SLOT_BRAIDED)
                continue;
            struct plan_span span = plan_timing_span(&timing, worker, i);
            double expected = own(&slots[0]) + own(&slots[1]) - hides(&slots[0]) - hides(&slots[1]);
            cr_expect(fabs(span.end - span.start - expected) < 1e-12, "worker %u, slot %zu: %g, by hand %g", worker, i,
                      span.end - span.start, expected);
            braids++;
            unequal += slots[0].stage != slots[1].stage;
        }
    cr_expect(braids > 8 && unequal > 4, "%u braids, %u of two stages", braids, unequal);
    plan_timing_finish(&timing);
    plan_destroy(plan);
}
