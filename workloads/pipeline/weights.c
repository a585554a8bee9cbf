/* SPDX-License-Identifier: Apache-2.0 */
/* Weights that travel (plan_weights.h) as messages from a worker to the next. */
#include "schedules/plan/plan_timing.h"
#include "workloads/pipeline/lowering.h"

#include <math.h>
#include <stdlib.h>

/* The next of a worker on the ring. */
static uint32_t next_of(const struct plan *plan, uint32_t worker)
{
    return (worker + 1) % plan->workers;
}

size_t lowering_pass(const struct lowering *l, enum slot_kind kind, uint32_t stage, uint32_t micro_batch)
{
    return 3 * cell_of(l, stage, micro_batch) + (kind - SLOT_PASS_FORWARD);
}

/* ---- on the worker ---- */

void lowering_note_pass(struct lowering *l, const struct worker_state *state, const struct slot *slot)
{
    struct travel *travel = &l->travels[lowering_pass(l, slot->kind, slot->stage, slot->micro_batch)];
    const uint32_t *released = &l->released[state->worker][FAMILIES * slot->stage];
    bool own = l->plan->owners[slot->stage] == state->worker && slot->kind != SLOT_PASS_GRADIENT;
    *travel = (struct travel){
        .after = state->last,
        .updated = {own ? l->stepped[state->worker] : NONE, own ? released[0] : NONE, own ? released[1] : NONE}};
}

/* A moment on the compute stream, without time. */
static uint32_t add_moment(struct lowering *l, uint32_t worker, uint32_t stage, uint32_t iteration)
{
    return program_add_compute(l->builder, worker, identify_step(STAGESIM_EXCHANGE, stage, iteration), l->nothing_cost);
}

/* The synchronisation and the optimizer of the stages that a worker owns follow the last of their gradients. */
void lowering_step_owned(struct lowering *l, struct worker_state *state, uint32_t iteration)
{
    const struct plan *plan = l->plan;
    for (uint32_t stage = 0; stage < plan->stages; stage++) {
        if (plan->owners[stage] != state->worker)
            continue;
        state->ready[state->ready_count++] = stage;
        state->owed[stage] = true;
        l->summed[stage] = state->last = add_moment(l, state->worker, stage, iteration);
    }
    lowering_step(l, state, iteration);
    l->stepped[state->worker] = add_moment(l, state->worker, NONE, iteration);
}

/* ---- messages ---- */

/* Something that is handed on, in the order in which it leaves. */
struct departure {
    double time;
    uint32_t worker, hop;
    size_t index; /* in the worker's order */
};

static int compare(const void *left, const void *right)
{
    const struct departure *a = left, *b = right;
    if (a->time < b->time || a->time > b->time)
        return a->time < b->time ? -1 : 1;
    if (a->worker != b->worker)
        return a->worker < b->worker ? -1 : 1;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return a->hop < b->hop ? -1 : 1;
}

static uint32_t hops_of(const struct plan *plan, const struct slot *slot)
{
    return slot_hands_on(slot) ? plan_pass_hops(plan, slot->kind, slot->stage, slot->micro_batch) : 0;
}

/* All of a plan's, each hop on its own. Messages of two workers travel one after the other in the order in which they
 * are added, which must be one that can be: that of the plan's own times, with a little time for a message so that no
 * two that follow from each other are alike. */
static struct departure *sort_departures(const struct lowering *l, size_t *count)
{
    const struct plan *plan = l->plan;
    double *ones = arena_array(l->arena, plan->stages, sizeof *ones);
    for (uint32_t stage = 0; stage < plan->stages; stage++)
        ones[stage] = 1;
    double hop = 1e-3 / plan->workers;
    struct plan_costs costs = {.forward = ones, .backward = ones, .weight = NULL, .latency = hop};
    struct plan_timing timing;
    struct departure *list = NULL;
    size_t capacity = 0;
    *count = 0;
    plan_timing_init(&timing, plan, &costs);
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        for (size_t i = 0; i < plan->orders[worker].count; i++)
            for (uint32_t k = 0; k < hops_of(plan, &plan->orders[worker].slots[i]); k++) {
                list = array_grow(list, &capacity, *count + 1, sizeof *list);
                double start = plan_timing_span(&timing, worker, i).start;
                list[(*count)++] = (struct departure){start + k * hop, worker, k, i};
            }
    plan_timing_finish(&timing);
    if (*count)
        qsort(list, *count, sizeof *list, compare);
    return list;
}

static void await_some(struct lowering *l, uint32_t worker, uint32_t id, uint32_t awaited)
{
    if (awaited != NONE)
        program_add_wait(l->builder, worker, id, awaited);
}

/* What is handed on leaves when the slot before is done and it has come itself: weights from the worker before, a
 * gradient to which the worker has added its own share. */
static void await_departure(struct lowering *l, uint32_t worker, const struct slot *slot, uint32_t send)
{
    const struct plan *plan = l->plan;
    struct travel *travel = &l->travels[lowering_pass(l, slot->kind, slot->stage, slot->micro_batch)];
    await_some(l, worker, send, travel->after);
    for (int i = 0; i < 3; i++)
        await_some(l, worker, send, travel->updated[i]);
    if (slot->micro_batch && plan_passes(plan, slot->kind, slot->stage, slot->micro_batch - 1))
        await_some(l, worker, send,
                   l->travels[lowering_pass(l, slot->kind, slot->stage, slot->micro_batch - 1)].arrival);
}

/* What has come is used: weights by the forward or the backward, a gradient by the next backward, which adds to it, and
 * by the owner's step. */
static void await_arrival(struct lowering *l, uint32_t worker, const struct slot *slot, uint32_t arrival)
{
    size_t here = cell(l, slot);
    if (slot->kind == SLOT_PASS_FORWARD)
        program_add_wait(l->builder, worker, l->forward_first[here], arrival);
    else if (slot->kind == SLOT_PASS_BACKWARD)
        program_add_wait(l->builder, worker, l->backward_first[2 * here], arrival);
    else if (slot->micro_batch + 1 < l->plan->micro_batches)
        program_add_wait(l->builder, worker, l->backward_first[2 * cell_of(l, slot->stage, slot->micro_batch + 1)],
                         arrival);
    else
        program_add_wait(l->builder, worker, l->summed[slot->stage], arrival);
}

static void add_hop(struct lowering *l, const struct departure *departure)
{
    const struct plan *plan = l->plan;
    const struct slot *slot = &plan->orders[departure->worker].slots[departure->index];
    struct travel *travel = &l->travels[lowering_pass(l, slot->kind, slot->stage, slot->micro_batch)];
    bool gradient = slot->kind == SLOT_PASS_GRADIENT;
    uint32_t from = (departure->worker + departure->hop) % plan->workers, to = next_of(plan, from), send, receive;
    struct stagesim_identity identity = identify(l, slot, gradient ? STAGESIM_SHARE : STAGESIM_WEIGHTS);
    program_add_message(l->builder, from, to, identity, l->stages[slot->stage].travels[gradient], &send, &receive);
    if (departure->hop == 0)
        await_departure(l, from, slot, send);
    else
        program_add_wait(l->builder, from, send, travel->arrival);
    travel->arrival = receive;
    if (to == plan_pass_target(plan, slot->kind, slot->stage, slot->micro_batch))
        await_arrival(l, to, slot, receive);
}

void lowering_add_travels(struct lowering *l)
{
    size_t count;
    struct departure *list = sort_departures(l, &count);
    for (size_t i = 0; i < count; i++)
        add_hop(l, &list[i]);
    free(list);
}

/* ---- memory ---- */

struct stagesim_static_memory lowering_travelling_memory(const struct plan *plan, const struct stagesim_pipeline *costs,
                                                         uint32_t worker)
{
    struct stagesim_static_memory memory = {0};
    for (uint32_t stage = 0; stage < plan->stages; stage++) {
        double gradient = at(costs->gradient_memory ? costs->gradient_memory : costs->gradient, stage);
        memory.parameters = fmax(memory.parameters, TRAVELLING_WEIGHTS * at(costs->parameter, stage));
        memory.gradients = fmax(memory.gradients, TRAVELLING_GRADIENTS * gradient);
        memory.buffers = fmax(memory.buffers, at(costs->buffers, stage));
        memory.optimizer += plan->owners[stage] == worker ? at(costs->optimizer_state, stage) : 0;
    }
    return memory;
}
