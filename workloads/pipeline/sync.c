/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/pipeline/lowering.h"

static bool is_last(const struct lowering *l, const struct worker_state *state, const struct slot *slot)
{
    return state->left[(size_t)(slot->micro_batch / per_iteration(l)) * l->plan->stages + slot->stage] == 1;
}

bool lowering_completes(const struct lowering *l, const struct worker_state *state, const struct slot *slot)
{
    return completes_gradient(slot) && (is_last(l, state, slot) || l->plan->steps_each);
}

/* Sharded gradients are reduced after every backward, others once in an iteration. */
static bool syncs_now(const struct lowering *l, const struct worker_state *state, const struct slot *slot)
{
    return l->costs->sharding >= STAGESIM_SHARD_GRADIENTS || l->plan->steps_each || is_last(l, state, slot);
}

/* Workers of several pipelines that hold one stage could complete it in different kinds of slots, of which not all go
 * in parts. */
bool lowering_syncs_parts(const struct lowering *l, const struct worker_state *state, const struct slot *slot)
{
    const struct stage_costs *stage = &l->stages[slot->stage];
    bool shared =
        stage->group[FAMILY_REPLICAS] != NONE || stage->group[FAMILY_EXPERTS] != NONE || stage->outer_group != NONE;
    return shared && l->plan->pipelines == 1 && !l->costs->late_sync && sync_of(l, slot) == PLAN_SYNC_EAGER &&
           slot->part == PART_WHOLE && stage->part_count && syncs_now(l, state, slot);
}

static uint32_t gradient_cost(struct lowering *l, uint32_t stage, double bytes)
{
    for (enum family family = FAMILY_REPLICAS; family < FAMILIES; family++)
        if (bytes == gradient_bytes(l, stage, family))
            return l->stages[stage].gradient[family];
    for (size_t i = l->bucket_count; i-- > 0;)
        if (l->buckets[i].bytes == bytes)
            return l->buckets[i].cost;
    l->buckets = array_grow(l->buckets, &l->bucket_capacity, l->bucket_count + 1, sizeof *l->buckets);
    l->buckets[l->bucket_count++] = (struct bucket_cost){bytes, add_cost(l, (struct stagesim_cost){.bytes = bytes})};
    return l->buckets[l->bucket_count - 1].cost;
}

/* All-reduces gradients that were scattered along the shard axes among those who hold the same shard; `bytes`: before
 * they were. */
static void add_outer_sync(struct lowering *l, struct worker_state *state, uint32_t stage, uint32_t iteration,
                           double bytes)
{
    state->owed_outer[stage] = false;
    uint32_t cost = gradient_cost(l, stage, bytes / mesh_product(l->mesh, l->shard_axes));
    uint32_t id = program_add_collective(l->builder, state->worker, l->stages[stage].outer_group, STAGESIM_ALL_REDUCE,
                                         identify_step(STAGESIM_GRADIENT_SYNC, stage, iteration), cost);
    uint32_t *sync = &state->sync[FAMILIES * stage + FAMILY_REPLICAS];
    program_add_wait(l->builder, state->worker, id,
                     l->stages[stage].group[FAMILY_REPLICAS] != NONE && *sync != NONE ? *sync : state->last);
    *sync = l->released[state->worker][FAMILIES * stage + FAMILY_REPLICAS] = id;
}

static void add_inner_sync(struct lowering *l, struct worker_state *state, uint32_t stage, uint32_t iteration,
                           double bytes, enum family family)
{
    enum stagesim_collective collective =
        l->costs->sharding == STAGESIM_SHARD_NOTHING ? STAGESIM_ALL_REDUCE : STAGESIM_REDUCE_SCATTER;
    uint32_t id =
        program_add_collective(l->builder, state->worker, l->stages[stage].group[family], collective,
                               identify_step(STAGESIM_GRADIENT_SYNC, stage, iteration), gradient_cost(l, stage, bytes));
    program_add_wait(l->builder, state->worker, id, state->last);
    state->sync[FAMILIES * stage + family] = l->released[state->worker][FAMILIES * stage + family] = id;
    if (l->costs->blocking_scatter && l->shard_axes)
        state->pending[state->pending_count++] = id;
}

void lowering_add_sync(struct lowering *l, struct worker_state *state, uint32_t stage, uint32_t iteration,
                       const double bytes[FAMILIES], bool complete)
{
    const struct stage_costs *costs = &l->stages[stage];
    state->owed[stage] = false;
    for (enum family family = FAMILY_REPLICAS; family < FAMILIES; family++)
        if (costs->group[family] != NONE && bytes[family] > 0)
            add_inner_sync(l, state, stage, iteration, bytes[family], family);
    if (costs->outer_group == NONE || !complete)
        return;
    if (l->costs->late_replicas)
        state->owed_outer[stage] = true;
    else
        add_outer_sync(l, state, stage, iteration, bytes[FAMILY_REPLICAS]);
}

/* The same of all of a stage's gradients. */
static void add_whole_sync(struct lowering *l, struct worker_state *state, uint32_t stage, uint32_t iteration,
                           bool complete)
{
    const double bytes[FAMILIES] = {gradient_bytes(l, stage, FAMILY_REPLICAS),
                                    gradient_bytes(l, stage, FAMILY_EXPERTS)};
    lowering_add_sync(l, state, stage, iteration, bytes, complete);
}

/* Weights that replicas have updated in parts are put together before they are used again; `updated` NONE: as they are
 * synchronised. Those that stay in parts are put together for each use, the next time after this update. */
static void add_weight_gather(struct lowering *l, struct worker_state *state, uint32_t stage, uint32_t iteration,
                              uint32_t updated)
{
    const struct stage_costs *costs = &l->stages[stage];
    struct stagesim_identity identity = identify_step(STAGESIM_PARAMETER_GATHER, stage, iteration);
    for (enum family family = FAMILY_REPLICAS; family < FAMILIES; family++) {
        if (costs->gather_group[family] == NONE)
            continue;
        uint32_t awaited = updated != NONE ? updated : state->sync[FAMILIES * stage + family];
        if (l->costs->sharding == STAGESIM_SHARD_PARAMETERS) {
            l->updated_shard[state->worker][FAMILIES * stage + family] = awaited;
            continue;
        }
        uint32_t id = program_add_collective(l->builder, state->worker, costs->gather_group[family],
                                             STAGESIM_ALL_GATHER, identity, costs->gather[family]);
        if (awaited != NONE)
            program_add_wait(l->builder, state->worker, id, awaited);
        l->released[state->worker][FAMILIES * stage + family] = id;
    }
}

/* The operation waits for a stage's synchronisation. */
static void await_sync(struct lowering *l, const struct worker_state *state, uint32_t stage, uint32_t id)
{
    for (enum family family = FAMILY_REPLICAS; family < FAMILIES; family++)
        if (state->sync[FAMILIES * stage + family] != NONE)
            program_add_wait(l->builder, state->worker, id, state->sync[FAMILIES * stage + family]);
}

static uint32_t add_norm(struct lowering *l, struct worker_state *state, uint32_t iteration)
{
    if (l->norm_group == NONE)
        return NONE;
    uint32_t id = program_add_collective(l->builder, state->worker, l->norm_group, STAGESIM_ALL_REDUCE,
                                         identify_step(STAGESIM_OPTIMIZER, NONE, iteration), l->norm_cost);
    program_add_wait(l->builder, state->worker, id, state->last);
    for (uint32_t i = 0; i < state->ready_count; i++)
        await_sync(l, state, state->ready[i], id);
    return id;
}

static void add_optimizer(struct lowering *l, struct worker_state *state, uint32_t stage, uint32_t iteration,
                          uint32_t norm)
{
    uint32_t *released = &l->released[state->worker][FAMILIES * stage];
    if (norm != NONE) {
        released[FAMILY_REPLICAS] = norm;
        released[FAMILY_EXPERTS] = NONE;
    }
    if (at(l->costs->optimizer, stage) <= 0) {
        add_weight_gather(l, state, stage, iteration, norm);
        return;
    }
    uint32_t id = program_add_compute(l->builder, state->worker, identify_step(STAGESIM_OPTIMIZER, stage, iteration),
                                      l->stages[stage].optimizer);
    if (norm != NONE)
        program_add_wait(l->builder, state->worker, id, norm);
    else
        await_sync(l, state, stage, id);
    lowering_await_pending(l, state, id);
    released[FAMILY_REPLICAS] = released[FAMILY_EXPERTS] = NONE; /* the compute stream's order says it */
    add_weight_gather(l, state, stage, iteration, id);
}

void lowering_step(struct lowering *l, struct worker_state *state, uint32_t iteration)
{
    for (uint32_t i = 0; i < state->ready_count; i++) {
        uint32_t stage = state->ready[i];
        if (state->owed[stage])
            add_whole_sync(l, state, stage, iteration, true);
        if (state->owed_outer[stage])
            add_outer_sync(l, state, stage, iteration, at(l->costs->gradient, stage));
    }
    uint32_t norm = add_norm(l, state, iteration);
    for (uint32_t i = 0; i < state->ready_count; i++) {
        uint32_t stage = state->ready[i];
        add_optimizer(l, state, stage, iteration, norm);
        size_t cell = (size_t)(iteration - l->repetition) * l->plan->stages + stage;
        for (enum family family = FAMILY_REPLICAS; family < FAMILIES; family++) {
            state->updated[FAMILIES * cell + family] = l->released[state->worker][FAMILIES * stage + family];
            state->updated_shard[FAMILIES * cell + family] = l->updated_shard[state->worker][FAMILIES * stage + family];
        }
    }
    state->ready_count = 0;
}

/* A gradient that is complete, or with sharded gradients one micro-batch's. */
static void gradient_ready(struct lowering *l, struct worker_state *state, const struct slot *slot, bool complete)
{
    bool in_parts = lowering_syncs_parts(l, state, slot); /* then it is under way already */
    bool now = (sync_of(l, slot) == PLAN_SYNC_EAGER && !l->costs->late_sync) || !complete;
    if (complete) {
        state->ready[state->ready_count++] = slot->stage;
        state->owed[slot->stage] = !in_parts;
    }
    if (now && !in_parts)
        add_whole_sync(l, state, slot->stage, iteration_of(l, slot), complete);
}

/* Stages that the worker holds a copy of but has no micro-batch for in the iteration (one of two directions stays empty
 * when there are few): their gradient is zero, the copy is kept equal to the others all the same. */
static void ready_unused(const struct lowering *l, struct worker_state *state, uint32_t iteration)
{
    bool *used = &state->used[(size_t)iteration * l->plan->stages];
    for (uint32_t pipeline = 0; pipeline < l->plan->pipelines; pipeline++)
        for (uint32_t stage = 0; stage < l->plan->stages; stage++)
            if (plan_worker(l->plan, pipeline, stage) == state->worker && !used[stage]) {
                used[stage] = state->owed[stage] = true;
                state->ready[state->ready_count++] = stage;
            }
}

void lowering_account(struct lowering *l, struct worker_state *state, const struct slot *slot)
{
    uint32_t iteration = slot->micro_batch / per_iteration(l);
    if (plan_travels(l->plan)) {
        if (--state->slots[iteration] == 0)
            lowering_step_owned(l, state, l->repetition + iteration);
        return;
    }
    bool completes = completes_gradient(slot), complete = lowering_completes(l, state, slot);
    if (completes && (complete || l->costs->sharding >= STAGESIM_SHARD_GRADIENTS))
        gradient_ready(l, state, slot, complete);
    state->left[(size_t)iteration * l->plan->stages + slot->stage] -= completes;
    bool last = --state->slots[iteration] == 0;
    if (last)
        ready_unused(l, state, iteration);
    if (last || (l->plan->steps_each && completes))
        lowering_step(l, state, l->repetition + iteration);
}
