/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/pipeline/lowering.h"

/* What the worker computes after an operation waits until its message has arrived. */
static void block(struct lowering *l, uint32_t worker, uint32_t operation, uint32_t send)
{
    uint32_t next = program_next_compute(l->builder, worker, operation);
    if (next != NONE)
        program_add_wait(l->builder, worker, next, send);
}

/* The gradient's message to the previous stage, the activation's to the next. */
static void add_message(struct lowering *l, uint32_t worker, const struct slot *slot, uint32_t together)
{
    bool forward = slot->kind == SLOT_FORWARD;
    if (forward ? slot->stage + 1u == l->plan->stages : slot->stage == 0)
        return;
    uint32_t stage = forward ? slot->stage + 1u : slot->stage - 1u;
    uint32_t peer = plan_worker(l->plan, slot->pipeline, stage);
    if (peer == worker)
        return; /* the next stage is on the same worker, whose order takes care */
    size_t target = cell_of(l, stage, slot->micro_batch);
    uint32_t boundary = forward ? slot->stage : stage, half = slot->part == PART_B;
    uint32_t from = forward ? l->forward[cell(l, slot)] : l->backward[2 * cell(l, slot) + half];
    uint32_t to = forward ? l->forward_first[target] : l->backward_first[2 * target + half];
    struct stagesim_identity identity = identify(l, slot, forward ? STAGESIM_ACTIVATION : STAGESIM_GRADIENT);
    struct slot sender = *slot;
    sender.stage = (uint16_t)boundary;
    const struct stage_costs *costs = costs_of(l, &sender);
    uint32_t back = slot->part == PART_WHOLE ? costs->message_back : costs->half_message;
    uint32_t cost = forward ? costs->message[together] : back;
    uint32_t send, receive;
    program_add_message(l->builder, worker, peer, identity, cost, &send, &receive);
    program_add_wait(l->builder, worker, send, from);
    program_add_wait(l->builder, peer, to, receive);
    if (l->blocking)
        block(l, worker, from, send);
}

void lowering_add_messages(struct lowering *l, uint32_t worker)
{
    const struct plan_order *order = &l->plan->orders[worker];
    for (size_t i = 0; i < order->count; i++) {
        const struct slot *slot = &order->slots[i];
        bool pair =
            i + 1 < order->count && slot[1].joined && slot->kind == SLOT_FORWARD && slot[1].kind == SLOT_FORWARD;
        if (slot->kind == SLOT_FORWARD || slot->kind == SLOT_BACKWARD)
            add_message(l, worker, slot, pair ? 2 : 1);
        i += pair; /* both travel in one message */
    }
}

static void add_eviction(struct lowering *l, uint32_t worker, const struct slot *slot)
{
    struct stash_move *move = &l->moves[cell(l, slot)];
    uint32_t send;
    program_add_message(l->builder, worker, l->plan->partners[worker], identify(l, slot, STAGESIM_EXCHANGE),
                        l->stages[slot->stage].stash_message, &send, &move->arrival);
    program_add_wait(l->builder, worker, send, move->evict_own);
}

/* The partner sends the stash back; it has come before, and the backward waits for it. */
static void add_return(struct lowering *l, uint32_t worker, const struct slot *slot)
{
    const struct stash_move *move = &l->moves[cell(l, slot)];
    uint32_t owner = plan_worker(l->plan, slot->pipeline, slot->stage), send, receive;
    program_add_message(l->builder, worker, owner, identify(l, slot, STAGESIM_EXCHANGE),
                        l->stages[slot->stage].stash_message, &send, &receive);
    program_add_wait(l->builder, worker, send, move->fetch_partner);
    program_add_wait(l->builder, worker, send, move->arrival);
    program_add_wait(l->builder, owner, l->backward_first[2 * cell(l, slot)], receive);
}

/* To host memory as soon as the forward has made it. */
static void add_offload(struct lowering *l, uint32_t worker, const struct slot *slot)
{
    struct stash_move *move = &l->moves[cell(l, slot)];
    program_add_message(l->builder, worker, worker, identify(l, slot, STAGESIM_OFFLOAD),
                        l->stages[slot->stage].to_memory, &move->arrival, NULL);
    program_add_wait(l->builder, worker, move->arrival, l->forward[cell(l, slot)]);
}

/* From host memory once its slot's turn has come; the backward waits for it. */
static void add_load(struct lowering *l, uint32_t worker, const struct slot *slot)
{
    const struct stash_move *move = &l->moves[cell(l, slot)];
    uint32_t send, receive;
    program_add_message(l->builder, worker, worker, identify(l, slot, STAGESIM_LOAD),
                        l->stages[slot->stage].from_memory, &send, &receive);
    program_add_wait(l->builder, worker, send, move->fetch_own);
    program_add_wait(l->builder, worker, send, move->arrival);
    program_add_wait(l->builder, worker, l->backward_first[2 * cell(l, slot)], receive);
}

void lowering_add_stash_messages(struct lowering *l, enum slot_kind kind)
{
    for (uint32_t worker = 0; worker < l->plan->workers; worker++)
        for (size_t i = 0; i < l->plan->orders[worker].count; i++) {
            const struct slot *slot = &l->plan->orders[worker].slots[i];
            bool own = plan_worker(l->plan, slot->pipeline, slot->stage) == worker;
            if (slot->kind == kind && plan_offloads(l->plan, worker))
                (kind == SLOT_EVICT ? add_offload : add_load)(l, worker, slot);
            else if (slot->kind == kind && kind == SLOT_EVICT && own)
                add_eviction(l, worker, slot);
            else if (slot->kind == kind && kind == SLOT_FETCH && !own)
                add_return(l, worker, slot);
        }
}
