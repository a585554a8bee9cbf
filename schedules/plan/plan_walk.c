/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/plan/plan_walk.h"

#include "base/arena.h"
#include "schedules/plan/plan_weights.h"

#include <stdlib.h>
#include <string.h>

/* The bits of a backward's part. */
static uint16_t backward_mask(const struct slot *slot)
{
    return slot->part == PART_WHOLE ? DONE_BACKWARD : slot->part == PART_A ? 2 : 4;
}

uint16_t plan_mask(const struct plan *plan, uint32_t worker, const struct slot *slot)
{
    bool own = plan_worker(plan, slot->pipeline, slot->stage) == worker;
    switch ((enum slot_kind)slot->kind) {
    case SLOT_FORWARD:
        return DONE_FORWARD;
    case SLOT_BACKWARD:
        return backward_mask(slot);
    case SLOT_WEIGHT:
        return DONE_WEIGHT;
    case SLOT_EVICT:
        return own ? DONE_EVICT : DONE_TAKE;
    case SLOT_FETCH:
        return own ? DONE_FETCH : DONE_RETURN;
    case SLOT_RECOMPUTE: /* its place in its own order is all that matters */
        break;
    case SLOT_PASS_FORWARD:
        return DONE_PASS_FORWARD;
    case SLOT_PASS_BACKWARD:
        return DONE_PASS_BACKWARD;
    case SLOT_PASS_GRADIENT:
        return DONE_PASS_GRADIENT;
    case SLOT_OUTPUT:
        return DONE_OUTPUT;
    case SLOT_OUTPUT_GRADIENT:
        return DONE_OUTPUT_GRADIENT;
    }
    return 0;
}

static struct plan_input input(const struct plan *plan, const struct slot *slot, uint32_t stage, uint16_t mask)
{
    return (struct plan_input){.stage = stage,
                               .worker = plan_worker(plan, slot->pipeline, stage),
                               .micro_batch = slot->micro_batch,
                               .mask = mask};
}

/* The same bits in all stages, the last one first. */
static struct plan_input input_of_all(const struct plan *plan, const struct slot *slot, uint16_t mask)
{
    struct plan_input all = input(plan, slot, plan->stages - 1, mask);
    all.all = true;
    return all;
}

/* Whether a slot is the backward that the shares of the output layer give its gradient. */
static bool takes_output(const struct plan *plan, const struct slot *slot)
{
    return plan->barriers && slot->kind == SLOT_BACKWARD && slot->stage + 1u == plan->stages;
}

/* What was handed on for a micro-batch of the slot's stage, if it was; returns how many inputs that is. */
static unsigned passed(const struct plan *plan, const struct slot *slot, enum slot_kind kind, uint32_t micro_batch,
                       struct plan_input *input)
{
    if (!plan_passes(plan, kind, slot->stage, micro_batch))
        return 0;
    *input = (struct plan_input){.stage = slot->stage,
                                 .worker = plan_pass_sender(plan, kind, slot->stage, micro_batch),
                                 .micro_batch = micro_batch,
                                 .mask = kind == SLOT_PASS_FORWARD    ? DONE_PASS_FORWARD
                                         : kind == SLOT_PASS_BACKWARD ? DONE_PASS_BACKWARD
                                                                      : DONE_PASS_GRADIENT};
    return 1;
}

/* What a slot waits for because weights travel. */
static unsigned travelling_inputs(const struct plan *plan, const struct slot *slot, struct plan_input *inputs)
{
    unsigned count = 0;
    uint32_t micro_batch = slot->micro_batch;
    switch ((enum slot_kind)slot->kind) {
    case SLOT_FORWARD:
        return passed(plan, slot, SLOT_PASS_FORWARD, micro_batch, inputs);
    case SLOT_BACKWARD:
        count = passed(plan, slot, SLOT_PASS_BACKWARD, micro_batch, inputs);
        return count + (micro_batch ? passed(plan, slot, SLOT_PASS_GRADIENT, micro_batch - 1, inputs + count) : 0);
    case SLOT_PASS_FORWARD:
    case SLOT_PASS_BACKWARD: /* what was handed on for the micro-batch before is handed on again */
        return micro_batch ? passed(plan, slot, slot->kind, micro_batch - 1, inputs) : 0;
    case SLOT_PASS_GRADIENT:
        inputs[0] = input(plan, slot, slot->stage, DONE_BACKWARD);
        return 1;
    default:
        return 0;
    }
}

unsigned plan_inputs(const struct plan *plan, const struct slot *slot, uint16_t done,
                     struct plan_input inputs[PLAN_INPUTS_MAX])
{
    unsigned count = 0;
    switch ((enum slot_kind)slot->kind) {
    case SLOT_FORWARD:
        if (slot->stage > 0)
            inputs[count++] = input(plan, slot, slot->stage - 1u, DONE_FORWARD);
        break;
    case SLOT_BACKWARD:
        inputs[count++] = input(plan, slot, slot->stage, DONE_FORWARD);
        if (slot->stage + 1u < plan->stages)
            inputs[count++] = input(plan, slot, slot->stage + 1u, backward_mask(slot));
        if (takes_output(plan, slot))
            inputs[count++] = input_of_all(plan, slot, plan->barriers == 1 ? DONE_OUTPUT : DONE_OUTPUT_GRADIENT);
        if (done & DONE_EVICT) {
            inputs[count] = input(plan, slot, slot->stage, DONE_RETURN);
            if (plan_offloads(plan, inputs[count].worker))
                inputs[count].mask = DONE_FETCH;
            inputs[count].worker = plan->partners[inputs[count].worker];
            count++;
        }
        break;
    case SLOT_WEIGHT:
        inputs[count++] = input(plan, slot, slot->stage, DONE_BACKWARD);
        break;
    case SLOT_EVICT:
    case SLOT_RECOMPUTE:
    case SLOT_FETCH: /* move beside the computing: the checker sees to it that they stand between their F and B */
    case SLOT_PASS_FORWARD:
    case SLOT_PASS_BACKWARD:
    case SLOT_PASS_GRADIENT:
        break;
    case SLOT_OUTPUT:
        inputs[count++] = input(plan, slot, plan->stages - 1, DONE_FORWARD);
        break;
    case SLOT_OUTPUT_GRADIENT:
        inputs[count++] = input_of_all(plan, slot, DONE_OUTPUT);
        break;
    }
    if (plan_travels(plan))
        count += travelling_inputs(plan, slot, inputs + count);
    return count;
}

size_t plan_block_end(const struct plan_order *order, size_t first)
{
    size_t end = first + 1;
    while (end < order->count && order->slots[end].joined)
        end++;
    return end;
}

static uint16_t *done_of(const struct plan_walk *walk, const struct plan *plan, uint32_t micro_batch, uint32_t stage)
{
    return &walk->done[(size_t)micro_batch * plan->stages + stage];
}

uint32_t plan_walk_missing(const struct plan_walk *walk, const struct plan *plan, const struct plan_input *input)
{
    for (uint32_t stage = input->stage; stage <= input->stage; stage--) {
        if (input->mask & ~*done_of(walk, plan, input->micro_batch, stage))
            return stage;
        if (!input->all || !stage)
            break;
    }
    return UINT32_MAX;
}

/* plan_inputs says what a slot waits for; the two kinds that all plans are full of are looked at straight away. */
static bool ready(const struct plan_walk *walk, const struct plan *plan, const struct slot *slot)
{
    const uint16_t *done = done_of(walk, plan, slot->micro_batch, slot->stage); /* stages are neighbours */
    if (slot->kind == SLOT_FORWARD && !plan_travels(plan))
        return slot->stage == 0 || done[-1] & DONE_FORWARD;
    if (slot->kind == SLOT_BACKWARD && !(*done & DONE_EVICT) && !plan_travels(plan) && !takes_output(plan, slot))
        return *done & DONE_FORWARD && (slot->stage + 1u == plan->stages || !(backward_mask(slot) & ~done[1]));
    struct plan_input inputs[PLAN_INPUTS_MAX];
    unsigned count = plan_inputs(plan, slot, *done, inputs);
    for (unsigned i = 0; i < count; i++)
        if (plan_walk_missing(walk, plan, &inputs[i]) != UINT32_MAX)
            return false;
    return true;
}

/* Workers that may be able to go on. */
struct agenda {
    uint32_t *workers;
    bool *listed;
    size_t count;
};

static void list(struct agenda *agenda, uint32_t worker)
{
    if (agenda->listed[worker])
        return;
    agenda->listed[worker] = true;
    agenda->workers[agenda->count++] = worker;
}

/* Lists who may wait for the last stage's forward, or for all shares of the output layer. */
static void list_output(const struct plan_walk *walk, const struct plan *plan, const struct slot *slot,
                        struct agenda *agenda)
{
    bool forward = slot->kind == SLOT_FORWARD && slot->stage + 1u == plan->stages;
    struct plan_input all = input_of_all(plan, slot, slot->kind == SLOT_OUTPUT ? DONE_OUTPUT : DONE_OUTPUT_GRADIENT);
    if (!forward && (!slot_is_output(slot) || plan_walk_missing(walk, plan, &all) != UINT32_MAX))
        return;
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        list(agenda, worker);
}

/* Marks a slot as done and lists the worker that may wait for it. */
static void complete(const struct plan_walk *walk, const struct plan *plan, uint32_t worker, const struct slot *slot,
                     struct agenda *agenda)
{
    *done_of(walk, plan, slot->micro_batch, slot->stage) |= plan_mask(plan, worker, slot);
    if (slot->kind == SLOT_FORWARD && slot->stage + 1u < plan->stages)
        list(agenda, plan_worker(plan, slot->pipeline, slot->stage + 1u));
    if (slot->kind == SLOT_BACKWARD && slot->stage > 0)
        list(agenda, plan_worker(plan, slot->pipeline, slot->stage - 1u));
    if (slot_hands_on(slot))
        list(agenda, plan_pass_target(plan, slot->kind, slot->stage, slot->micro_batch));
    if (plan->barriers)
        list_output(walk, plan, slot, agenda);
    if (slot->kind == SLOT_FETCH)
        list(agenda, plan_worker(plan, slot->pipeline, slot->stage));
}

/* Runs a worker's blocks until one has to wait. */
static void advance(struct plan_walk *walk, const struct plan *plan, uint32_t worker, struct agenda *agenda,
                    plan_visit *visit, void *user)
{
    const struct plan_order *order = &plan->orders[worker];
    while (walk->next[worker] < order->count) {
        size_t first = walk->next[worker], end = plan_block_end(order, first);
        for (size_t i = first; i < end; i++)
            if (!ready(walk, plan, &order->slots[i]))
                return;
        if (visit)
            visit(user, worker, first, end);
        walk->next[worker] = end;
        for (size_t i = first; i < end; i++)
            complete(walk, plan, worker, &order->slots[i], agenda);
    }
}

bool plan_walk_run(struct plan_walk *walk, const struct plan *plan, plan_visit *visit, void *user)
{
    size_t capacity = 0;
    *walk = (struct plan_walk){0};
    size_t cells = (size_t)plan->micro_batches * plan->stages;
    walk->done = array_grow(NULL, &capacity, cells, sizeof *walk->done);
    memset(walk->done, 0, capacity * sizeof *walk->done);
    struct agenda agenda = {0};
    walk->next = array_grow(NULL, &(size_t){0}, plan->workers, sizeof *walk->next);
    agenda.workers = array_grow(NULL, &(size_t){0}, plan->workers, sizeof *agenda.workers);
    agenda.listed = array_grow(NULL, &(size_t){0}, plan->workers, sizeof *agenda.listed);
    for (uint32_t worker = plan->workers; worker-- > 0;) {
        walk->next[worker] = 0;
        agenda.listed[worker] = false;
        list(&agenda, worker);
    }
    while (agenda.count > 0) {
        uint32_t worker = agenda.workers[--agenda.count];
        agenda.listed[worker] = false;
        advance(walk, plan, worker, &agenda, visit, user);
    }
    free(agenda.workers);
    free(agenda.listed);
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        if (walk->next[worker] < plan->orders[worker].count)
            return false;
    return true;
}

void plan_walk_finish(struct plan_walk *walk)
{
    free(walk->done);
    free(walk->next);
    *walk = (struct plan_walk){0};
}
