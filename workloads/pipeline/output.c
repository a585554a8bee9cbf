/* SPDX-License-Identifier: Apache-2.0 */
/* Workers that share the output layer. What the last stage's forward has made goes to all of them, S computes a share
 * of the logits, and what the workers know of each token is reduced behind it. Behind S with one barrier, and behind T
 * with two, the gradient of the layer's input is reduced, which is as large as a message between stages. Collectives
 * run beside the computing. */
#include "workloads/pipeline/lowering.h"

/* What is reduced of a token's logits where the gradient is not: little, as of the gradient norm. */
static const double logits_bytes = 8;

/* Costs of S and of T of a stage's worker. */
static struct stagesim_cost cost_of(const struct lowering *l, const struct slot *slot)
{
    double share = plan_output_share(l->plan, slot);
    return (struct stagesim_cost){.seconds = share * at(l->costs->forward, slot->stage),
                                  .flops = share * at(l->costs->forward_flops, slot->stage)};
}

void lowering_add_output_costs(struct lowering *l)
{
    const struct plan *plan = l->plan;
    uint32_t last = plan->stages - 1;
    double message = last ? at(l->costs->message, last - 1) : 0;
    double reduced[2] = {plan->barriers == 1 ? message : logits_bytes, plan->barriers == 1 ? 0 : message};
    uint32_t *workers = arena_array(l->arena, plan->workers, sizeof *workers);
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        workers[worker] = worker;
    l->outputs = (struct output_costs){NONE, add_cost(l, (struct stagesim_cost){.bytes = message}), {NONE, NONE}, {0}};
    if (plan->workers > 1)
        l->outputs.handed = program_add_group(l->builder, 0, workers, plan->workers);
    for (uint32_t i = 0; i < plan->barriers && plan->workers > 1; i++) {
        l->outputs.reduced[i] = program_add_group(l->builder, 0, workers, plan->workers);
        l->outputs.reduced_cost[i] = add_cost(l, (struct stagesim_cost){.bytes = reduced[i]});
    }
    for (uint32_t stage = 0; stage < plan->stages; stage++)
        for (unsigned i = 0; i < 2; i++)
            l->stages[stage].output[i] =
                add_cost(l, cost_of(l, &(struct slot){.stage = (uint16_t)stage, .kind = (uint8_t)(SLOT_OUTPUT + i)}));
}

/* What goes out from the last stage: in the time of a pipelined broadcast, which is that of an all-gather of as much,
 * and not before the last worker comes to it. */
static uint32_t hand_out(struct lowering *l, struct worker_state *state, const struct slot *slot)
{
    uint32_t last = l->plan->stages - 1, id;
    if (l->outputs.handed == NONE)
        return NONE;
    id = program_add_collective(l->builder, state->worker, l->outputs.handed, STAGESIM_ALL_GATHER,
                                identify(l, slot, STAGESIM_ACTIVATION), l->outputs.handed_cost);
    if (slot->stage == last)
        program_add_wait(l->builder, state->worker, id, l->forward[cell_of(l, last, slot->micro_batch)]);
    return id;
}

void lowering_add_output(struct lowering *l, struct worker_state *state, const struct slot *slot)
{
    unsigned i = slot->kind - SLOT_OUTPUT;
    uint32_t awaited = i ? l->reduced[2 * cell(l, slot)] : hand_out(l, state, slot);
    uint32_t id =
        program_add_compute(l->builder, state->worker, identify(l, slot, STAGESIM_OTHER), costs_of(l, slot)->output[i]);
    lowering_await_pending(l, state, id);
    if (awaited != NONE)
        program_add_wait(l->builder, state->worker, id, awaited);
    state->last = id;
    if (l->outputs.reduced[i] == NONE)
        return;
    uint32_t reduced = program_add_collective(l->builder, state->worker, l->outputs.reduced[i], STAGESIM_ALL_REDUCE,
                                              identify(l, slot, STAGESIM_GRADIENT), l->outputs.reduced_cost[i]);
    program_add_wait(l->builder, state->worker, reduced, id);
    l->reduced[2 * cell(l, slot) + i] = reduced;
}

void lowering_await_output(struct lowering *l, const struct worker_state *state, const struct slot *slot)
{
    uint32_t reduced = l->reduced[2 * cell(l, slot) + l->plan->barriers - 1];
    if (slot->stage + 1u == l->plan->stages && reduced != NONE)
        program_add_wait(l->builder, state->worker, l->backward_first[2 * cell(l, slot)], reduced);
}
