/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/orders/order.h"

#include "base/arena.h"
#include "studies/orders/replicas.h"

#include <stdlib.h>
#include <string.h>

/* An operation, or half of a block. */
struct piece {
    uint32_t replica, step, rank, worker;
    double begin;
    uint64_t key;
    uint32_t operation;
    uint8_t half;   /* 1: the second of a block */
    bool not_known; /* the second of a block may be a backward or a weight gradient */
};

struct pieces {
    const struct recorded *recorded;
    const uint32_t *replicas;
    struct piece *pieces;
    size_t count, capacity;
};

static int by_order(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    if (a->replica != b->replica)
        return a->replica < b->replica ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->operation != b->operation)
        return a->operation < b->operation ? -1 : 1;
    return (a->half > b->half) - (a->half < b->half);
}

static bool is_known(const struct recorded_operation *operation)
{
    return operation->kind == RECORDED_COMPUTE && operation->micro_batch != RECORDED_NONE &&
           operation->stage != RECORDED_NO_STAGE && operation->step != RECORDED_NONE;
}

static void add(struct pieces *pieces, struct order *order, uint32_t index, struct piece piece)
{
    const struct recorded *recorded = pieces->recorded;
    uint32_t rank = recorded_rank_of(recorded, &recorded->operations[index]), stage = order_stage(piece.key);
    piece.replica = pieces->replicas[rank];
    piece.step = recorded->operations[index].step;
    piece.rank = rank;
    piece.worker = recorded->ranks[rank].stage == RECORDED_NONE ? stage : recorded->ranks[rank].stage;
    piece.begin = recorded->operations[index].begin;
    piece.operation = index;
    pieces->pieces = array_grow(pieces->pieces, &pieces->capacity, pieces->count + 1, sizeof *pieces->pieces);
    pieces->pieces[pieces->count++] = piece;
    uint32_t micro_batch = order_micro_batch(piece.key);
    order->workers = piece.worker >= order->workers ? piece.worker + 1 : order->workers;
    order->stages = stage >= order->stages ? stage + 1 : order->stages;
    order->micro_batches = micro_batch >= order->micro_batches ? micro_batch + 1 : order->micro_batches;
    order->weights += order_kind(piece.key) == SLOT_WEIGHT;
}

static void collect(struct pieces *pieces, struct order *order)
{
    const struct recorded *recorded = pieces->recorded;
    static const enum slot_kind kinds[RECORDED_WORKS] = {
        [RECORDED_BACKWARD] = SLOT_BACKWARD, [RECORDED_WEIGHT] = SLOT_WEIGHT};
    size_t block = 0;
    for (uint32_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        while (block < recorded->block_count && recorded->blocks[block].operation < i)
            block++;
        bool two = block < recorded->block_count && recorded->blocks[block].operation == i,
             works = operation->work >= RECORDED_FORWARD && operation->work <= RECORDED_WEIGHT;
        if (!is_known(operation) || !(works || two))
            continue;
        enum slot_kind kind = kinds[operation->work];
        add(pieces, order, i, (struct piece){.key = order_key(kind, operation->stage, operation->micro_batch)});
        if (!two)
            continue;
        const struct recorded_block *other = &recorded->blocks[block];
        kind = works ? kind : SLOT_BACKWARD;
        add(pieces, order, i,
            (struct piece){.key = order_key(kind, other->stage, other->micro_batch), .half = 1, .not_known = !works});
        order->blocks = true;
    }
    if (pieces->count)
        qsort(pieces->pieces, pieces->count, sizeof *pieces->pieces, by_order);
}

/* Whether it goes on with what the one before it has begun. */
static bool goes_on(uint64_t key, uint64_t before)
{
    return key == before ||
           (order_kind(key) == SLOT_WEIGHT && order_kind(before) == SLOT_BACKWARD &&
            order_stage(key) == order_stage(before) && order_micro_batch(key) == order_micro_batch(before));
}

/* Whether two are of one rank's step. */
static bool are_together(const struct piece *a, const struct piece *b)
{
    return a->step == b->step && a->replica == b->replica && a->rank == b->rank;
}

/* What follows a backward of the same stage and micro-batch is its weight gradient. `seen`: [stage and micro-batch],
 * the part that had the backward, and one. */
static void settle(struct piece *piece, uint32_t *seen, const struct order *order)
{
    if (order_kind(piece->key) != SLOT_BACKWARD)
        return;
    uint32_t stage = order_stage(piece->key), micro_batch = order_micro_batch(piece->key);
    uint32_t *last = &seen[(size_t)stage * order->micro_batches + micro_batch];
    if (piece->not_known && *last == order->part_count)
        piece->key = order_key(SLOT_WEIGHT, stage, micro_batch);
    *last = (uint32_t)order->part_count;
}

static void divide(struct pieces *pieces, struct order *order, struct arena *arena)
{
    uint32_t *seen = array_zeroed((size_t)order->stages * order->micro_batches, sizeof *seen);
    size_t kept = 0;
    order->parts = arena_array(arena, pieces->count, sizeof *order->parts);
    order->keys = arena_array(arena, pieces->count, sizeof *order->keys);
    for (size_t i = 0; i < pieces->count; i++) {
        struct piece *piece = &pieces->pieces[i];
        if (!i || !are_together(piece, piece - 1))
            order->parts[order->part_count++] =
                (struct order_part){piece->step, piece->replica, piece->worker, kept, 0};
        settle(piece, seen, order);
        struct order_part *part = &order->parts[order->part_count - 1];
        if (part->count && goes_on(piece->key, order->keys[kept - 1]))
            continue;
        order->keys[kept++] = piece->key;
        part->count++;
    }
    free(seen);
}

void order_find(const struct recorded *recorded, struct arena *arena, struct order *order)
{
    struct pieces pieces = {.recorded = recorded, .replicas = orders_replicas(recorded, arena)};
    *order = (struct order){0};
    for (uint32_t i = 0; i < recorded->rank_count; i++)
        order->replicas += pieces.replicas[i] == i;
    collect(&pieces, order);
    if (order->stages == 1) { /* ranks that are each a position of their own are no pipeline */
        order->workers = 1;
        order->replicas = (uint32_t)recorded->rank_count;
        for (size_t i = 0; i < pieces.count; i++) {
            pieces.pieces[i].worker = 0;
            pieces.pieces[i].replica = pieces.pieces[i].rank;
        }
    }
    double slots = 3.0 * order->stages * order->micro_batches;
    bool sparse = slots > ORDER_SPARSE_MOST * (double)pieces.count; /* far less than a step is there */
    if (order->workers && order->workers <= ORDER_WORKERS_MAX && slots <= ORDER_SLOTS_MAX && !sparse)
        divide(&pieces, order, arena);
    free(pieces.pieces);
}

/* ---- plans ---- */

size_t order_of_plan(const struct plan *plan, uint32_t worker, uint64_t *keys)
{
    const struct plan_order *order = &plan->orders[worker];
    size_t count = 0;
    for (size_t i = 0; i < order->count; i++) {
        const struct slot *slot = &order->slots[i], *next = i + 1 < order->count ? slot + 1 : NULL;
        const struct slot *before = i && slot->joined ? slot - 1 : NULL;
        if (slot->kind > SLOT_WEIGHT)
            continue;
        if (next && next->joined && next->kind == SLOT_FORWARD && slot->kind != SLOT_FORWARD)
            slot = next; /* of a block the forward comes first */
        else if (before && slot->kind == SLOT_FORWARD && before->kind != SLOT_FORWARD && before->kind <= SLOT_WEIGHT)
            slot = before;
        uint64_t key = order_key((enum slot_kind)slot->kind, slot->stage, slot->micro_batch);
        if (!count || !goes_on(key, keys[count - 1]))
            keys[count++] = key;
    }
    return count;
}

/* ---- how far they are apart ---- */

struct stand {
    uint64_t key;
    size_t at;
};

static int by_key(const void *left, const void *right)
{
    const struct stand *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

/* Where a key stands; SIZE_MAX: nowhere. */
static size_t find(const struct stand *places, size_t count, uint64_t key)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (places[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && places[low].key == key ? places[low].at : SIZE_MAX;
}

/* The longest row of places that rise: what stays when the others are put elsewhere. */
size_t order_apart(const uint64_t *left, size_t count, const uint64_t *right, size_t right_count)
{
    struct stand *places = array_zeroed(right_count + 1, sizeof *places);
    size_t *ends = array_zeroed(count + 1, sizeof *ends), longest = 0; /* [length - 1]: the least end of such a row */
    for (size_t i = 0; i < right_count; i++)
        places[i] = (struct stand){right[i], i};
    if (right_count)
        qsort(places, right_count, sizeof *places, by_key);
    for (size_t i = 0; i < count; i++) {
        size_t at = find(places, right_count, left[i]), low = 0, high = longest;
        if (at == SIZE_MAX)
            continue;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (ends[middle] < at)
                low = middle + 1;
            else
                high = middle;
        }
        ends[low] = at;
        longest += low == longest;
    }
    free(places);
    free(ends);
    return (count > right_count ? count : right_count) - longest;
}
