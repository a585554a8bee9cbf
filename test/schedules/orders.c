/* SPDX-License-Identifier: Apache-2.0 */
/* Orders of workers as their papers draw them. */
#include "test/schedules/harness.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* "F0 F1 B0a": letters, micro-batches, halves; "+" before a slot that is joined. */
static void expect_order(const struct plan *plan, uint32_t worker, const char *expected)
{
    char text[1024] = "";
    for (size_t i = 0; i < plan->orders[worker].count; i++) {
        const struct slot *slot = &plan->orders[worker].slots[i];
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s%c%u%s", i ? " " : "", slot->joined ? "+" : "",
                 slot_letter(slot->kind), slot->micro_batch,
                 slot->part == PART_WHOLE ? ""
                 : slot->part == PART_A   ? "a"
                                          : "b");
    }
    cr_expect_str_eq(text, expected);
}

/* Micro-batch numbers alone, as the figures print them. */
static void expect_numbers(const struct plan *plan, uint32_t worker, const char *expected)
{
    char text[1024] = "";
    for (size_t i = 0; i < plan->orders[worker].count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%u", i ? " " : "", plan->orders[worker].slots[i].micro_batch);
    }
    cr_expect_str_eq(text, expected);
}

static struct plan *plan_of(const char *name, uint32_t workers, uint32_t micro_batches, const char *option)
{
    struct schedule_request request =
        harness_request(name, workers, micro_batches, (const char *const[]){option, NULL});
    return harness_plan(name, &request);
}

/* Chimera, Figure 3, and the gradients that are ready early. */
Test(orders, chimera_figure_3)
{
    struct plan *plan = plan_of("chimera", 4, 4, "sync=eager-opt");
    expect_order(plan, 0, "F0 F1 F2 B2 F3 B3 B0 B1");
    expect_order(plan, 1, "F0 F2 F1 F3 B2 B0 B3 B1");
    expect_order(plan, 2, "F2 F0 F3 F1 B0 B2 B1 B3");
    expect_order(plan, 3, "F2 F3 F0 B0 F1 B1 B2 B3");
    for (uint32_t stage = 0; stage < 4; stage++)
        for (uint32_t pipeline = 0; pipeline < 2; pipeline++) /* only the last stage is ready before a bubble */
            cr_expect_eq(plan->copies[pipeline * 4 + stage].sync, stage == 3 ? PLAN_SYNC_EAGER : PLAN_SYNC_AFTER,
                         "stage %u", stage);
    plan_destroy(plan);
}

/* Chimera, Figure 7(b): direct concatenation. */
Test(orders, chimera_figure_7b)
{
    struct plan *plan = plan_of("chimera", 4, 8, NULL);
    expect_numbers(plan, 0, "0 1 2 2 3 3 0 4 1 5 6 6 7 7 4 5");
    plan_destroy(plan);
}

/* Chimera, Figure 8: two pairs of pipelines. */
Test(orders, chimera_figure_8)
{
    struct plan *plan = plan_of("chimera", 8, 8, "pairs=2");
    expect_numbers(plan, 0, "0 1 6 2 7 3 4 4 5 5 2 6 3 7 0 1");
    static const uint32_t first[] = {0, 7, 4, 3}; /* workers of stage 0 of down 0, up 0, down 1, up 1 */
    for (uint32_t pipeline = 0; pipeline < 4; pipeline++)
        cr_expect_eq(plan_worker(plan, pipeline, 0), first[pipeline]);
    plan_destroy(plan);
}

Test(orders, chimera_doubling_and_halving)
{
    struct plan *plan = plan_of("chimera", 4, 8, "concatenation=doubling");
    expect_order(plan, 0, "F0 +F1 F2 +F3 F4 +F5 B4 F6 +F7 B5 B0 B6 B1 B7 B2 B3");
    plan_destroy(plan);
    plan = plan_of("chimera", 4, 8, "concatenation=doubling-split");
    expect_order(plan, 0, "F0 F1 F2 F3 F4 F5 B4 F6 F7 B5 B0 B6 B1 B7 B2 B3");
    plan_destroy(plan);
    plan = plan_of("chimera", 4, 4, "concatenation=halving");
    expect_order(plan, 0, "F0 F1 F2 B2a F3 B2b B0a B3a B0b B3b B1a B1b");
    plan_destroy(plan);
}

Test(orders, lines)
{
    struct plan *plan = plan_of("gpipe", 3, 4, NULL);
    expect_order(plan, 1, "F0 F1 F2 F3 B0 B1 B2 B3");
    plan_destroy(plan);
    plan = plan_of("1f1b", 4, 6, NULL);
    expect_order(plan, 0, "F0 F1 F2 F3 B0 F4 B1 F5 B2 B3 B4 B5");
    expect_order(plan, 3, "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5");
    plan_destroy(plan);
    plan = plan_of("1f1b", 4, 2, NULL);
    expect_order(plan, 0, "F0 F1 B0 B1");
    plan_destroy(plan);
    plan = plan_of("eager-1f1b", 3, 8, NULL);
    expect_order(plan, 0, "F0 F1 F2 F3 F4 B0 F5 B1 F6 B2 F7 B3 B4 B5 B6 B7");
    expect_order(plan, 1, "F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 F6 B4 F7 B5 B6 B7");
    plan_destroy(plan);
    plan = plan_of("gems", 4, 3, NULL);
    expect_order(plan, 1, "F0 B0 F1 B1 F2 B2");
    cr_expect_eq(plan->orders[1].slots[2].stage, 2);
    plan_destroy(plan);
}

/* Weight versions and staleness of the asynchronous schedules. */
Test(orders, versions)
{
    struct plan *plan = plan_of("pipedream", 4, 8, NULL), *two = plan_of("pipedream-2bw", 4, 8, NULL);
    cr_expect(plan->asynchronous && plan->steps_each && two->asynchronous && !two->steps_each);
    for (uint32_t worker = 0; worker < 4; worker++) {
        cr_expect_eq(plan->weight_versions[worker], 4 - worker);
        cr_expect_eq(plan->staleness[worker], 3 - worker);
        cr_expect_eq(two->weight_versions[worker], 2);
        cr_expect_eq(two->staleness[worker], 1);
    }
    plan_destroy(plan);
    plan_destroy(two);
}

/* Megatron-LM, Figure 4 (bottom): 4 workers, 8 micro-batches, 2 chunks. */
Test(orders, interleaved)
{
    struct plan *plan = plan_of("interleaved", 4, 8, NULL);
    expect_order(plan, 0,
                 "F0 F1 F2 F3 F0 F1 F2 F3 F4 F5 F6 B0 F7 B1 F4 B2 F5 B3 F6 B0 F7 B1 B2 B3 B4 B5 B6 B7 B4 B5 B6 B7");
    expect_order(plan, 3,
                 "F0 F1 F2 F3 F0 B0 F1 B1 F2 B2 F3 B3 F4 B0 F5 B1 F6 B2 F7 B3 F4 B4 F5 B5 F6 B6 F7 B7 B4 B5 B6 B7");
    cr_expect_eq(plan->orders[0].slots[4].stage, 4);
    cr_expect_eq(plan->orders[0].slots[11].stage, 4);
    plan_destroy(plan);
    plan = plan_of("breadth-first", 2, 2, NULL);
    expect_order(plan, 0, "F0 F1 F0 F1 B0 B1 B0 B1");
    plan_destroy(plan);
    plan = plan_of("breadth-first", 2, 2, "backwards=lifo");
    expect_order(plan, 0, "F0 F1 F0 F1 B1 B0 B1 B0");
    plan_destroy(plan);
    plan = plan_of("interleaved", 4, 3, NULL);
    expect_order(plan, 0, "F0 F1 F2 F0 F1 F2 B0 B1 B2 B0 B1 B2");
    plan_destroy(plan);
}

static void expect_refusal(const char *name, uint32_t workers, uint32_t micro_batches, const char *option,
                           const char *expected)
{
    struct schedule_request request =
        harness_request(name, workers, micro_batches, (const char *const[]){option, NULL});
    struct schedule_refusal refusal = {.text = "accepted"};
    schedule_fits(schedule_find(name), &request, &refusal);
    cr_expect_str_eq(refusal.text, expected);
}

Test(orders, refusals)
{
    expect_refusal("chimera", 5, 8, NULL,
                   "chimera runs pipelines in both directions and needs an even number of workers, not 5");
    expect_refusal("chimera", 4, 4, "concatenation=doubling",
                   "chimera with doubling concatenation needs a multiple of 8 micro-batches, not 4");
    expect_refusal("chimera", 12, 12, "pairs=4",
                   "chimera needs pairs to divide half the workers (6), which 4 does not");
    expect_refusal("chimera", 4, 4, "pairs=0", "chimera takes pairs from 1 to 32767, not 0");
    expect_refusal(
        "interleaved", 8, 21, NULL,
        "interleaved needs micro-batches that can be cut into equal groups of 8 or a few more, not 21, or the "
        "option group: 11, 12, 13, 21");
    expect_refusal("interleaved", 8, 12, "group=8",
                   "interleaved cannot run 12 micro-batches on 8 workers in groups of 8; possible groups: 12");
    expect_refusal("interleaved", 4, 3, "group=2",
                   "interleaved cannot run 3 micro-batches on 4 workers in groups of 2; possible groups: 3");
    expect_refusal("interleaved-zb", 4, 3, "group=4",
                   "interleaved-zb cannot run 3 micro-batches on 4 workers in groups of 4; possible groups: 3");
    expect_refusal("interleaved", 60000, 60000, NULL,
                   "interleaved would cut the model into 120000 stages; at most 65535 are possible");
    expect_refusal("stp", 4, 10, NULL, "stp on 4 workers needs at least 11 micro-batches, not 10");
    expect_refusal("group-interleaved", 4, 4, "group=5",
                   "group-interleaved takes groups of 1 to 4 micro-batches, as many as workers, not 5");
    expect_refusal("1f1b", 0, 4, NULL, "1f1b takes 1 to 65535 workers, not 0");
    expect_refusal("1f1b", 4, 0, NULL, "1f1b needs at least 1 micro-batch");
    expect_refusal("1f1b", 65535, 4000000000u, NULL,
                   "4000000000 micro-batches through 65535 stages are too many to plan; at most 256 are possible");
}
