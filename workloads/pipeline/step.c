/* SPDX-License-Identifier: Apache-2.0 */
/* The optimizer of an iteration: what it waits for, and the gathers of what it has updated. */
#include "workloads/pipeline/lowering.h"

/* Each owner of whole tensors broadcasts what it has updated, one after the other. Returns the last broadcast. */
static uint32_t add_broadcasts(struct lowering *l, const struct worker_state *state, uint32_t stage,
                               struct stagesim_identity identity, uint32_t awaited)
{
    const struct stage_costs *costs = &l->stages[stage];
    uint32_t id = NONE;
    for (uint32_t i = 0; i < costs->owned_count; i++) {
        id = program_add_collective(l->builder, state->worker, costs->gather_group[FAMILY_REPLICAS], STAGESIM_BROADCAST,
                                    identity, costs->owned[i]);
        if (awaited != NONE)
            program_add_wait(l->builder, state->worker, id, awaited);
    }
    return id;
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
        if (costs->owned_count && family == FAMILY_REPLICAS) {
            l->released[state->worker][FAMILIES * stage + family] = add_broadcasts(l, state, stage, identity, awaited);
            continue;
        }
        uint32_t id = program_add_collective(l->builder, state->worker, costs->gather_group[family],
                                             STAGESIM_ALL_GATHER, identity, costs->gather[family]);
        if (awaited != NONE)
            program_add_wait(l->builder, state->worker, id, awaited);
        l->released[state->worker][FAMILIES * stage + family] = id;
    }
}

static uint32_t add_norm(struct lowering *l, struct worker_state *state, uint32_t iteration)
{
    if (l->norm_group == NONE)
        return NONE;
    uint32_t id = program_add_collective(l->builder, state->worker, l->norm_group, STAGESIM_ALL_REDUCE,
                                         identify_step(STAGESIM_OPTIMIZER, NONE, iteration), l->norm_cost);
    program_add_wait(l->builder, state->worker, id, state->last);
    for (uint32_t i = 0; i < state->ready_count; i++)
        lowering_await_sync(l, state, state->ready[i], id);
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
        lowering_await_sync(l, state, stage, id);
    lowering_await_pending(l, state, id);
    released[FAMILY_REPLICAS] = released[FAMILY_EXPERTS] = NONE; /* the compute stream's order says it */
    add_weight_gather(l, state, stage, iteration, id);
}

void lowering_step(struct lowering *l, struct worker_state *state, uint32_t iteration)
{
    for (uint32_t i = 0; i < state->ready_count; i++) {
        uint32_t stage = state->ready[i];
        if (state->owed[stage])
            lowering_add_whole_sync(l, state, stage, iteration, true);
        if (state->owed_outer[stage])
            lowering_add_outer_sync(l, state, stage, iteration, at(l->costs->gradient, stage));
    }
    lowering_add_tied_sync(l, state, iteration);
    uint32_t norm = add_norm(l, state, iteration);
    for (uint32_t i = 0; i < state->ready_count; i++) {
        uint32_t stage = state->ready[i];
        add_optimizer(l, state, stage, iteration, norm);
        lowering_outer_step(l, state, stage, iteration);
        size_t cell = (size_t)(iteration - l->repetition) * l->plan->stages + stage;
        for (enum family family = FAMILY_REPLICAS; family < FAMILIES; family++) {
            state->updated[FAMILIES * cell + family] = l->released[state->worker][FAMILIES * stage + family];
            state->updated_shard[FAMILIES * cell + family] = l->updated_shard[state->worker][FAMILIES * stage + family];
        }
    }
    state->ready_count = 0;
}
