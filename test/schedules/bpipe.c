/* SPDX-License-Identifier: Apache-2.0 */
/* BPipe: the order of 1F1B, no worker above ceil((D + 2) / 2) stashes, and transfers that hide. */
#include "test/schedules/harness.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static const uint32_t micro_batches[] = {1, 2, 3, 5, 8, 13, 16, 31, 64, 128};
static const double backwards[] = {2, 1, 3, 0.5, 1.7};

enum { GRID_N = sizeof micro_batches / sizeof micro_batches[0], GRID_T = sizeof backwards / sizeof backwards[0] };

static void compare_orders(const struct plan *plan, const struct plan *base)
{
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        const struct plan_order *order = &plan->orders[worker], *expected = &base->orders[worker];
        size_t met = 0;
        for (size_t i = 0; i < order->count; i++) {
            if (order->slots[i].kind >= SLOT_EVICT)
                continue;
            cr_assert_lt(met, expected->count);
            cr_assert_eq(order->slots[i].kind, expected->slots[met].kind);
            cr_assert_eq(order->slots[i].micro_batch, expected->slots[met++].micro_batch);
        }
        cr_assert_eq(met, expected->count);
    }
}

Test(bpipe, computes_in_the_order_of_1f1b)
{
    for (uint32_t D = 1; D <= 32; D++)
        for (size_t n = 0; n < GRID_N; n++) {
            struct schedule_request request = harness_request("bpipe", D, micro_batches[n], NULL);
            struct plan *plan = harness_plan("bpipe", &request), *base = harness_plan("1f1b", &request);
            compare_orders(plan, base);
            plan_destroy(plan);
            plan_destroy(base);
        }
}

Test(bpipe, balances_memory_and_takes_the_time_of_1f1b)
{
    for (uint32_t D = 1; D <= 32; D++)
        for (size_t n = 0; n < GRID_N; n++)
            for (size_t t = 0; t < GRID_T; t++) {
                struct times times = {1, backwards[t], 0, 0, 0};
                struct outcome moved = harness_outcome("bpipe", D, micro_batches[n], NULL, times);
                struct outcome base = harness_outcome("1f1b", D, micro_batches[n], NULL, times);
                cr_expect(harness_equal(moved.makespan, base.makespan), "D=%u N=%u t_B=%g: %g, 1f1b %g", D,
                          micro_batches[n], backwards[t], moved.makespan, base.makespan);
                cr_expect(harness_equal(moved.ratio, base.ratio));
                cr_expect(harness_equal(moved.span_max, base.span_max));
                double most = ceil((D + 2) / 2.0);
                cr_expect_leq(moved.peak_most, most, "D=%u N=%u: %g stashes", D, micro_batches[n], moved.peak_most);
                if (micro_batches[n] >= D && D >= 2)
                    cr_expect_eq(moved.peak_most, fmin(most, D), "D=%u N=%u: %g stashes", D, micro_batches[n],
                                 moved.peak_most);
            }
}

/* Every message, moving stashes too, takes the latency. */
Test(bpipe, transfers_hide_behind_the_computing)
{
    static const double latencies[] = {0.01, 0.25, 0.5, 1};
    for (uint32_t D = 4; D <= 32; D += 4)
        for (size_t l = 0; l < 4; l++) {
            struct times times = {1, 2, 0, latencies[l], 0};
            double moved = harness_outcome("bpipe", D, 4 * D, NULL, times).makespan;
            double base = harness_outcome("1f1b", D, 4 * D, NULL, times).makespan;
            cr_expect(harness_equal(moved, base), "D=%u latency %g: %g, 1f1b %g", D, latencies[l], moved, base);
        }
}

/* On 8 workers the first moves 4 of 8 micro-batches to the last, worker 1 residues 2, 4, 6 of 7 to worker 6, worker 2
 * moves 2 of 6 to worker 5, worker 3 none. */
Test(bpipe, moves_what_is_too_much)
{
    struct schedule_request request = harness_request("bpipe", 8, 24, NULL);
    struct plan *plan = harness_plan("bpipe", &request);
    static const size_t moving[8] = {12, 10, 8, 0, 0, 0, 0, 0};
    for (uint32_t worker = 0; worker < 8; worker++) {
        size_t evicted = 0, returned = 0;
        for (size_t i = 0; i < plan->orders[worker].count; i++) {
            const struct slot *slot = &plan->orders[worker].slots[i];
            if (slot->kind == SLOT_EVICT && slot->stage == worker) {
                evicted++;
                cr_expect_eq(slot[-1].kind, SLOT_FORWARD);
                cr_expect_eq(slot[-1].micro_batch, slot->micro_batch);
            }
            returned += slot->kind == SLOT_FETCH && slot->stage != worker;
        }
        cr_expect_eq(evicted, moving[worker], "worker %u evicts %zu", worker, evicted);
        cr_expect_eq(returned, moving[7 - worker]);
        cr_expect_eq(plan->partners[worker], moving[worker] ? 7 - worker : UINT32_MAX);
    }
    plan_destroy(plan);
}
