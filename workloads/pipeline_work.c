/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/pipeline_lowering.h"

static uint32_t slot_cost(const struct lowering *l, const struct slot *slot)
{
    const struct stage_costs *stage = &l->stages[slot->stage];
    switch (slot->kind) {
    case SLOT_FORWARD:
        return stage->forward[1];
    case SLOT_WEIGHT:
        return stage->weight;
    default:
        return slot->part != PART_WHOLE ? stage->half : slot->split ? stage->input : stage->backward;
    }
}

static enum stagesim_kind slot_work(const struct slot *slot)
{
    return slot->kind == SLOT_FORWARD ? STAGESIM_FORWARD : slot->kind == SLOT_WEIGHT ? STAGESIM_WEIGHT : STAGESIM_BACKWARD;
}

static uint32_t block_cost(struct lowering *l, const struct slot *forward, const struct slot *backward)
{
    for (size_t i = l->block_count; i-- > 0;) {
        const struct block_cost *known = &l->blocks[i];
        if (known->forward_stage == forward->stage && known->backward_stage == backward->stage && known->split == backward->split)
            return known->cost;
    }
    const struct stagesim_pipeline *costs = l->costs;
    double weight = backward->split ? at(costs->weight, backward->stage) : 0;
    double sum = at(costs->forward, forward->stage) + at(costs->backward, backward->stage);
    /* A stage's `block` time is that of its forward with its backward; two stages share one at half each. */
    double whole = costs->block ? (costs->block[forward->stage] + costs->block[backward->stage]) / 2 : sum;
    struct stagesim_cost cost = {.seconds = whole - weight,
                                 .flops = at(costs->forward_flops, forward->stage) + at(costs->backward_flops, backward->stage) -
                                          (backward->split ? at(costs->weight_flops, backward->stage) : 0),
                                 .memory = at(costs->activation, forward->stage),
                                 .stash = chunk(l)};
    l->blocks = array_grow(l->blocks, &l->block_capacity, l->block_count + 1, sizeof *l->blocks);
    l->blocks[l->block_count++] = (struct block_cost){forward->stage, backward->stage, add_cost(l, cost), backward->split};
    return l->blocks[l->block_count - 1].cost;
}

/* The operations that a slot begins and ends with. */
static void remember(struct lowering *l, const struct slot *slot, uint32_t first, uint32_t last)
{
    size_t at_cell = cell(l, slot);
    if (slot->kind == SLOT_FORWARD) {
        l->forward_first[at_cell] = first;
        l->forward[at_cell] = last;
    }
    for (size_t half = 0; half < 2 && slot->kind == SLOT_BACKWARD; half++)
        if (slot->part == PART_WHOLE || half == (slot->part == PART_B)) {
            l->backward_first[2 * at_cell + half] = first;
            l->backward[2 * at_cell + half] = last;
        }
}

/* The update that a forward's weights come from. Asynchronous training that updates once per iteration leaves as many updates as
 * it is stale for the synchronisation to finish; otherwise it is the newest one. NULL: there is none yet. */
static uint32_t *weights_of(const struct lowering *l, const struct worker_state *state, const struct slot *slot)
{
    if (!l->plan->asynchronous || l->plan->steps_each)
        return &l->released[state->worker][slot->stage];
    uint32_t iteration = slot->micro_batch / per_iteration(l), age = 1 + l->plan->staleness[state->worker];
    return iteration < age ? NULL : &state->updated[(size_t)(iteration - age) * l->plan->stages + slot->stage];
}

/* A stage's weights are used only after they were updated. */
static void await_weights(const struct lowering *l, const struct worker_state *state, const struct slot *slot, uint32_t id)
{
    uint32_t *updated = weights_of(l, state, slot);
    if (updated && *updated != NONE) {
        program_add_wait(l->builder, state->worker, id, *updated);
        *updated = NONE;
    }
}

/* A computation, after the communication of the one before. */
static uint32_t add_compute(struct lowering *l, struct worker_state *state, struct stagesim_identity identity, uint32_t cost)
{
    uint32_t id = program_add_compute(l->builder, state->worker, identity, cost);
    if (state->tensor != NONE)
        program_add_wait(l->builder, state->worker, id, state->tensor);
    state->tensor = NONE;
    state->last = id;
    return id;
}

/* The communication along the tensor axis that a computation ends with; cost NONE: none. */
static void add_tensor(struct lowering *l, struct worker_state *state, struct stagesim_identity identity, uint32_t cost)
{
    uint32_t group = l->tensor_groups[state->worker];
    if (cost == NONE || group == NONE)
        return;
    identity.kind = STAGESIM_TENSOR;
    uint32_t id = program_add_collective(l->builder, state->worker, group, l->costs->tensor_collective, identity, cost);
    program_add_wait(l->builder, state->worker, id, state->last);
    state->last = state->tensor = id;
}

static uint32_t tensor_cost(const struct lowering *l, const struct slot *slot)
{
    const struct stage_costs *stage = &l->stages[slot->stage];
    if (slot->kind == SLOT_FORWARD)
        return stage->forward_tensor[1];
    if (slot->kind == SLOT_WEIGHT)
        return NONE;
    return slot->part == PART_WHOLE ? stage->backward_tensor : stage->half_tensor;
}

/* A slot and the one joined to it, as one computation. */
static void add_pair(struct lowering *l, struct worker_state *state, const struct slot *first, const struct slot *second)
{
    bool forwards = first->kind == SLOT_FORWARD && second->kind == SLOT_FORWARD;
    const struct slot *forward = first->kind == SLOT_FORWARD ? first : second;
    const struct slot *backward = forward == first ? second : first;
    enum stagesim_kind kind = forwards ? STAGESIM_FORWARD : STAGESIM_BLOCK;
    uint32_t cost = forwards ? l->stages[first->stage].forward[2] : block_cost(l, forward, backward);
    const struct slot *other = forwards ? second : backward;
    uint32_t id = add_compute(l, state, identify(l, forward, kind), cost);
    /* Two forwards as one are wholly in the operation's own cost; what they add is no more. */
    struct block block = {.kind = (uint8_t)slot_work(other),
                          .part = other->part,
                          .stage = other->stage,
                          .pipeline = other->pipeline,
                          .micro_batch = other->micro_batch % per_iteration(l),
                          .cost = forwards ? l->nothing_cost : l->stages[other->stage].released[other->split]};
    program_add_block(l->builder, state->worker, block);
    add_tensor(l, state, identify(l, forward, kind), forwards ? l->stages[first->stage].forward_tensor[2] : tensor_cost(l, first));
    if (!forwards)
        add_tensor(l, state, identify(l, forward, kind), tensor_cost(l, second));
    remember(l, first, id, state->last);
    remember(l, second, id, state->last);
}

static bool moves_stash(const struct slot *slot)
{
    return slot->kind == SLOT_EVICT || slot->kind == SLOT_FETCH;
}

/* A slot of a moving stash: an operation without time that marks the moment at which room is taken or given back. */
static void add_move(struct lowering *l, struct worker_state *state, const struct slot *slot)
{
    uint32_t worker = state->worker;
    bool own = plan_worker(l->plan, slot->pipeline, slot->stage) == worker, evict = slot->kind == SLOT_EVICT;
    const struct stage_costs *costs = &l->stages[slot->stage];
    uint32_t id = add_compute(l, state, identify(l, slot, STAGESIM_EXCHANGE), own == evict ? costs->released[0] : costs->taken);
    struct stash_move *move = &l->moves[cell(l, slot)];
    *(evict ? own ? &move->evict_own : &move->evict_partner : own ? &move->fetch_own : &move->fetch_partner) = id;
}

static void add_whole(struct lowering *l, struct worker_state *state, const struct slot *slot)
{
    struct stagesim_identity identity = identify(l, slot, slot_work(slot));
    uint32_t id = add_compute(l, state, identity, slot_cost(l, slot));
    add_tensor(l, state, identity, tensor_cost(l, slot));
    remember(l, slot, id, state->last);
}

/* ---- in parts ---- */

/* Gathers a layer's weights while the layer before runs, or where nothing overlaps, after it. */
static uint32_t add_gather(struct lowering *l, struct worker_state *state, struct stagesim_identity identity, uint32_t cost)
{
    const struct stage_costs *stage = &l->stages[identity.stage];
    bool kept = l->costs->keep_gathered && identity.kind == STAGESIM_BACKWARD;
    if (cost == NONE || stage->gather_group == NONE || kept || identity.kind == STAGESIM_WEIGHT)
        return NONE;
    identity.kind = STAGESIM_PARAMETER_GATHER;
    uint32_t id = program_add_collective(l->builder, state->worker, stage->gather_group, STAGESIM_ALL_GATHER, identity, cost);
    uint32_t awaited = l->costs->late_sync ? state->last : state->boundary;
    if (awaited != NONE)
        program_add_wait(l->builder, state->worker, id, awaited);
    state->boundary = state->last;
    return id;
}

static uint32_t part_cost(const struct part_costs *part, const struct slot *slot)
{
    if (slot->kind == SLOT_FORWARD)
        return part->forward;
    return slot->kind == SLOT_WEIGHT ? part->weight : slot->split ? part->input : part->backward;
}

/* Whether a part is of another layer than the one at `next`, which may lie outside of the stage (also by wrapping). */
static bool changes_layer(const struct stage_costs *stage, uint32_t index, uint32_t next)
{
    return next >= stage->part_count || stage->parts[next].layer == NONE || stage->parts[next].layer != stage->parts[index].layer;
}

static bool begins_layer(const struct stage_costs *stage, const struct slot *slot, uint32_t index)
{
    return changes_layer(stage, index, slot->kind == SLOT_FORWARD ? index - 1 : index + 1);
}

static bool ends_layer(const struct stage_costs *stage, const struct slot *slot, uint32_t index)
{
    return changes_layer(stage, index, slot->kind == SLOT_FORWARD ? index + 1 : index - 1);
}

/* One part of a slot; returns its computation. */
static uint32_t add_part(struct lowering *l, struct worker_state *state, const struct slot *slot, uint32_t index)
{
    const struct part_costs *part = &l->stages[slot->stage].parts[index];
    struct stagesim_identity identity = identify(l, slot, slot_work(slot));
    uint32_t gather = begins_layer(&l->stages[slot->stage], slot, index) ? add_gather(l, state, identity, part->gather) : NONE;
    uint32_t id = add_compute(l, state, identity, part_cost(part, slot));
    if (gather != NONE)
        program_add_wait(l->builder, state->worker, id, gather);
    if (slot->kind != SLOT_WEIGHT)
        add_tensor(l, state, identity, slot->kind == SLOT_FORWARD ? part->forward_tensor : part->backward_tensor);
    return id;
}

/* All parts of a slot in order, gradients synchronised as buckets fill. */
static void add_in_parts(struct lowering *l, struct worker_state *state, const struct slot *slot)
{
    uint32_t count = l->stages[slot->stage].part_count, first = NONE;
    bool syncs = completes_gradient(slot) && lowering_syncs_parts(l, state, slot);
    for (uint32_t step = 0; step < count; step++) {
        uint32_t index = slot->kind == SLOT_FORWARD ? step : count - 1 - step;
        uint32_t id = add_part(l, state, slot, index);
        first = step ? first : id;
        state->bucket += syncs ? l->stages[slot->stage].parts[index].gradient : 0;
        if (syncs && ends_layer(&l->stages[slot->stage], slot, index) && (state->bucket >= l->costs->bucket || step + 1 == count)) {
            lowering_add_sync(l, state, slot->stage, iteration_of(l, slot), state->bucket);
            state->bucket = 0;
        }
    }
    remember(l, slot, first, state->last);
}

static bool goes_in_parts(const struct lowering *l, const struct worker_state *state, const struct slot *slot)
{
    if (slot->part != PART_WHOLE || !l->stages[slot->stage].part_count)
        return false;
    return l->costs->fine || l->costs->sharding == STAGESIM_SHARD_PARAMETERS ||
           (completes_gradient(slot) && lowering_syncs_parts(l, state, slot));
}

void lowering_add_slot(struct lowering *l, struct worker_state *state, const struct slot *slot, const struct slot *joined)
{
    if (joined)
        add_pair(l, state, slot, joined);
    else if (moves_stash(slot))
        add_move(l, state, slot);
    else if (goes_in_parts(l, state, slot))
        add_in_parts(l, state, slot);
    else
        add_whole(l, state, slot);
    const struct slot *both[] = {slot, joined};
    for (int i = 0; i < 2 && both[i]; i++)
        if (both[i]->kind == SLOT_FORWARD)
            await_weights(l, state, both[i], l->forward_first[cell(l, both[i])]);
}
