/* SPDX-License-Identifier: Apache-2.0 */
#include "traces/recorded.h"

#include "base/arena.h"
#include "base/bulk.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A hash table of numbers; the keys lie elsewhere. */
struct slots {
    uint32_t *slots; /* index + 1; 0: free */
    size_t size;     /* a power of two, more than twice what is in it */
};

struct recorded_index {
    struct slots names, streams;
};

static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 33) * 0xff51afd7ed558ccdull;
    return value ^ value >> 29;
}

static uint64_t hash_text(const char *text, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ull;
    return mix(hash);
}

static uint64_t name_hash(const struct recorded *recorded, uint32_t index)
{
    return hash_text(recorded->names[index], strlen(recorded->names[index]));
}

static uint64_t stream_hash(const struct recorded *recorded, uint32_t index)
{
    const struct recorded_stream *stream = &recorded->streams[index];
    return mix(stream->number * 2 + stream->host + mix(stream->rank));
}

/* Makes room for one more of `count`. */
static void slots_grow(const struct recorded *recorded, struct slots *slots, size_t count,
                       uint64_t (*hash)(const struct recorded *recorded, uint32_t index))
{
    if (count * 2 + 2 < slots->size)
        return;
    free(slots->slots);
    slots->size = slots->size ? slots->size * 2 : 64;
    slots->slots = array_zeroed(slots->size, sizeof *slots->slots);
    for (uint32_t i = 0; i < count; i++) {
        size_t at = hash(recorded, i) & (slots->size - 1);
        while (slots->slots[at])
            at = (at + 1) & (slots->size - 1);
        slots->slots[at] = i + 1;
    }
}

struct recorded *recorded_create(void)
{
    struct recorded *recorded = array_zeroed(1, sizeof *recorded);
    recorded->arena = arena_create();
    recorded->index = array_zeroed(1, sizeof *recorded->index);
    recorded->format = "";
    recorded_name(recorded, "", 0);
    return recorded;
}

void recorded_destroy(struct recorded *recorded)
{
    if (!recorded)
        return;
    bulk_free(recorded->operations, recorded->capacity * sizeof *recorded->operations);
    free(recorded->syncs);
    free(recorded->waits);
    free(recorded->blocks);
    free(recorded->streams);
    free(recorded->first);
    free(recorded->ranks);
    free(recorded->groups);
    free((void *)recorded->names);
    free((void *)recorded->notes);
    free(recorded->index->names.slots);
    free(recorded->index->streams.slots);
    free(recorded->index);
    arena_destroy(recorded->arena);
    free(recorded);
}

uint32_t recorded_name(struct recorded *recorded, const char *text, size_t size)
{
    struct slots *slots = &recorded->index->names;
    slots_grow(recorded, slots, recorded->name_count, name_hash);
    size_t at = hash_text(text, size) & (slots->size - 1);
    for (; slots->slots[at]; at = (at + 1) & (slots->size - 1)) {
        const char *known = recorded->names[slots->slots[at] - 1];
        if (!strncmp(known, text, size) && !known[size])
            return slots->slots[at] - 1;
    }
    recorded->names = array_grow((void *)recorded->names, &recorded->name_capacity, recorded->name_count + 1,
                                 sizeof *recorded->names);
    recorded->names[recorded->name_count++] = arena_copy_part(recorded->arena, text, size);
    slots->slots[at] = (uint32_t)recorded->name_count;
    return (uint32_t)recorded->name_count - 1;
}

uint32_t recorded_rank(struct recorded *recorded, uint32_t number, const char *file)
{
    for (size_t i = recorded->rank_count; number != RECORDED_NONE && i-- > 0;)
        if (recorded->ranks[i].number == number)
            return (uint32_t)i;
    recorded->ranks =
        array_grow(recorded->ranks, &recorded->rank_capacity, recorded->rank_count + 1, sizeof *recorded->ranks);
    recorded->ranks[recorded->rank_count++] = (struct recorded_rank){
        .number = number, .data = RECORDED_NONE, .stage = RECORDED_NONE, .tensor = RECORDED_NONE, .file = file};
    return (uint32_t)recorded->rank_count - 1;
}

uint32_t recorded_stream(struct recorded *recorded, uint32_t rank, uint64_t number, bool host, const char *name)
{
    struct slots *slots = &recorded->index->streams;
    slots_grow(recorded, slots, recorded->stream_count, stream_hash);
    size_t at = mix(number * 2 + host + mix(rank)) & (slots->size - 1);
    for (; slots->slots[at]; at = (at + 1) & (slots->size - 1)) {
        const struct recorded_stream *known = &recorded->streams[slots->slots[at] - 1];
        if (known->number == number && known->rank == rank && known->host == host)
            return slots->slots[at] - 1;
    }
    recorded->streams = array_grow(recorded->streams, &recorded->stream_capacity, recorded->stream_count + 1,
                                   sizeof *recorded->streams);
    recorded->streams[recorded->stream_count++] =
        (struct recorded_stream){rank, number, arena_copy(recorded->arena, name), host};
    slots->slots[at] = (uint32_t)recorded->stream_count;
    return (uint32_t)recorded->stream_count - 1;
}

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

uint32_t recorded_group(struct recorded *recorded, const char *name, const char *what, uint32_t size,
                        const uint32_t *members)
{
    uint32_t *sorted = NULL;
    if (members) {
        sorted = arena_array(recorded->arena, size, sizeof *sorted);
        memcpy(sorted, members, size * sizeof *sorted);
        qsort(sorted, size, sizeof *sorted, by_number);
    }
    for (size_t i = 0; i < recorded->group_count; i++) {
        struct recorded_group *group = &recorded->groups[i];
        if (strcmp(group->name, name) != 0 || (group->size && size && group->size != size))
            continue;
        if (sorted && group->members && memcmp(sorted, group->members, size * sizeof *sorted) != 0)
            continue;
        group->size = size ? size : group->size;
        group->members = sorted && !group->members ? sorted : group->members;
        return (uint32_t)i;
    }
    recorded->groups =
        array_grow(recorded->groups, &recorded->group_capacity, recorded->group_count + 1, sizeof *recorded->groups);
    recorded->groups[recorded->group_count++] = (struct recorded_group){
        arena_copy(recorded->arena, name), what ? arena_copy(recorded->arena, what) : NULL, size, sorted};
    return (uint32_t)recorded->group_count - 1;
}

struct recorded_operation *recorded_add(struct recorded *recorded, enum recorded_kind kind, uint32_t stream,
                                        double begin, double end)
{
    recorded->operations =
        bulk_grow(recorded->operations, &recorded->capacity, recorded->count + 1, sizeof *recorded->operations);
    struct recorded_operation *operation = &recorded->operations[recorded->count++];
    *operation = (struct recorded_operation){.begin = begin,
                                             .end = end,
                                             .data = NAN,
                                             .stream = stream,
                                             .step = RECORDED_NONE,
                                             .micro_batch = RECORDED_NONE,
                                             .group = RECORDED_NONE,
                                             .sequence = RECORDED_NONE,
                                             .peer = RECORDED_NONE,
                                             .correlation = RECORDED_NONE,
                                             .external = RECORDED_NONE,
                                             .bytes = NAN,
                                             .stage = RECORDED_NO_STAGE,
                                             .chunk = RECORDED_NO_STAGE,
                                             .kind = (uint8_t)kind};
    return operation;
}

void recorded_add_block(struct recorded *recorded, uint16_t stage, uint32_t micro_batch)
{
    recorded->blocks =
        array_grow(recorded->blocks, &recorded->block_capacity, recorded->block_count + 1, sizeof *recorded->blocks);
    recorded->blocks[recorded->block_count++] =
        (struct recorded_block){(uint32_t)recorded->count - 1, micro_batch, stage};
}

void recorded_note(struct recorded *recorded, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    recorded->notes = array_grow((void *)recorded->notes, &recorded->note_capacity, recorded->note_count + 1,
                                 sizeof *recorded->notes);
    recorded->notes[recorded->note_count++] = arena_vprint(recorded->arena, format, arguments);
    va_end(arguments);
}

/* ---- order ---- */

static int by_rank_number(const void *left, const void *right, void *user)
{
    const struct recorded *recorded = user;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    uint32_t first = recorded->ranks[a].number, second = recorded->ranks[b].number;
    return first != second ? (first > second) - (first < second) : (a > b) - (a < b);
}

static void sort_ranks(struct recorded *recorded)
{
    size_t count = recorded->rank_count;
    uint32_t *order = array_zeroed(count, sizeof *order), *place = array_zeroed(count, sizeof *place);
    struct recorded_rank *ranks = array_zeroed(count, sizeof *ranks);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    qsort_r(order, count, sizeof *order, by_rank_number, recorded);
    for (uint32_t i = 0; i < count; i++) {
        place[order[i]] = i;
        ranks[i] = recorded->ranks[order[i]];
    }
    for (size_t i = 0; i < recorded->stream_count; i++)
        recorded->streams[i].rank = place[recorded->streams[i].rank];
    free(recorded->ranks);
    recorded->ranks = ranks;
    recorded->rank_capacity = count;
    free(order);
    free(place);
}

static int by_stream(const void *left, const void *right, void *user)
{
    const struct recorded *recorded = user;
    uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
    const struct recorded_operation *a = &recorded->operations[i], *b = &recorded->operations[j];
    if (a->stream != b->stream)
        return a->stream < b->stream ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end) /* on a thread the outer one is first; on a stream one follows the other */
        return (a->end > b->end) != recorded->timeline ? -1 : 1;
    return (i > j) - (i < j);
}

/* Puts operations into that order along its cycles, in place. place[i]: the new index of the old i; it is kept. */
static void permute(struct recorded *recorded, const uint32_t *order)
{
    struct recorded_operation *operations = recorded->operations;
    bool *done = array_zeroed(recorded->count, sizeof *done);
    for (uint32_t i = 0; i < recorded->count; i++) {
        struct recorded_operation held = operations[i];
        uint32_t at = i;
        while (!done[at]) {
            done[at] = true;
            uint32_t from = order[at];
            operations[at] = from == i ? held : operations[from];
            at = from;
        }
    }
    free(done);
}

static int by_operation(const void *left, const void *right)
{
    const struct recorded_wait *a = left, *b = right;
    if (a->operation != b->operation)
        return a->operation < b->operation ? -1 : 1;
    return (a->awaited > b->awaited) - (a->awaited < b->awaited);
}

static int by_block(const void *left, const void *right)
{
    const struct recorded_block *a = left, *b = right;
    return (a->operation > b->operation) - (a->operation < b->operation);
}

/* What names operations by their indices names the new ones. */
static void follow(struct recorded *recorded, const uint32_t *order)
{
    uint32_t *place = bulk_alloc(recorded->count * sizeof *place);
    for (uint32_t i = 0; i < recorded->count; i++)
        place[order[i]] = i;
    for (size_t i = 0; i < recorded->sync_count; i++)
        recorded->syncs[i].operation = place[recorded->syncs[i].operation];
    for (size_t i = 0; i < recorded->wait_count; i++) {
        recorded->waits[i].operation = place[recorded->waits[i].operation];
        recorded->waits[i].awaited = place[recorded->waits[i].awaited];
    }
    if (recorded->wait_count)
        qsort(recorded->waits, recorded->wait_count, sizeof *recorded->waits, by_operation);
    for (size_t i = 0; i < recorded->block_count; i++)
        recorded->blocks[i].operation = place[recorded->blocks[i].operation];
    if (recorded->block_count)
        qsort(recorded->blocks, recorded->block_count, sizeof *recorded->blocks, by_block);
    bulk_free(place, recorded->count * sizeof *place);
}

/* ---- pieces ---- */

/* Those of one are of the same work of a rank for the same micro-batch. */
static int by_work(const struct recorded *recorded, const struct recorded_operation *a,
                   const struct recorded_operation *b)
{
    const uint32_t keys[][2] = {{recorded_rank_of(recorded, a), recorded_rank_of(recorded, b)},
                                {a->step, b->step},
                                {a->kind, b->kind},
                                {a->name, b->name},
                                {a->stage, b->stage},
                                {a->micro_batch, b->micro_batch},
                                {a->peer, b->peer}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static int by_work_and_begin(const void *left, const void *right, void *user)
{
    const struct recorded *recorded = user;
    uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
    const struct recorded_operation *a = &recorded->operations[i], *b = &recorded->operations[j];
    int order = by_work(recorded, a, b);
    if (order)
        return order;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (i > j) - (i < j);
}

static void count_pieces(struct recorded *recorded)
{
    uint32_t count = (uint32_t)recorded->count, *order = bulk_alloc(recorded->count * sizeof *order), end;
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    qsort_r(order, count, sizeof *order, by_work_and_begin, recorded);
    for (uint32_t i = 0; i < count; i = end) {
        struct recorded_operation *operations = recorded->operations;
        for (end = i; end < count && !by_work(recorded, &operations[order[i]], &operations[order[end]]); end++) {}
        for (uint32_t k = i; k < end; k++) {
            operations[order[k]].piece = (uint16_t)(k - i < UINT16_MAX ? k - i : UINT16_MAX);
            operations[order[k]].pieces = (uint16_t)(end - i < UINT16_MAX ? end - i : UINT16_MAX);
        }
    }
    bulk_free(order, recorded->count * sizeof *order);
}

void recorded_finish(struct recorded *recorded)
{
    size_t count = recorded->count;
    sort_ranks(recorded);
    uint32_t *order = bulk_alloc(count * sizeof *order);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    qsort_r(order, count, sizeof *order, by_stream, recorded);
    permute(recorded, order);
    if (recorded->sync_count || recorded->wait_count)
        follow(recorded, order);
    bulk_free(order, count * sizeof *order);
    free(recorded->first);
    recorded->first = array_zeroed(recorded->stream_count + 1, sizeof *recorded->first);
    for (size_t i = 0; i < count; i++)
        recorded->first[recorded->operations[i].stream + 1]++;
    for (size_t i = 0; i < recorded->stream_count; i++)
        recorded->first[i + 1] += recorded->first[i];
    if (recorded->timeline && count)
        count_pieces(recorded);
}
