/* SPDX-License-Identifier: Apache-2.0 */
/* What the checker refuses, and in which words: a good plan of 1F1B with 3 workers is damaged in one place each time.
 */
#include "schedules/plan/plan_check.h"

#include "test/schedules/harness.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct log {
    char text[8192];
};

static bool write_down(void *user, const struct plan_mistake *mistake)
{
    struct log *log = user;
    size_t used = strlen(log->text);
    char at[64] = "", other[64] = "";
    if (mistake->worker != PLAN_NOWHERE)
        snprintf(at, sizeof at, "%u/%zu: ", mistake->worker, mistake->index);
    if (mistake->other_worker != PLAN_NOWHERE)
        snprintf(other, sizeof other, " (%u/%zu)", mistake->other_worker, mistake->other_index);
    snprintf(log->text + used, sizeof log->text - used, "%s%s%s\n", at, mistake->text, other);
    for (size_t i = 0; i < mistake->note_count && mistake->note_count < 4; i++) { /* those of long ones look alike */
        const struct plan_note *note = &mistake->notes[i];
        used = strlen(log->text);
        snprintf(log->text + used, sizeof log->text - used, "  %u/%zu: %s\n", note->worker, note->index, note->text);
    }
    return true;
}

static struct plan *good(const char *name, uint32_t workers, uint32_t micro_batches)
{
    struct schedule_request request = harness_request(name, workers, micro_batches, NULL);
    return harness_plan(name, &request);
}

/* Checks and destroys. */
static void expect(struct plan *plan, const char *expected)
{
    struct log log = {""};
    bool accepted = plan_check(plan, &(struct plan_reporter){write_down, &log});
    cr_expect_eq(accepted, expected[0] == '\0');
    cr_expect_eq(plan_check(plan, NULL), accepted);
    cr_expect_str_eq(log.text, expected);
    plan_destroy(plan);
}

static void erase(struct plan *plan, uint32_t worker, size_t index)
{
    struct plan_order *order = &plan->orders[worker];
    memmove(&order->slots[index], &order->slots[index + 1], (--order->count - index) * sizeof *order->slots);
}

static void swap(struct plan *plan, uint32_t worker, size_t left, size_t right)
{
    struct slot *slots = plan->orders[worker].slots, slot = slots[left];
    slots[left] = slots[right];
    slots[right] = slot;
}

Test(plan_check, accepts_good_plans)
{
    expect(good("1f1b", 3, 2), "");
    expect(good("chimera", 4, 8), "");
}

/* 1f1b, 3 workers, 2 micro-batches: 0: F0 F1 B0 B1; 1: F0 F1 B0 B1; 2: F0 B0 F1 B1 */
Test(plan_check, missing_and_double)
{
    struct plan *plan = good("1f1b", 3, 2);
    erase(plan, 1, 2);
    expect(plan, "1/0: the backward of micro-batch 0, stage 1 is missing; it belongs on worker 1\n");
    plan = good("1f1b", 3, 2);
    plan_append(plan, 2, SLOT_FORWARD, 0, 2, 1);
    expect(plan, "2/4: the forward of micro-batch 1, stage 2 is there more than once (2/2)\n");
    plan = good("1f1b", 3, 2);
    plan->orders[0].slots[1].micro_batch = 0;
    expect(plan, "0/1: the forward of micro-batch 0, stage 0 is there more than once (0/0)\n"
                 "0/3: the forward of micro-batch 1, stage 0 is missing; it belongs on worker 0\n");
    plan = good("1f1b", 3, 2);
    plan->micro_batches = 3;
    expect(plan, "micro-batch 2 is not run at all\n");
}

Test(plan_check, ranges)
{
    struct plan *plan = good("1f1b", 3, 2);
    plan_append(plan, 0, SLOT_FORWARD, 0, 3, 0);
    plan_append(plan, 0, SLOT_FORWARD, 1, 0, 7);
    expect(plan, "0/4: stage 3 does not exist: there are 3, from 0\n"
                 "0/5: pipeline 1 does not exist: there are 1, from 0\n"
                 "0/5: micro-batch 7 does not exist: there are 2, from 0\n");
}

Test(plan_check, placement)
{
    struct plan *plan = good("1f1b", 3, 2);
    swap(plan, 1, 3, 3);
    struct slot *slot = &plan->orders[1].slots[3];
    slot->stage = 2;
    expect(plan, "1/3: stage 2 of pipeline 0 lives on worker 2, but worker 1 runs the backward of micro-batch 1\n"
                 "2/3: the backward of micro-batch 1, stage 2 is there more than once (1/3)\n"
                 "1/1: the backward of micro-batch 1, stage 1 is missing; it belongs on worker 1\n");
    plan = good("1f1b", 3, 2);
    plan->copies[1].worker = UINT32_MAX;
    cr_expect_not(plan_check(plan, NULL));
    plan_destroy(plan);
    plan = good("gems", 2, 2); /* micro-batch 0 down, 1 up */
    plan->orders[0].slots[1].pipeline = 1;
    expect(plan, "0/1: stage 0 of pipeline 1 lives on worker 1, but worker 0 runs the backward of micro-batch 0\n"
                 "0/1: micro-batch 0 runs in pipeline 0 and cannot run in pipeline 1 as well\n");
}

Test(plan_check, halves_and_weights)
{
    struct plan *plan = good("1f1b", 3, 2);
    plan->orders[0].slots[3].part = PART_A;
    expect(plan, "0/1: half b of the backward of micro-batch 1, stage 0 is missing; it belongs on worker 0\n");
    plan = good("1f1b", 3, 2);
    plan->orders[0].slots[0].part = PART_A;
    expect(plan, "0/0: only a backward that is not split can be halved\n");
    plan = good("1f1b", 3, 2);
    plan->orders[0].slots[3].split = 1;
    expect(plan, "0/1: the weight gradient of micro-batch 1, stage 0 is missing; it belongs on worker 0\n");
    plan = good("1f1b", 3, 2);
    plan_append(plan, 0, SLOT_WEIGHT, 0, 0, 0);
    expect(plan, "0/4: micro-batch 0, stage 0 has a weight gradient of its own, but its backward is not split\n");
}

Test(plan_check, blocks)
{
    struct plan *plan = good("1f1b", 3, 2);
    plan->orders[0].slots[0].joined = 1;
    plan->orders[0].slots[3].joined = 1;
    expect(plan, "0/0: the first slot of a worker has none before it to be joined with\n"
                 "0/2: a block is two forwards of one stage, or a whole forward and backward\n");
    plan = good("1f1b", 3, 2);
    plan->orders[0].slots[1].joined = plan->orders[1].slots[1].joined = 1;
    plan->orders[2].slots[2].joined = 1; /* B0 and F1 of the last worker: the forward does not wait for B0 */
    expect(plan, "");
}

Test(plan_check, dead_lock_of_one)
{
    struct plan *plan = good("1f1b", 3, 2);
    swap(plan, 2, 0, 1);
    expect(plan, "2/0: this order can never finish: worker 2 waits for the forward of micro-batch 0 in stage 2, which "
                 "is not before it in "
                 "its own order\n"
                 "  2/1: worker 2 waits for this\n");
    plan = good("1f1b", 1, 1);
    plan->orders[0].slots[1].joined = 1;
    expect(plan, "0/1: this order can never finish: worker 0 waits for the forward of micro-batch 0 in stage 0, which "
                 "is not before it in "
                 "its own order\n"
                 "  0/0: worker 0 waits for this\n");
}

/* The slots that wait are 0/1 and 1/0; those that are waited for stand behind them in each other's orders. */
Test(plan_check, dead_lock_of_two)
{
    struct plan *plan = good("gpipe", 3, 2); /* F0 F1 B0 B1 */
    swap(plan, 0, 1, 2);                     /* 0: F0 B0 F1 B1 */
    swap(plan, 1, 1, 1);
    expect(plan, "0/1: this order can never finish: worker 0 waits for the backward of micro-batch 0 in stage 1 from "
                 "worker 1, which waits "
                 "for the forward of micro-batch 1 in stage 0 from worker 0\n"
                 "  1/2: worker 0 waits for this\n"
                 "  1/1: worker 1 comes no further than here\n"
                 "  0/2: worker 1 waits for this\n");
}

/* A ring of 10 workers with two chunks each, the second before the first on worker 0; only 8 waits are spelled out. */
Test(plan_check, long_dead_lock)
{
    struct plan *plan = good("breadth-first", 10, 1);
    swap(plan, 0, 0, 1);
    expect(plan, "0/0: this order can never finish: worker 0 waits for the forward of micro-batch 0 in stage 9 from "
                 "worker 9, which waits "
                 "for the forward of micro-batch 0 in stage 8 from worker 8, which waits for the forward of "
                 "micro-batch 0 in stage 7 from "
                 "worker 7, which waits for the forward of micro-batch 0 in stage 6 from worker 6, which waits for the "
                 "forward of "
                 "micro-batch 0 in stage 5 from worker 5, which waits for the forward of micro-batch 0 in stage 4 from "
                 "worker 4, which "
                 "waits for the forward of micro-batch 0 in stage 3 from worker 3, which waits for the forward of "
                 "micro-batch 0 in stage 2 "
                 "from worker 2, and so on through 10 workers\n");
}

/* Two workers; worker 0 gives the stash of micro-batch 0 to worker 1 and gets it back. */
static struct plan *with_moves(void)
{
    struct plan *plan = plan_create(2, 2, 1, 1);
    for (uint32_t stage = 0; stage < 2; stage++)
        plan_place(plan, 0, stage, stage);
    plan_pair(plan, 0, 1);
    static const enum slot_kind kinds[] = {SLOT_FORWARD, SLOT_EVICT, SLOT_FETCH, SLOT_BACKWARD};
    for (unsigned i = 0; i < 4; i++)
        plan_append(plan, 0, kinds[i], 0, 0, 0);
    plan_append(plan, 1, SLOT_EVICT, 0, 0, 0);
    plan_append(plan, 1, SLOT_FORWARD, 0, 1, 0);
    plan_append(plan, 1, SLOT_BACKWARD, 0, 1, 0);
    plan_append(plan, 1, SLOT_FETCH, 0, 0, 0);
    return plan;
}

Test(plan_check, moving_stashes)
{
    expect(with_moves(), "");
    struct plan *plan = with_moves();
    erase(plan, 1, 3);
    expect(plan, "0/0: the stash of micro-batch 0, stage 0 moves, but is not returned by the partner\n");
    plan = with_moves();
    swap(plan, 0, 2, 3);
    expect(plan, "0/2: the stash of micro-batch 0, stage 0 is not fetched before its backward\n"
                 "0/3: the stash of micro-batch 0, stage 0 moves after its backward\n");
    plan = with_moves();
    swap(plan, 0, 0, 1);
    expect(plan, "0/0: the stash of micro-batch 0, stage 0 is evicted before its forward\n");
    plan = with_moves();
    swap(plan, 1, 0, 3);
    expect(plan, "1/0: the stash of micro-batch 0, stage 0 is returned but was not taken\n");
    plan = with_moves();
    plan->partners[0] = UINT32_MAX;
    expect(plan, "1/0: stage 0 of pipeline 0 lives on worker 0, but worker 1 runs the eviction of micro-batch 0\n"
                 "1/3: stage 0 of pipeline 0 lives on worker 0, but worker 1 runs the fetch of micro-batch 0\n");
}

/* F 1, B 2, a hop 0.25: F0 0-1, out at 1, there at 1.25; worker 1 F 1.25-2.25, B 2.25-4.25, sends back at 4.25; B0
 * needs the stash and the gradient, both at 4.5. */
Test(plan_check, moving_stashes_take_time)
{
    struct plan *plan = with_moves();
    const double forward[] = {1, 1}, backward[] = {2, 2};
    struct plan_timing timing;
    plan_timing_init(&timing, plan, &(struct plan_costs){.forward = forward, .backward = backward, .latency = 0.25});
    cr_expect_float_eq(plan_timing_span(&timing, 0, 3).start, 4.5, 1e-12);
    cr_expect_float_eq(timing.makespan, 6.5, 1e-12);
    cr_expect_float_eq(timing.peak_in_flight[0], 1, 0);
    cr_expect_float_eq(timing.peak_in_flight[1], 2, 0);
    plan_timing_finish(&timing);
    plan_destroy(plan);
}

/* Two workers, 1f1b, 2 micro-batches, F 1, B 2, a hop 0.1, worked by hand. */
Test(plan_check, times_by_hand)
{
    struct plan *plan = good("1f1b", 2, 2);
    const double forward[] = {1, 1}, backward[] = {2, 2};
    static const struct plan_span expected[2][4] = {{{0, 1}, {1, 2}, {4.2, 6.2}, {7.2, 9.2}},
                                                    {{1.1, 2.1}, {2.1, 4.1}, {4.1, 5.1}, {5.1, 7.1}}};
    struct plan_timing timing;
    plan_timing_init(&timing, plan, &(struct plan_costs){.forward = forward, .backward = backward, .latency = 0.1});
    for (uint32_t worker = 0; worker < 2; worker++)
        for (size_t i = 0; i < 4; i++) {
            cr_expect_float_eq(plan_timing_span(&timing, worker, i).start, expected[worker][i].start, 1e-12);
            cr_expect_float_eq(plan_timing_span(&timing, worker, i).end, expected[worker][i].end, 1e-12);
        }
    cr_expect_float_eq(timing.iteration, 9.2, 1e-12);
    cr_expect_float_eq(timing.ratio, 1 - 6 / 9.2, 1e-12);
    cr_expect_float_eq(timing.over_ideal, 9.2 / 6 - 1, 1e-12);
    cr_expect_float_eq(timing.span_max, 1 - 6 / 9.2, 1e-12);
    cr_expect_float_eq(timing.peak_in_flight[0], 2, 0);
    cr_expect_float_eq(timing.peak_in_flight[1], 1, 0);
    plan_timing_finish(&timing);
    plan_destroy(plan);
}
