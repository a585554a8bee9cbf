/* SPDX-License-Identifier: Apache-2.0 */
/* What slots cost, alone and as one. */
#include "base/arena.h"
#include "workloads/pipeline/lowering.h"

uint32_t lowering_slot_cost(const struct lowering *l, const struct slot *slot)
{
    const struct stage_costs *stage = costs_of(l, slot);
    switch (slot->kind) {
    case SLOT_FORWARD:
        return stage->forward[1];
    case SLOT_WEIGHT:
        return stage->weight;
    default:
        return slot->part != PART_WHOLE ? stage->half : slot->split ? stage->input : stage->backward;
    }
}

enum stagesim_kind lowering_slot_work(const struct slot *slot)
{
    return slot->kind == SLOT_FORWARD  ? STAGESIM_FORWARD
           : slot->kind == SLOT_WEIGHT ? STAGESIM_WEIGHT
                                       : STAGESIM_BACKWARD;
}

/* What a forward or a backward of a stage is shorter by in a braid. */
static double braided(const struct stagesim_pipeline *costs, uint32_t stage)
{
    return costs->block ? (at(costs->forward, stage) + at(costs->backward, stage) - costs->block[stage]) / 2 : 0;
}

static struct stagesim_cost second_cost(const struct lowering *l, const struct slot *slot)
{
    const struct stagesim_pipeline *costs = l->costs;
    uint32_t stage = slot->stage;
    double weight = at(costs->weight, stage), flops = at(costs->weight_flops, stage);
    if (slot->kind == SLOT_WEIGHT)
        return (struct stagesim_cost){.seconds = weight, .flops = flops};
    if (slot->kind == SLOT_FORWARD)
        return (struct stagesim_cost){.seconds = at(costs->forward, stage),
                                      .flops = at(costs->forward_flops, stage),
                                      .memory = at(costs->activation, stage),
                                      .stash = chunk(l)};
    return (struct stagesim_cost){.seconds = at(costs->backward, stage) - (slot->split ? weight : 0),
                                  .flops = at(costs->backward_flops, stage) - (slot->split ? flops : 0)};
}

/* A forward and another slot as one. */
static struct stagesim_cost joint_cost(const struct lowering *l, const struct slot *forward, const struct slot *second,
                                       enum slot_joined joined)
{
    const struct stagesim_pipeline *costs = l->costs;
    struct stagesim_cost cost = second_cost(l, second);
    cost.seconds += at(costs->forward, forward->stage);
    cost.flops += at(costs->forward_flops, forward->stage);
    cost.memory += at(costs->activation, forward->stage);
    cost.stash += chunk(l);
    if (joined == SLOT_BRAIDED)
        cost.seconds -=
            braided(costs, forward->stage) + (second->kind == SLOT_WEIGHT ? 0 : braided(costs, second->stage));
    else if (costs->block) /* a stage's time is that of its forward with its backward; two share one at half each */
        cost.seconds = (costs->block[forward->stage] + costs->block[second->stage]) / 2 -
                       (second->split ? at(costs->weight, second->stage) : 0);
    return cost;
}

uint32_t lowering_block_cost(struct lowering *l, const struct slot *forward, const struct slot *second,
                             enum slot_joined joined)
{
    for (size_t i = l->block_count; i-- > 0;) {
        const struct block_cost *known = &l->blocks[i];
        if (known->forward_stage == forward->stage && known->second_stage == second->stage &&
            known->kind == second->kind && known->joined == joined && known->split == second->split)
            return known->cost;
    }
    l->blocks = array_grow(l->blocks, &l->block_capacity, l->block_count + 1, sizeof *l->blocks);
    l->blocks[l->block_count++] =
        (struct block_cost){forward->stage, second->stage,   add_cost(l, joint_cost(l, forward, second, joined)),
                            second->kind,   (uint8_t)joined, second->split};
    return l->blocks[l->block_count - 1].cost;
}
