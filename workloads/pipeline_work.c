/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/pipeline_lowering.h"

#include <string.h>

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

/* A computation, after what is pending; what runs beside it is pending then. */
static uint32_t add_compute(struct lowering *l, struct worker_state *state, struct stagesim_identity identity, uint32_t cost)
{
    uint32_t id = program_add_compute(l->builder, state->worker, identity, cost);
    lowering_await_pending(l, state, id);
    memcpy(state->pending, state->beside, state->beside_count * sizeof *state->beside);
    state->pending_count = state->beside_count;
    state->beside_count = 0;
    state->last = id;
    return id;
}

/* A moment that others can wait for, or that waits for others. */
static uint32_t add_mark(struct lowering *l, struct worker_state *state, struct stagesim_identity identity)
{
    identity.kind = STAGESIM_OTHER;
    return add_compute(l, state, identity, l->nothing_cost);
}

/* The exchanges that a computation begins with; `opens`: it is the first of its slot. Returns the operation that messages of the slot come
 * before, or NONE: the computation itself. */
static uint32_t begin(struct lowering *l, struct worker_state *state, const struct exchange_list *list, struct stagesim_identity identity,
                      unsigned n, bool opens)
{
    uint32_t first = lowering_add_exchanges(l, state, list, MOMENT(BEFORE), identity, n);
    if (opens && first == NONE && lowering_has_exchanges(list, MOMENT(BESIDE)))
        first = add_mark(l, state, identity);
    lowering_add_beside(l, state, list, MOMENT(BESIDE), identity, n);
    return first;
}

/* After a slot's newest operation: what others wait for is one operation. */
static void settle(struct lowering *l, struct worker_state *state, struct stagesim_identity identity)
{
    bool more = state->pending_count > 1 || (state->pending_count && state->pending[0] != state->last);
    if (more && l->plan->workers > 1)
        add_mark(l, state, identity);
}

/* Costs of a slot or a part of it. */
struct work {
    uint32_t cost, rest; /* rest: the weight's gradient where exchanges run beside it, which is then not in `cost`; otherwise NONE */
    const struct exchange_list *exchanges;
    unsigned n; /* micro-batches as one; 0: a half */
};

/* A computation and its exchanges; `first` (if not NULL) becomes the operation that it begins with. Returns the computation. */
static uint32_t add_work(struct lowering *l, struct worker_state *state, struct stagesim_identity identity, struct work work,
                         uint32_t *first)
{
    static const struct exchange_list none;
    const struct exchange_list *list = work.exchanges ? work.exchanges : &none;
    uint32_t begun = begin(l, state, list, identity, work.n, first != NULL);
    uint32_t id = add_compute(l, state, identity, work.cost);
    if (first)
        *first = begun == NONE ? id : begun;
    if (work.rest != NONE) {
        struct stagesim_identity rest = identity;
        rest.kind = STAGESIM_WEIGHT;
        lowering_add_beside(l, state, list, MOMENT(BESIDE_WEIGHT), identity, work.n);
        add_compute(l, state, rest, work.rest);
    }
    lowering_add_exchanges(l, state, list, MOMENT(AFTER) | (work.rest == NONE ? MOMENT(BESIDE_WEIGHT) : 0), identity, work.n);
    return id;
}

/* Costs of a whole slot. */
static struct work work_of(const struct lowering *l, const struct slot *slot)
{
    const struct stage_costs *stage = &l->stages[slot->stage];
    struct work work = {.cost = slot_cost(l, slot), .rest = NONE, .n = slot->part == PART_WHOLE};
    if (slot->kind == SLOT_WEIGHT)
        return work;
    work.exchanges = slot->kind == SLOT_FORWARD ? &stage->forward_exchanges : &stage->backward_exchanges;
    if (slot->kind == SLOT_BACKWARD && slot->part == PART_WHOLE && !slot->split &&
        lowering_has_exchanges(work.exchanges, MOMENT(BESIDE_WEIGHT))) {
        work.cost = stage->input;
        work.rest = stage->weight;
    }
    return work;
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
    const struct exchange_list *one = &l->stages[first->stage].forward_exchanges, *two = &l->stages[backward->stage].backward_exchanges;
    unsigned moments = MOMENT(BEFORE) | MOMENT(BESIDE) | MOMENT(AFTER) | MOMENT(BESIDE_WEIGHT);
    uint32_t id = add_compute(l, state, identify(l, forward, kind), cost);
    /* Two forwards as one are wholly in the operation's own cost; what they add is no more. */
    struct block block = {.kind = (uint8_t)slot_work(other),
                          .part = other->part,
                          .stage = other->stage,
                          .pipeline = other->pipeline,
                          .micro_batch = other->micro_batch % per_iteration(l),
                          .cost = forwards ? l->nothing_cost : l->stages[other->stage].released[other->split]};
    program_add_block(l->builder, state->worker, block);
    lowering_add_exchanges(l, state, forwards ? one : &l->stages[forward->stage].forward_exchanges, moments, identify(l, forward, kind),
                           forwards ? 2 : 1);
    if (!forwards)
        lowering_add_exchanges(l, state, two, moments, identify(l, forward, kind), 1);
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
    uint32_t first;
    add_work(l, state, identity, work_of(l, slot), &first);
    settle(l, state, identity);
    remember(l, slot, first, state->last);
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
    uint32_t awaited = l->costs->late_sync || l->costs->late_gather ? state->last : state->boundary;
    if (awaited != NONE)
        program_add_wait(l->builder, state->worker, id, awaited);
    state->boundary = state->last;
    return id;
}

static struct work part_work(const struct part_costs *part, const struct slot *slot)
{
    if (slot->kind == SLOT_FORWARD)
        return (struct work){part->forward, NONE, &part->forward_exchanges, 1};
    if (slot->kind == SLOT_WEIGHT)
        return (struct work){part->weight, NONE, NULL, 1};
    if (slot->split)
        return (struct work){part->input, NONE, &part->backward_exchanges, 1};
    if (lowering_has_exchanges(&part->backward_exchanges, MOMENT(BESIDE_WEIGHT)))
        return (struct work){part->input, part->weight, &part->backward_exchanges, 1};
    return (struct work){part->backward, NONE, &part->backward_exchanges, 1};
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

/* One part of a slot; `first` as in add_work. */
static void add_part(struct lowering *l, struct worker_state *state, const struct slot *slot, uint32_t index, uint32_t *first)
{
    const struct part_costs *part = &l->stages[slot->stage].parts[index];
    struct stagesim_identity identity = identify(l, slot, slot_work(slot));
    uint32_t gather = begins_layer(&l->stages[slot->stage], slot, index) ? add_gather(l, state, identity, part->gather) : NONE;
    uint32_t id = add_work(l, state, identity, part_work(part, slot), first);
    if (gather != NONE)
        program_add_wait(l->builder, state->worker, id, gather);
}

/* All parts of a slot in order, gradients synchronised as buckets fill. */
static void add_in_parts(struct lowering *l, struct worker_state *state, const struct slot *slot)
{
    uint32_t count = l->stages[slot->stage].part_count, first = NONE;
    bool syncs = completes_gradient(slot) && lowering_syncs_parts(l, state, slot), complete = lowering_completes(l, state, slot);
    for (uint32_t step = 0; step < count; step++) {
        uint32_t index = slot->kind == SLOT_FORWARD ? step : count - 1 - step;
        add_part(l, state, slot, index, step ? NULL : &first);
        state->bucket += syncs ? l->stages[slot->stage].parts[index].gradient : 0;
        if (syncs && ends_layer(&l->stages[slot->stage], slot, index) && (state->bucket >= l->costs->bucket || step + 1 == count)) {
            lowering_add_sync(l, state, slot->stage, iteration_of(l, slot), state->bucket, complete);
            state->bucket = 0;
        }
    }
    settle(l, state, identify(l, slot, slot_work(slot)));
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
