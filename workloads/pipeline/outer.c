/* SPDX-License-Identifier: Apache-2.0 */
/* Outer steps: islands of replicas that agree on a stage's weights after some iterations. */
#include "workloads/pipeline/lowering.h"

void lowering_add_outer_costs(struct lowering *l)
{
    const struct stagesim_pipeline *costs = l->costs;
    uint32_t axes = lowering_axes(l->mesh, costs->outer_axes);
    if (!costs->outer_axes || mesh_product(l->mesh, axes) < 2)
        return;
    l->outer = arena_array(l->arena, l->plan->stages, sizeof *l->outer);
    for (uint32_t stage = 0; stage < l->plan->stages; stage++) {
        uint32_t worker = plan_worker(l->plan, 0, stage);
        struct outer_step *outer = &l->outer[stage];
        *outer = (struct outer_step){.sent = NONE, .group = program_add_group(l->builder, axes, &worker, 1)};
        outer->before = add_cost(l, (struct stagesim_cost){.seconds = at(costs->outer_before, stage)});
        outer->after = add_cost(l, (struct stagesim_cost){.seconds = at(costs->outer_after, stage)});
        outer->exchange = add_cost(l, (struct stagesim_cost){.bytes = at(costs->outer_bytes, stage)});
        const double gathered[FAMILIES] = {at(costs->outer_gathered, stage), at(costs->outer_expert_gathered, stage)};
        for (enum family family = FAMILY_REPLICAS; family < FAMILIES; family++)
            outer->gather[family] =
                gathered[family] > 0 ? add_cost(l, (struct stagesim_cost){.bytes = gathered[family]}) : NONE;
    }
}

static uint32_t send(struct lowering *l, const struct worker_state *state, uint32_t stage, uint32_t iteration)
{
    const struct outer_step *outer = &l->outer[stage];
    uint32_t before = program_add_compute(l->builder, state->worker,
                                          identify_step(STAGESIM_OPTIMIZER, stage, iteration), outer->before);
    lowering_await_sync(l, state, stage, before);
    uint32_t id = program_add_collective(l->builder, state->worker, outer->group, STAGESIM_ALL_REDUCE,
                                         identify_step(STAGESIM_GRADIENT_SYNC, stage, iteration), outer->exchange);
    program_add_wait(l->builder, state->worker, id, before);
    return id;
}

/* The island's ranks put together what each has of the new weights; sharded ones are put together for each use. */
static void hand_out(struct lowering *l, const struct worker_state *state, uint32_t stage, uint32_t iteration,
                     uint32_t applied)
{
    const struct stage_costs *costs = &l->stages[stage];
    for (enum family family = FAMILY_REPLICAS; family < FAMILIES; family++) {
        size_t cell = FAMILIES * (size_t)stage + family;
        uint32_t group = costs->gather_group[family] != NONE ? costs->gather_group[family] : costs->group[family];
        if (l->costs->sharding == STAGESIM_SHARD_PARAMETERS && group != NONE)
            l->updated_shard[state->worker][cell] = applied;
        if (l->outer[stage].gather[family] == NONE || group == NONE)
            continue;
        uint32_t id = program_add_collective(l->builder, state->worker, group, STAGESIM_ALL_GATHER,
                                             identify_step(STAGESIM_PARAMETER_GATHER, stage, iteration),
                                             l->outer[stage].gather[family]);
        program_add_wait(l->builder, state->worker, id, applied);
        l->released[state->worker][cell] = id;
    }
}

static void apply(struct lowering *l, struct worker_state *state, uint32_t stage, uint32_t iteration)
{
    struct outer_step *outer = &l->outer[stage];
    uint32_t id = program_add_compute(l->builder, state->worker, identify_step(STAGESIM_OPTIMIZER, stage, iteration),
                                      outer->after);
    program_add_wait(l->builder, state->worker, id, outer->sent);
    outer->sent = NONE;
    hand_out(l, state, stage, iteration, id);
}

void lowering_outer_step(struct lowering *l, struct worker_state *state, uint32_t stage, uint32_t iteration)
{
    if (!l->outer)
        return;
    struct outer_step *outer = &l->outer[stage];
    if (outer->sent != NONE && outer->due == iteration)
        apply(l, state, stage, iteration);
    if ((iteration + 1) % l->costs->outer_interval)
        return;
    outer->sent = send(l, state, stage, iteration);
    outer->due = iteration + l->costs->outer_delay;
    if (outer->due == iteration)
        apply(l, state, stage, iteration);
}
