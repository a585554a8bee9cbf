/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from a backward: gradients that are complete, their synchronisation, the step behind the last one. */
#include "workloads/pipeline/lowering.h"

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
        lowering_add_whole_sync(l, state, slot->stage, iteration_of(l, slot), complete);
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
