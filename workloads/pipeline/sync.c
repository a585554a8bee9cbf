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

void lowering_add_outer_sync(struct lowering *l, struct worker_state *state, uint32_t stage, uint32_t iteration,
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
        l->costs->sharding == STAGESIM_SHARD_NOTHING || l->costs->owned ? STAGESIM_ALL_REDUCE : STAGESIM_REDUCE_SCATTER;
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
        lowering_add_outer_sync(l, state, stage, iteration, bytes[FAMILY_REPLICAS]);
}

void lowering_add_whole_sync(struct lowering *l, struct worker_state *state, uint32_t stage, uint32_t iteration,
                             bool complete)
{
    const double bytes[FAMILIES] = {gradient_bytes(l, stage, FAMILY_REPLICAS),
                                    gradient_bytes(l, stage, FAMILY_EXPERTS)};
    lowering_add_sync(l, state, stage, iteration, bytes, complete);
}

void lowering_await_sync(struct lowering *l, const struct worker_state *state, uint32_t stage, uint32_t id)
{
    for (enum family family = FAMILY_REPLICAS; family < FAMILIES; family++)
        if (state->sync[FAMILIES * stage + family] != NONE)
            program_add_wait(l->builder, state->worker, id, state->sync[FAMILIES * stage + family]);
}
