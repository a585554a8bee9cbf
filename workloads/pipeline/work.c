/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/pipeline/lowering.h"

#include <string.h>

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

/* The updates (one of each family) that a forward's weights come from. Asynchronous training that updates once per
 * iteration leaves as many updates as it is stale for the synchronisation to finish; otherwise it is the newest one.
 * `newest` and `each` are the worker's `released` and `updated`, or those of its shard. NULL: there is none yet. */
static uint32_t *weights_of(const struct lowering *l, const struct worker_state *state, const struct slot *slot,
                            uint32_t *newest, uint32_t *each)
{
    if (!l->plan->asynchronous || l->plan->steps_each)
        return &newest[FAMILIES * slot->stage];
    uint32_t iteration = slot->micro_batch / per_iteration(l), age = 1 + l->plan->staleness[state->worker];
    return iteration < age ? NULL : &each[FAMILIES * ((size_t)(iteration - age) * l->plan->stages + slot->stage)];
}

/* An operation waits for an update, which then need not be waited for again. */
static void await_update(const struct lowering *l, const struct worker_state *state, uint32_t id, uint32_t *update)
{
    if (*update != NONE)
        program_add_wait(l->builder, state->worker, id, *update);
    *update = NONE;
}

/* A stage's weights are used only after they were updated. */
static void await_weights(const struct lowering *l, const struct worker_state *state, const struct slot *slot,
                          uint32_t id)
{
    uint32_t *updates = weights_of(l, state, slot, l->released[state->worker], state->updated);
    for (enum family family = FAMILY_REPLICAS; updates && family < FAMILIES; family++)
        await_update(l, state, id, &updates[family]);
}

/* A computation, after what is pending; what runs beside it is pending then. */
static uint32_t add_compute(struct lowering *l, struct worker_state *state, struct stagesim_identity identity,
                            uint32_t cost)
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

/* The exchanges that a computation begins with; `opens`: it is the first of its slot. Returns the operation that
 * messages of the slot come before, or NONE: the computation itself. */
static uint32_t begin(struct lowering *l, struct worker_state *state, const struct exchange_list *list,
                      struct stagesim_identity identity, unsigned n, bool opens)
{
    uint32_t first = NONE;
    if (lowering_has_exchanges(list, MOMENT(BEFORE)))
        first = lowering_add_exchanges(l, state, list, MOMENT(BEFORE), identity, n);
    if (!lowering_has_exchanges(list, MOMENT(BESIDE)))
        return first;
    if (opens && first == NONE)
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
    uint32_t cost, rest; /* rest: the weight's gradient where exchanges run beside it, which is then not in `cost`;
                            otherwise NONE */
    const struct exchange_list *exchanges;
    unsigned n; /* micro-batches as one; 0: a half */
};

/* A computation and its exchanges; `first` (if not NULL) becomes the operation that it begins with. Returns the
 * computation. */
static uint32_t add_work(struct lowering *l, struct worker_state *state, struct stagesim_identity identity,
                         struct work work, uint32_t *first)
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
    unsigned after = MOMENT(AFTER) | (work.rest == NONE ? MOMENT(BESIDE_WEIGHT) : 0);
    if (lowering_has_exchanges(list, after))
        lowering_add_exchanges(l, state, list, after, identity, work.n);
    return id;
}

/* Costs of a whole slot. */
static struct work work_of(const struct lowering *l, const struct slot *slot)
{
    const struct stage_costs *stage = costs_of(l, slot);
    struct work work = {.cost = lowering_slot_cost(l, slot), .rest = NONE, .n = slot->part == PART_WHOLE};
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

/* Exchanges of a block: those that are hidden, or `all`, begin with it, behind a mark that messages come before.
 * Returns the mark, or NONE. */
static uint32_t begin_block(struct lowering *l, struct worker_state *state, const struct exchange_list *lists[2],
                            struct stagesim_identity identity, bool all)
{
    bool hides = false;
    for (int i = 0; i < 2; i++)
        for (uint32_t k = 0; k < lists[i]->count; k++)
            hides |= all || lists[i]->items[k].hidden;
    uint32_t first = hides ? add_mark(l, state, identity) : NONE;
    for (int i = 0; i < 2 && hides; i++)
        lowering_add_hidden(l, state, lists[i], identity, all);
    return first;
}

/* What the second slot of a block gives back at its end. */
static uint32_t given_back(const struct lowering *l, const struct slot *slot)
{
    const struct stage_costs *stage = costs_of(l, slot);
    if (slot->kind == SLOT_FORWARD)
        return l->nothing_cost;
    return stage->released[slot->kind == SLOT_WEIGHT ? 2 : slot->split];
}

/* A forward and a backward, or a braided pair, as one computation. */
static void add_block(struct lowering *l, struct worker_state *state, const struct slot *first,
                      const struct slot *second)
{
    static const struct exchange_list none;
    bool braid = second->joined == SLOT_BRAIDED;
    const struct slot *forward = first->kind == SLOT_FORWARD ? first : second,
                      *other = forward == first ? second : first;
    const struct stage_costs *stage = costs_of(l, other);
    const struct exchange_list *lists[2] = {&costs_of(l, forward)->forward_exchanges,
                                            other->kind == SLOT_FORWARD  ? &stage->forward_exchanges
                                            : other->kind == SLOT_WEIGHT ? &none
                                                                         : &stage->backward_exchanges};
    struct stagesim_identity identity =
        identify(l, forward, other->kind == SLOT_FORWARD ? STAGESIM_FORWARD : STAGESIM_BLOCK);
    uint32_t begun = begin_block(l, state, lists, identity, braid);
    uint32_t id = add_compute(l, state, identity, lowering_block_cost(l, forward, other, second->joined));
    struct block block = {.kind = (uint8_t)lowering_slot_work(other),
                          .part = other->part,
                          .stage = other->stage,
                          .pipeline = other->pipeline,
                          .micro_batch = other->micro_batch % per_iteration(l),
                          .cost = given_back(l, other)};
    program_add_block(l->builder, state->worker, block);
    for (int i = 0; i < 2 && !braid; i++)
        lowering_add_exchanges(l, state, lists[i], ALL_MOMENTS | (begun != NONE ? NOT_HIDDEN : 0), identity, 1);
    settle(l, state, identity);
    remember(l, first, begun == NONE ? id : begun, state->last);
    remember(l, second, begun == NONE ? id : begun, state->last);
}

/* Two forwards as one computation; its cost is that of both. */
static void add_pair(struct lowering *l, struct worker_state *state, const struct slot *first,
                     const struct slot *second)
{
    struct stagesim_identity identity = identify(l, first, STAGESIM_FORWARD);
    uint32_t id = add_compute(l, state, identity, costs_of(l, first)->forward[2]);
    struct block block = {.kind = (uint8_t)lowering_slot_work(second),
                          .part = second->part,
                          .stage = second->stage,
                          .pipeline = second->pipeline,
                          .micro_batch = second->micro_batch % per_iteration(l),
                          .cost = l->nothing_cost};
    program_add_block(l->builder, state->worker, block);
    lowering_add_exchanges(l, state, &costs_of(l, first)->forward_exchanges, ALL_MOMENTS, identity, 2);
    remember(l, first, id, state->last);
    remember(l, second, id, state->last);
}

static bool moves_stash(const struct slot *slot)
{
    return slot->kind == SLOT_EVICT || slot->kind == SLOT_FETCH;
}

/* A slot of a moving stash: an operation without time that marks the moment at which room is taken or given back; of
 * one that comes from host memory, the moment from which it may. Messages to host memory and back take and give room
 * themselves. */
static void add_move(struct lowering *l, struct worker_state *state, const struct slot *slot)
{
    uint32_t worker = state->worker;
    bool own = plan_worker(l->plan, slot->pipeline, slot->stage) == worker, evict = slot->kind == SLOT_EVICT;
    const struct stage_costs *costs = costs_of(l, slot);
    bool offloads = plan_offloads(l->plan, worker);
    if (offloads && evict)
        return;
    if (offloads) {
        l->moves[cell(l, slot)].fetch_own =
            add_compute(l, state, identify(l, slot, STAGESIM_EXCHANGE), l->nothing_cost);
        return;
    }
    uint32_t id =
        add_compute(l, state, identify(l, slot, STAGESIM_EXCHANGE), own == evict ? costs->released[0] : costs->taken);
    struct stash_move *move = &l->moves[cell(l, slot)];
    *(evict ? own ? &move->evict_own : &move->evict_partner : own ? &move->fetch_own : &move->fetch_partner) = id;
}

/* A forward, or a share of it, once more. The operation that it begins with. */
static uint32_t add_again(struct lowering *l, struct worker_state *state, const struct slot *slot)
{
    const struct stage_costs *stage = costs_of(l, slot);
    struct stagesim_identity identity = identify(l, slot, STAGESIM_OTHER);
    uint32_t first;
    add_work(l, state, identity, (struct work){stage->again, NONE, &stage->again_exchanges, 1}, &first);
    settle(l, state, identity);
    return first;
}

/* A forward once more when its gradient has come, and then its backward. */
static void add_again_and_backward(struct lowering *l, struct worker_state *state, const struct slot *slot,
                                   const struct slot *backward)
{
    uint32_t first = add_again(l, state, slot);
    lowering_add_slot(l, state, backward, NULL);
    for (size_t half = 0; half < 2; half++)
        l->backward_first[2 * cell(l, backward) + half] = first;
}

static void add_whole(struct lowering *l, struct worker_state *state, const struct slot *slot)
{
    struct stagesim_identity identity = identify(l, slot, lowering_slot_work(slot));
    uint32_t first;
    add_work(l, state, identity, work_of(l, slot), &first);
    settle(l, state, identity);
    remember(l, slot, first, state->last);
}

/* ---- in parts ---- */

/* What the gather of the next layer's weights waits for. */
static uint32_t gather_awaits(const struct lowering *l, const struct worker_state *state, uint32_t stage)
{
    const uint32_t *ahead = l->costs->gathers_ahead;
    if (l->costs->late_sync || (ahead ? !ahead[stage] : l->costs->late_gather))
        return state->last;
    return state->boundaries[ahead ? ahead[stage] - 1 : 0];
}

/* Another layer begins, whose weights were gathered. */
static void note_boundary(struct worker_state *state)
{
    memmove(state->boundaries + 1, state->boundaries, (STAGESIM_AHEAD_MAX - 1) * sizeof *state->boundaries);
    state->boundaries[0] = state->last;
}

/* Gathers a layer's weights while layers before it run, or where nothing overlaps, after them. The first gather for
 * a forward after an update also waits for that: others in its stream are behind it. Fills gathers[family] with the
 * last piece, NONE where there is none. */
static void add_gathers(struct lowering *l, struct worker_state *state, const struct slot *slot,
                        const struct part_costs *part, uint32_t gathers[FAMILIES])
{
    const struct stage_costs *stage = &l->stages[slot->stage];
    bool kept = (l->costs->keep_gathered && slot->kind == SLOT_BACKWARD) || slot->kind == SLOT_WEIGHT, any = false;
    uint32_t awaited = gather_awaits(l, state, slot->stage), *updates = NULL;
    struct stagesim_identity identity = identify(l, slot, STAGESIM_PARAMETER_GATHER);
    if (slot->kind == SLOT_FORWARD)
        updates = weights_of(l, state, slot, l->updated_shard[state->worker], state->updated_shard);
    for (enum family family = FAMILY_REPLICAS; family < FAMILIES; family++) {
        uint32_t group = stage->gather_group[family];
        gathers[family] = NONE;
        if (part->gather[family] == NONE || group == NONE || kept)
            continue;
        for (uint32_t piece = 0; piece < part->gather_pieces[family]; piece++) {
            gathers[family] = program_add_collective(l->builder, state->worker, group, STAGESIM_ALL_GATHER, identity,
                                                     part->gather[family]);
            if (awaited != NONE)
                program_add_wait(l->builder, state->worker, gathers[family], awaited);
            if (updates)
                await_update(l, state, gathers[family], &updates[family]);
        }
        any = true;
    }
    if (any)
        note_boundary(state);
}

static struct work part_work(const struct lowering *l, const struct part_costs *part, const struct slot *slot)
{
    const uint32_t own[PART_COSTS] = {part->forward, part->backward, part->input, part->weight};
    uint32_t number = slot->micro_batch / l->plan->slices % (per_iteration(l) / l->plan->slices);
    const uint32_t *costs = part->sets ? part->sets[number % l->costs->factor_sets] : own;
    if (slot->kind == SLOT_FORWARD)
        return (struct work){costs[0], NONE, &part->forward_exchanges, 1};
    if (slot->kind == SLOT_WEIGHT)
        return (struct work){costs[3], NONE, NULL, 1};
    if (slot->split)
        return (struct work){costs[2], NONE, &part->backward_exchanges, 1};
    if (lowering_has_exchanges(&part->backward_exchanges, MOMENT(BESIDE_WEIGHT)))
        return (struct work){costs[2], costs[3], &part->backward_exchanges, 1};
    return (struct work){costs[1], NONE, &part->backward_exchanges, 1};
}

/* Whether a part is of another layer than the one at `next`, which may lie outside of the stage (also by wrapping). */
static bool changes_layer(const struct stage_costs *stage, uint32_t index, uint32_t next)
{
    return next >= stage->part_count || stage->parts[next].layer == NONE ||
           stage->parts[next].layer != stage->parts[index].layer;
}

static bool begins_layer(const struct stage_costs *stage, const struct slot *slot, uint32_t index)
{
    return changes_layer(stage, index, slot->kind == SLOT_FORWARD ? index - 1 : index + 1);
}

static bool ends_layer(const struct stage_costs *stage, const struct slot *slot, uint32_t index)
{
    return changes_layer(stage, index, slot->kind == SLOT_FORWARD ? index + 1 : index - 1);
}

/* One part of a slot, whose parts `list` are; `first` as in add_work. */
static void add_part(struct lowering *l, struct worker_state *state, const struct slot *slot,
                     const struct part_costs *list, uint32_t index, uint32_t *first)
{
    struct stagesim_identity identity = identify(l, slot, lowering_slot_work(slot));
    uint32_t gathers[FAMILIES] = {NONE, NONE};
    if (list == costs_of(l, slot)->parts && begins_layer(costs_of(l, slot), slot, index))
        add_gathers(l, state, slot, &list[index], gathers);
    uint32_t id = add_work(l, state, identity, part_work(l, &list[index], slot), first);
    for (enum family family = FAMILY_REPLICAS; family < FAMILIES; family++)
        if (gathers[family] != NONE)
            program_add_wait(l->builder, state->worker, id, gathers[family]);
}

/* Gradients of a part that is done wait with others until they fill a bucket, or `last`: there are no others. */
static void add_to_bucket(struct lowering *l, struct worker_state *state, const struct slot *slot, uint32_t index,
                          bool last)
{
    const struct stage_costs *stage = costs_of(l, slot);
    for (enum family family = FAMILY_REPLICAS; family < FAMILIES; family++)
        state->bucket[family] += stage->parts[index].gradient[family];
    bool full = state->bucket[FAMILY_REPLICAS] + state->bucket[FAMILY_EXPERTS] >= l->costs->bucket;
    if (!ends_layer(stage, slot, index) || !(full || last))
        return;
    lowering_add_sync(l, state, slot->stage, iteration_of(l, slot), state->bucket, lowering_completes(l, state, slot));
    state->bucket[FAMILY_REPLICAS] = state->bucket[FAMILY_EXPERTS] = 0;
}

/* All parts of a slot in order, gradients synchronised as buckets fill. */
static void add_in_parts(struct lowering *l, struct worker_state *state, const struct slot *slot)
{
    uint32_t count = costs_of(l, slot)->part_count, first = NONE;
    bool syncs = completes_gradient(slot) && lowering_syncs_parts(l, state, slot);
    for (uint32_t step = 0; step < count; step++) {
        uint32_t index = slot->kind == SLOT_FORWARD ? step : count - 1 - step;
        add_part(l, state, slot, costs_of(l, slot)->parts, index, step ? NULL : &first);
        if (syncs)
            add_to_bucket(l, state, slot, index, step + 1 == count);
    }
    settle(l, state, identify(l, slot, lowering_slot_work(slot)));
    remember(l, slot, first, state->last);
}

/* A slot whose parts stand apart from each other. */
static void add_coarse(struct lowering *l, struct worker_state *state, const struct slot *slot)
{
    const struct stage_costs *stage = costs_of(l, slot);
    uint32_t first = NONE;
    for (uint32_t step = 0; step < stage->coarse_count; step++) {
        uint32_t index = slot->kind == SLOT_FORWARD ? step : stage->coarse_count - 1 - step;
        add_part(l, state, slot, stage->coarse, index, step ? NULL : &first);
    }
    settle(l, state, identify(l, slot, lowering_slot_work(slot)));
    remember(l, slot, first, state->last);
}

static bool goes_in_parts(const struct lowering *l, const struct worker_state *state, const struct slot *slot)
{
    if (slot->part != PART_WHOLE || !costs_of(l, slot)->part_count)
        return false;
    return l->costs->fine || l->costs->sharding == STAGESIM_SHARD_PARAMETERS ||
           (completes_gradient(slot) && lowering_syncs_parts(l, state, slot));
}

void lowering_add_slot(struct lowering *l, struct worker_state *state, const struct slot *slot,
                       const struct slot *joined)
{
    if (slot_hands_on(slot))
        lowering_note_pass(l, state, slot);
    else if (slot_is_output(slot))
        lowering_add_output(l, state, slot);
    else if (slot->kind == SLOT_RECOMPUTE && joined)
        add_again_and_backward(l, state, slot, joined);
    else if (slot->kind == SLOT_RECOMPUTE)
        add_again(l, state, slot);
    else if (joined && joined->kind == slot->kind && joined->joined != SLOT_BRAIDED)
        add_pair(l, state, slot, joined);
    else if (joined)
        add_block(l, state, slot, joined);
    else if (moves_stash(slot))
        add_move(l, state, slot);
    else if (goes_in_parts(l, state, slot))
        add_in_parts(l, state, slot);
    else if (slot->part == PART_WHOLE && costs_of(l, slot)->coarse_count)
        add_coarse(l, state, slot);
    else
        add_whole(l, state, slot);
    const struct slot *both[] = {slot, joined};
    for (int i = 0; i < 2 && both[i]; i++)
        if (both[i]->kind == SLOT_BACKWARD && l->reduced)
            lowering_await_output(l, state, both[i]);
        else if (both[i]->kind == SLOT_FORWARD)
            await_weights(l, state, both[i], l->forward_first[cell(l, both[i])]);
}
