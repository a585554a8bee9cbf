/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/pipeline/lowering.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void count_slots(const struct lowering *l, struct worker_state *state)
{
    const struct plan_order *order = &l->plan->orders[state->worker];
    for (size_t i = 0; i < order->count; i++) {
        const struct slot *slot = &order->slots[i];
        uint32_t iteration = slot->micro_batch / per_iteration(l);
        state->slots[iteration]++;
        state->left[(size_t)iteration * l->plan->stages + slot->stage] += completes_gradient(slot);
        state->used[(size_t)iteration * l->plan->stages + slot->stage] |= completes_gradient(slot);
    }
}

/* So many times NONE. */
static uint32_t *nothing(struct arena *arena, size_t count)
{
    uint32_t *ids = arena_array(arena, count, sizeof *ids);
    for (size_t i = 0; i < count; i++)
        ids[i] = NONE;
    return ids;
}

/* Workers are much alike: what one had for each slot the next one is expected to have. */
static void note_size(struct lowering *l, uint32_t worker, struct program_size before, size_t slots)
{
    struct program_size after = program_size_of(l->builder, worker);
    if (!slots)
        return;
    l->slot_operations = fmax(l->slot_operations, (double)(after.operations - before.operations) / (double)slots);
    l->slot_waits = fmax(l->slot_waits, (double)(after.waits - before.waits) / (double)slots);
}

static void lower_worker(struct lowering *l, uint32_t worker)
{
    const struct plan *plan = l->plan;
    const struct plan_order *order = &plan->orders[worker];
    struct arena *scratch = arena_create();
    struct worker_state state = {.worker = worker,
                                 .left =
                                     arena_array(scratch, (size_t)plan->iterations * plan->stages, sizeof(uint32_t)),
                                 .used = arena_array(scratch, (size_t)plan->iterations * plan->stages, sizeof(bool)),
                                 .slots = arena_array(scratch, plan->iterations, sizeof(uint32_t)),
                                 .ready = arena_array(scratch, plan->stages, sizeof(uint32_t)),
                                 .sync = nothing(scratch, (size_t)FAMILIES * plan->stages),
                                 .updated = nothing(scratch, (size_t)FAMILIES * plan->iterations * plan->stages),
                                 .updated_shard = nothing(scratch, (size_t)FAMILIES * plan->iterations * plan->stages),
                                 .owed = arena_array(scratch, plan->stages, sizeof(bool)),
                                 .owed_outer = arena_array(scratch, plan->stages, sizeof(bool)),
                                 .last = NONE};
    for (uint32_t ahead = 0; ahead < STAGESIM_AHEAD_MAX; ahead++)
        state.boundaries[ahead] = NONE;
    count_slots(l, &state);
    struct program_size before = program_size_of(l->builder, worker);
    double slots = (double)order->count;
    program_expect(l->builder, worker, (size_t)(l->slot_operations * slots) + 2 * order->count,
                   (size_t)(l->slot_waits * slots) + 2 * order->count); /* each with a message out and one in */
    for (size_t i = 0; i < order->count; i++) {
        const struct slot *slot = &order->slots[i];
        const struct slot *joined = i + 1 < order->count && slot[1].joined ? &slot[1] : NULL;
        lowering_add_slot(l, &state, slot, joined);
        lowering_account(l, &state, slot);
        if (joined)
            lowering_account(l, &state, joined);
        i += joined != NULL;
    }
    note_size(l, worker, before, order->count);
    arena_destroy(scratch);
}

/* ---- memory ---- */

/* Whether a worker holds a stage for a pipeline before this one: one copy serves both. */
static bool holds_before(const struct plan *plan, uint32_t worker, uint32_t pipeline, uint32_t stage)
{
    while (pipeline-- > 0)
        if (plan_worker(plan, pipeline, stage) == worker)
            return true;
    return false;
}

struct stagesim_static_memory lowering_memory(const struct plan *plan, const struct stagesim_pipeline *costs,
                                              uint32_t worker)
{
    struct stagesim_static_memory memory = {0};
    if (plan_travels(plan))
        return lowering_travelling_memory(plan, costs, worker);
    for (uint32_t pipeline = 0; pipeline < plan->pipelines; pipeline++)
        for (uint32_t stage = 0; stage < plan->stages; stage++)
            if (plan_worker(plan, pipeline, stage) == worker && !holds_before(plan, worker, pipeline, stage)) {
                memory.parameters += at(costs->parameter, stage) * plan->weight_versions[worker];
                memory.gradients += at(costs->gradient_memory ? costs->gradient_memory : costs->gradient, stage);
                memory.buffers += at(costs->buffers, stage);
                memory.optimizer += at(costs->optimizer_state, stage);
            }
    return memory;
}

static void lowering_init(struct lowering *l)
{
    const struct plan *plan = l->plan;
    size_t cells = (size_t)plan->micro_batches * plan->stages;
    l->stages = arena_array(l->arena, plan->stages, sizeof *l->stages);
    l->slices =
        plan->slices > 1 ? arena_array(l->arena, (size_t)plan->stages * plan->slices, sizeof *l->slices) : l->stages;
    l->length = 1;
    l->forward = arena_array(l->arena, cells, sizeof *l->forward);
    l->forward_first = arena_array(l->arena, cells, sizeof *l->forward);
    l->backward = arena_array(l->arena, 2 * cells, sizeof *l->backward);
    l->backward_first = arena_array(l->arena, 2 * cells, sizeof *l->backward);
    l->moves = plan->partners ? arena_array(l->arena, cells, sizeof *l->moves) : NULL;
    if (plan_travels(plan)) {
        l->travels = arena_array(l->arena, 3 * cells, sizeof *l->travels);
        l->summed = nothing(l->arena, plan->stages);
        l->stepped = nothing(l->arena, plan->workers);
    }
    l->released = arena_array(l->arena, plan->workers, sizeof *l->released);
    l->updated_shard = arena_array(l->arena, plan->workers, sizeof *l->updated_shard);
    if (plan->barriers)
        l->reduced = nothing(l->arena, 2 * cells);
    lowering_add_costs(l);
    lowering_add_tied_group(l);
    lowering_add_outer_costs(l);
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        l->released[worker] = nothing(l->arena, (size_t)FAMILIES * plan->stages);
        l->updated_shard[worker] = nothing(l->arena, (size_t)FAMILIES * plan->stages);
    }
}

void pipeline_lower(const struct pipeline_request *request, const struct mesh *mesh, struct program_builder *builder)
{
    assert(request->costs->stages == request->plan->stages && mesh->positions == request->plan->workers);
    struct lowering l = {.plan = request->plan,
                         .costs = request->costs,
                         .mesh = mesh,
                         .builder = builder,
                         .micro_batches = request->plan->micro_batches / request->plan->iterations,
                         .slot_operations = 1,
                         .blocking = request->blocking,
                         .arena = arena_create()};
    lowering_init(&l);
    for (l.repetition = 0; l.repetition < request->repetitions; l.repetition++) {
        for (uint32_t worker = 0; worker < l.plan->workers; worker++)
            lower_worker(&l, worker);
        for (uint32_t worker = 0; worker < l.plan->workers; worker++)
            lowering_add_messages(&l, worker);
        if (l.travels)
            lowering_add_travels(&l);
        if (l.moves) {
            lowering_add_stash_messages(&l, SLOT_EVICT);
            lowering_add_stash_messages(&l, SLOT_FETCH);
        }
    }
    for (uint32_t worker = 0; worker < l.plan->workers; worker++) {
        struct stagesim_static_memory memory = lowering_memory(l.plan, l.costs, worker);
        program_set_memory(builder, worker, &memory);
    }
    free(l.blocks);
    free(l.buckets);
    free(l.known_factors);
    free(l.exchange_groups);
    arena_destroy(l.arena);
}
