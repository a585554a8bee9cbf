/* SPDX-License-Identifier: Apache-2.0 */
/* ZB-V: every worker holds two half stages, stage r and stage 2D - 1 - r, so that a micro-batch runs down the workers
 * and comes back up, and the last worker starts backwards at once. With N >= 2D - 1 and equal passes no worker waits
 * between its first and last operation, at a stash of D micro-batches. With fewer micro-batches the order for 2D - 1 is
 * run with the missing ones left out. */
#include "schedules/kit/zero_bubble.h"
#include "schedules/split/split.h"

/* Appends the next passes of a worker; micro-batches of either chunk come in order. */
struct cursor {
    struct plan *plan;
    uint32_t worker, first, count; /* the iteration's micro-batches, of which there may be fewer than the order has */
    uint32_t done[3][2];           /* [pass][chunk]: micro-batches passed so far */
};

static void pass(struct cursor *cursor, enum slot_kind kind, uint32_t chunk)
{
    uint32_t micro_batch = cursor->done[kind][chunk]++;
    uint32_t stage = chunk ? cursor->plan->stages - 1 - cursor->worker : cursor->worker;
    if (micro_batch < cursor->count)
        plan_append(cursor->plan, cursor->worker, kind, 0, stage, cursor->first + micro_batch)->split =
            kind == SLOT_BACKWARD;
}

static void backward_and_weight(struct cursor *cursor, uint32_t chunk)
{
    pass(cursor, SLOT_BACKWARD, chunk);
    pass(cursor, SLOT_WEIGHT, chunk);
}

static void fill(struct cursor *cursor)
{
    uint32_t below = cursor->plan->workers - cursor->worker;
    for (uint32_t i = 0; i < 2 * below - 1; i++)
        pass(cursor, SLOT_FORWARD, 0);
    for (uint32_t i = 0; i < cursor->worker; i++) {
        pass(cursor, SLOT_FORWARD, 1);
        pass(cursor, SLOT_FORWARD, 0);
    }
    for (uint32_t i = 0; i < below; i++) {
        pass(cursor, SLOT_FORWARD, 1);
        backward_and_weight(cursor, 1);
    }
}

static void drain(struct cursor *cursor, uint32_t length)
{
    for (uint32_t i = 0; i < cursor->worker; i++) {
        pass(cursor, SLOT_BACKWARD, 0);
        pass(cursor, SLOT_BACKWARD, 1);
    }
    for (uint32_t i = cursor->worker; i < cursor->plan->workers; i++)
        backward_and_weight(cursor, 0);
    for (uint32_t chunk = 2; chunk-- > 0;)
        while (cursor->done[SLOT_WEIGHT][chunk] < length)
            pass(cursor, SLOT_WEIGHT, chunk);
}

static void order(struct plan *plan, uint32_t worker, uint32_t first, uint32_t count)
{
    struct cursor cursor = {.plan = plan, .worker = worker, .first = first, .count = count};
    uint32_t length = count < 2 * plan->workers - 1 ? 2 * plan->workers - 1 : count;
    fill(&cursor);
    while (cursor.done[SLOT_FORWARD][1] < length) {
        if (cursor.done[SLOT_FORWARD][0] < length)
            pass(&cursor, SLOT_FORWARD, 0);
        backward_and_weight(&cursor, 0);
        pass(&cursor, SLOT_FORWARD, 1);
        backward_and_weight(&cursor, 1);
    }
    drain(&cursor, length);
}

static struct plan *generate(const struct schedule_request *request)
{
    struct schedule_request spelled = optimizer_request(request, 0);
    struct plan *plan = plan_create_waves(&spelled, 2 * spelled.workers);
    optimizer_apply(request, 0, plan);
    for (uint32_t worker = 0; worker < spelled.workers; worker++) {
        plan_expect(plan, worker, (size_t)6 * spelled.micro_batches * spelled.iterations);
        for (uint32_t iteration = 0; iteration < spelled.iterations; iteration++)
            order(plan, worker, iteration * spelled.micro_batches, spelled.micro_batches);
    }
    return plan;
}

const struct schedule schedule_zb_v = {
    .name = "zb-v",
    .summary = "split backward, two half stages a worker in a V: no bubble for equal passes, at the memory of 1F1B",
    .when = "forward and both halves of the backward take about the same time",
    .source = "Qi et al., Zero Bubble Pipeline Parallelism, arXiv 2401.10241; Qi et al., Pipeline Parallelism with "
              "Controllable Memory, "
              "NeurIPS 2024, arXiv 2405.15362",
    .crosses = true,
    .split_backward = true,
    .plain = true,
    .options = optimizer_options,
    .stages = stages_two_per_worker,
    .plan = generate,
};
