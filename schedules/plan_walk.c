/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/plan_walk.h"

#include "simulator/arena.h"

#include <stdlib.h>
#include <string.h>

static uint8_t half_mask(const struct slot *slot)
{
    return slot->part == PART_WHOLE ? 3 : slot->part == PART_A ? 1 : 2;
}

uint8_t plan_mask(const struct slot *slot)
{
    switch ((enum slot_kind)slot->kind) {
    case SLOT_FORWARD:
        return half_mask(slot);
    case SLOT_BACKWARD:
        return (uint8_t)(half_mask(slot) << 2);
    case SLOT_WEIGHT:
        return (uint8_t)(half_mask(slot) << 4);
    case SLOT_EVICT:
        return DONE_EVICT;
    case SLOT_FETCH:
        return DONE_FETCH;
    }
    return 0;
}

unsigned plan_inputs(const struct plan *plan, const struct slot *slot, struct plan_input inputs[2])
{
    uint8_t half = half_mask(slot);
    switch ((enum slot_kind)slot->kind) {
    case SLOT_FORWARD:
        inputs[0] = (struct plan_input){slot->stage - 1u, half};
        return slot->stage > 0;
    case SLOT_BACKWARD:
        inputs[0] = (struct plan_input){slot->stage, half};
        inputs[1] = (struct plan_input){slot->stage + 1u, (uint8_t)(half << 2)};
        return slot->stage + 1u < plan->stages ? 2 : 1;
    case SLOT_WEIGHT:
        inputs[0] = (struct plan_input){slot->stage, (uint8_t)(half << 2)};
        return 1;
    case SLOT_EVICT:
        inputs[0] = (struct plan_input){slot->stage, DONE_FORWARD};
        return 1;
    case SLOT_FETCH:
        inputs[0] = (struct plan_input){slot->stage, DONE_EVICT};
        return 1;
    }
    return 0;
}

size_t plan_block_end(const struct plan_order *order, size_t first)
{
    size_t end = first + 1;
    while (end < order->count && order->slots[end].joined)
        end++;
    return end;
}

static uint8_t *done_of(const struct plan_walk *walk, const struct plan *plan, uint32_t micro_batch, uint32_t stage)
{
    return &walk->done[(size_t)micro_batch * plan->stages + stage];
}

static bool ready(const struct plan_walk *walk, const struct plan *plan, const struct slot *slot)
{
    struct plan_input inputs[2];
    unsigned count = plan_inputs(plan, slot, inputs);
    for (unsigned i = 0; i < count; i++)
        if (inputs[i].mask & ~*done_of(walk, plan, slot->micro_batch, inputs[i].stage))
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

/* Marks a slot as done and lists the worker that may wait for it. */
static void complete(const struct plan_walk *walk, const struct plan *plan, const struct slot *slot, struct agenda *agenda)
{
    *done_of(walk, plan, slot->micro_batch, slot->stage) |= plan_mask(slot);
    if (slot->kind == SLOT_FORWARD && slot->stage + 1u < plan->stages)
        list(agenda, plan_worker(plan, slot->pipeline, slot->stage + 1u));
    if (slot->kind == SLOT_BACKWARD && slot->stage > 0)
        list(agenda, plan_worker(plan, slot->pipeline, slot->stage - 1u));
}

/* Runs a worker's blocks until one has to wait. */
static void advance(struct plan_walk *walk, const struct plan *plan, uint32_t worker, struct agenda *agenda, plan_visit *visit, void *user)
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
            complete(walk, plan, &order->slots[i], agenda);
    }
}

bool plan_walk_run(struct plan_walk *walk, const struct plan *plan, plan_visit *visit, void *user)
{
    size_t capacity = 0;
    *walk = (struct plan_walk){0};
    size_t cells = (size_t)plan->micro_batches * plan->stages;
    walk->done = array_grow(NULL, &capacity, cells, sizeof *walk->done);
    memset(walk->done, 0, capacity);
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
