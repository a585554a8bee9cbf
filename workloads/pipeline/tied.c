/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of which the first and the last stage have a copy each: a tied embedding. */
#include "workloads/pipeline/lowering.h"

static bool is_among(const uint32_t *workers, uint32_t count, uint32_t worker)
{
    uint32_t i = 0;
    while (i < count && workers[i] != worker)
        i++;
    return i < count;
}

void lowering_add_tied_group(struct lowering *l)
{
    const struct plan *plan = l->plan;
    uint32_t *workers = arena_array(l->arena, 2 * (size_t)plan->pipelines, sizeof *workers),
             *others = arena_array(l->arena, plan->pipelines, sizeof *others);
    uint32_t first = lowering_holders(plan, 0, workers), last = lowering_holders(plan, plan->stages - 1, others),
             count = first;
    for (uint32_t i = 0; i < last; i++)
        if (!is_among(workers, first, others[i]))
            workers[count++] = others[i];
    bool apart = count > first || first > last;
    l->tied_group = NONE;
    if (!apart || l->costs->tied_gradient <= 0)
        return;
    l->tied_group = program_add_group(l->builder, 0, workers, count);
    l->tied_cost = add_cost(l, (struct stagesim_cost){.bytes = l->costs->tied_gradient});
    l->tied_stage = arena_array(l->arena, plan->workers, sizeof *l->tied_stage);
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        l->tied_stage[worker] = is_among(workers, first, worker)   ? 0
                                : is_among(workers, count, worker) ? plan->stages - 1
                                                                   : NONE;
}

/* All that the worker's steps would wait for is awaited first, and they wait for the exchange instead. Under an
 * asynchronous schedule the first stage is iterations behind the last, whose steps cannot wait for it: the sum counts
 * in a later one. */
void lowering_add_tied_sync(struct lowering *l, struct worker_state *state, uint32_t iteration)
{
    uint32_t stage = l->tied_group == NONE ? NONE : l->tied_stage[state->worker];
    if (stage == NONE || !is_among(state->ready, state->ready_count, stage))
        return;
    uint32_t id = program_add_collective(l->builder, state->worker, l->tied_group, STAGESIM_ALL_REDUCE,
                                         identify_step(STAGESIM_GRADIENT_SYNC, stage, iteration), l->tied_cost);
    program_add_wait(l->builder, state->worker, id, state->last);
    for (uint32_t i = 0; i < state->ready_count; i++)
        lowering_await_sync(l, state, state->ready[i], id);
    if (l->plan->asynchronous)
        return;
    for (uint32_t i = 0; i < state->ready_count; i++) {
        size_t index = (size_t)FAMILIES * state->ready[i] + FAMILY_REPLICAS;
        state->sync[index] = l->released[state->worker][index] = id;
    }
}
