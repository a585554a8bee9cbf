/* SPDX-License-Identifier: Apache-2.0 */
#include "traces/drawn.h"

#include "base/arena.h"
#include "traces/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a trace says of a stream, by its index. */
struct drawn_stream {
    enum recorded_kind kind;
    uint32_t other;    /* stream at the other end; RECORDED_NONE: no message was seen */
    uint32_t position; /* of the peer, or the number of the group */
    uint32_t next;     /* operations so far */
    bool named;
};

/* Who did what for a micro-batch: blocks are here twice. */
struct deed {
    uint32_t rank, micro_batch, operation;
    uint16_t stage;
    uint8_t kind, work;
};

struct drawn {
    struct trace_reader *reader;
    struct drawn_stream *streams; /* [stream] */
    size_t stream_capacity, stream_count;
    struct deed *deeds;
    size_t count, capacity;
};

/* Seconds: times of traces are rounded. */
static const double same = 2e-9;

struct drawn *drawn_create(struct trace_reader *reader)
{
    struct drawn *drawn = array_zeroed(1, sizeof *drawn);
    drawn->reader = reader;
    reader->recorded->timeline = true;
    return drawn;
}

void drawn_destroy(struct drawn *drawn)
{
    if (!drawn)
        return;
    free(drawn->streams);
    free(drawn->deeds);
    free(drawn);
}

/* ---- what there is ---- */

uint32_t drawn_stream(struct drawn *drawn, uint32_t rank, uint64_t number, const char *name)
{
    enum recorded_kind kind;
    struct recorded *recorded = drawn->reader->recorded;
    if (!words_stream(name, strlen(name), &kind))
        return RECORDED_NONE;
    uint32_t stream =
        recorded_stream(recorded, recorded_rank(recorded, rank, drawn->reader->file), number, false, name);
    while (drawn->stream_count <= stream) {
        drawn->streams =
            array_grow(drawn->streams, &drawn->stream_capacity, drawn->stream_count + 1, sizeof *drawn->streams);
        drawn->streams[drawn->stream_count++] = (struct drawn_stream){.kind = RECORDED_COMPUTE, .other = RECORDED_NONE};
    }
    const char *digits = strpbrk(name, "0123456789");
    drawn->streams[stream].named = true;
    drawn->streams[stream].kind = kind;
    drawn->streams[stream].position = digits ? (uint32_t)strtoul(digits, NULL, 10) : 0;
    return stream;
}

bool drawn_has(const struct drawn *drawn, uint32_t stream)
{
    return stream < drawn->stream_count && drawn->streams[stream].named;
}

void drawn_link(struct drawn *drawn, uint32_t from, uint32_t to)
{
    drawn->streams[from].other = to;
    drawn->streams[to].other = from;
}

static void add_deed(struct drawn *drawn, uint32_t operation, enum recorded_work work, uint16_t stage,
                     uint32_t micro_batch)
{
    const struct recorded *recorded = drawn->reader->recorded;
    const struct recorded_operation *it = &recorded->operations[operation];
    drawn->deeds = array_grow(drawn->deeds, &drawn->capacity, drawn->count + 1, sizeof *drawn->deeds);
    drawn->deeds[drawn->count++] =
        (struct deed){recorded_rank_of(recorded, it), micro_batch, operation, stage, it->kind, (uint8_t)work};
}

void drawn_operation(struct drawn *drawn, uint32_t stream, const char *text, double begin, double data, double end,
                     double bytes)
{
    struct recorded *recorded = drawn->reader->recorded;
    struct drawn_stream *own = &drawn->streams[stream];
    size_t size = strcspn(text, " ");
    struct recorded_operation *operation = recorded_add(recorded, own->kind, stream, begin, end);
    uint32_t index = (uint32_t)recorded->count - 1;
    bool local = own->kind == RECORDED_COMPUTE || own->kind == RECORDED_MEMORY,
         block = size == 2 && !memcmp(text, "FB", 2);
    operation->name = recorded_name(recorded, text, size);
    operation->work = (uint8_t)words_work(text, size);
    operation->data = local ? NAN : data;
    operation->bytes = own->kind == RECORDED_SEND || own->kind == RECORDED_RECEIVE ? (float)bytes : (float)NAN;
    operation->step = 0;
    operation->sequence = own->next++;
    operation->waiting = own->kind == RECORDED_COLLECTIVE || own->kind == RECORDED_RECEIVE;
    if (!text[size])
        return;
    uint16_t stage, second;
    uint32_t micro_batch, other;
    const char *rest = words_pair(text + size + 1, &stage, &micro_batch);
    operation->stage = stage;
    operation->micro_batch = micro_batch;
    if (micro_batch == RECORDED_NONE)
        return;
    add_deed(drawn, index, block ? RECORDED_FORWARD : (enum recorded_work)operation->work, stage, micro_batch);
    if (*rest != '+')
        return;
    words_pair(rest + 1, &second, &other);
    if (block)
        add_deed(drawn, index, RECORDED_BACKWARD, second, other);
    if (second != RECORDED_NO_STAGE && other != RECORDED_NONE)
        recorded_add_block(recorded, second, other);
}

/* ---- peers and groups ---- */

static void find_peers(struct drawn *drawn, size_t first)
{
    struct recorded *recorded = drawn->reader->recorded;
    for (size_t i = 0; i < drawn->stream_count; i++) {
        uint32_t other = drawn->streams[i].other;
        if (other != RECORDED_NONE) /* the stream's name says at which position its peer is */
            recorded->ranks[recorded->streams[other].rank].stage = drawn->streams[i].position;
    }
    for (size_t i = 0; i < recorded->rank_count; i++)
        if (recorded->ranks[i].stage == RECORDED_NONE)
            recorded->ranks[i].stage = 0;
    for (size_t i = first; i < recorded->count; i++) {
        uint32_t other = drawn->streams[recorded->operations[i].stream].other;
        if (other != RECORDED_NONE)
            recorded->operations[i].peer = recorded->ranks[recorded->streams[other].rank].number;
    }
}

/* A stream of collectives, with the end of its first one. */
struct member {
    uint32_t group, stream;
    double end;
};

static int by_meeting(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->end < b->end || a->end > b->end)
        return a->end < b->end ? -1 : 1;
    return (a->stream > b->stream) - (a->stream < b->stream);
}

/* The numbers of groups are the same in all replicas: streams whose first collectives end together are of one. */
static void find_groups(struct drawn *drawn, size_t first)
{
    struct recorded *recorded = drawn->reader->recorded;
    struct member *members = array_zeroed(drawn->stream_count, sizeof *members);
    uint32_t *group_of = array_zeroed(drawn->stream_count, sizeof *group_of);
    size_t count = 0;
    for (size_t i = first; i < recorded->count; i++) {
        const struct recorded_operation *it = &recorded->operations[i];
        if (it->kind == RECORDED_COLLECTIVE && !it->sequence)
            members[count++] = (struct member){drawn->streams[it->stream].position, it->stream, it->end};
    }
    if (count)
        qsort(members, count, sizeof *members, by_meeting);
    char name[48];
    for (size_t i = 0; i < count; i++) {
        bool together = i && members[i].group == members[i - 1].group && members[i].end - members[i - 1].end <= same;
        snprintf(name, sizeof name, "%u, stream %u", members[i].group, members[i].stream);
        group_of[members[i].stream] =
            together ? group_of[members[i - 1].stream] : recorded_group(recorded, name, NULL, 0, NULL);
    }
    for (size_t i = first; i < recorded->count; i++)
        if (recorded->operations[i].kind == RECORDED_COLLECTIVE)
            recorded->operations[i].group = group_of[recorded->operations[i].stream];
    free(members);
    free(group_of);
}

/* ---- what waits for what ---- */

static int by_deed(const void *left, const void *right)
{
    const struct deed *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->work != b->work)
        return a->work < b->work ? -1 : 1;
    if (a->stage != b->stage)
        return a->stage < b->stage ? -1 : 1;
    if (a->micro_batch != b->micro_batch)
        return a->micro_batch < b->micro_batch ? -1 : 1;
    return (a->operation > b->operation) - (a->operation < b->operation);
}

static bool alike(const struct deed *a, const struct deed *b)
{
    struct deed probe = *b;
    probe.operation = a->operation;
    return by_deed(a, &probe) == 0;
}

static void add_wait(struct recorded *recorded, uint32_t operation, uint32_t awaited)
{
    recorded->waits =
        array_grow(recorded->waits, &recorded->wait_capacity, recorded->wait_count + 1, sizeof *recorded->waits);
    recorded->waits[recorded->wait_count++] = (struct recorded_wait){operation, awaited};
}

/* Waits for every deed of that kind that ended before it began. Whether there is one. */
static bool wait_for(const struct drawn *drawn, const struct deed *own, enum recorded_kind kind,
                     enum recorded_work work, int stage)
{
    struct recorded *recorded = drawn->reader->recorded;
    struct deed key = {own->rank, own->micro_batch, 0, (uint16_t)stage, (uint8_t)kind, (uint8_t)work};
    size_t low = 0, high = drawn->count;
    bool found = false;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (by_deed(&drawn->deeds[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < drawn->count && alike(&drawn->deeds[low], &key); low++) {
        uint32_t awaited = drawn->deeds[low].operation;
        if (recorded->operations[awaited].end > recorded->operations[own->operation].begin + same)
            continue;
        add_wait(recorded, own->operation, awaited);
        found = true;
    }
    return found;
}

/* Whether the deed's work says what it waits for; of a first stage's forward and a last one's backward, nothing. */
static bool wait_by_work(const struct drawn *drawn, const struct deed *own)
{
    if (own->kind == RECORDED_COMPUTE && own->work == RECORDED_FORWARD)
        wait_for(drawn, own, RECORDED_RECEIVE, RECORDED_ACTIVATION, own->stage - 1);
    if (own->kind == RECORDED_COMPUTE && own->work == RECORDED_BACKWARD)
        wait_for(drawn, own, RECORDED_RECEIVE, RECORDED_GRADIENT, own->stage + 1);
    if (own->kind == RECORDED_SEND && own->work == RECORDED_ACTIVATION)
        return wait_for(drawn, own, RECORDED_COMPUTE, RECORDED_FORWARD, own->stage);
    if (own->kind == RECORDED_SEND && own->work == RECORDED_GRADIENT)
        return wait_for(drawn, own, RECORDED_COMPUTE, RECORDED_BACKWARD, own->stage);
    return own->kind == RECORDED_COMPUTE &&
           (own->work == RECORDED_FORWARD || own->work == RECORDED_BACKWARD || own->work == RECORDED_WEIGHT);
}

/* Operations of a rank by their end. */
struct ending {
    double end;
    uint32_t rank, operation;
};

static int by_end(const void *left, const void *right)
{
    const struct ending *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->end < b->end || a->end > b->end)
        return a->end < b->end ? -1 : 1;
    return (a->operation > b->operation) - (a->operation < b->operation);
}

static struct ending *list_endings(const struct recorded *recorded, size_t first)
{
    size_t count = recorded->count - first;
    struct ending *endings = array_zeroed(count, sizeof *endings);
    for (size_t i = 0; i < count; i++)
        endings[i] =
            (struct ending){recorded->operations[first + i].end,
                            recorded_rank_of(recorded, &recorded->operations[first + i]), (uint32_t)(first + i)};
    if (count)
        qsort(endings, count, sizeof *endings, by_end);
    return endings;
}

/* What ended on other streams of the rank just when it began. */
static void wait_by_time(struct recorded *recorded, const struct ending *endings, size_t count, uint32_t operation)
{
    const struct recorded_operation *own = &recorded->operations[operation];
    struct ending key = {own->begin - same, recorded_rank_of(recorded, own), 0};
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (by_end(&endings[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < count && endings[low].rank == key.rank && endings[low].end <= own->begin + same; low++) {
        const struct recorded_operation *other = &recorded->operations[endings[low].operation];
        bool before = other->begin < own->begin || (other->begin <= own->begin && endings[low].operation < operation);
        if (other->stream != own->stream && other->end > 0 && before)
            add_wait(recorded, operation, endings[low].operation);
    }
}

static void find_waits(struct drawn *drawn, size_t first)
{
    struct recorded *recorded = drawn->reader->recorded;
    bool *known = array_zeroed(recorded->count - first, sizeof *known);
    if (drawn->count)
        qsort(drawn->deeds, drawn->count, sizeof *drawn->deeds, by_deed);
    for (size_t i = 0; i < drawn->count; i++)
        known[drawn->deeds[i].operation - first] |= wait_by_work(drawn, &drawn->deeds[i]);
    struct ending *endings = list_endings(recorded, first);
    for (size_t i = first; i < recorded->count; i++)
        if (!known[i - first] && recorded->operations[i].kind != RECORDED_RECEIVE)
            wait_by_time(recorded, endings, recorded->count - first, (uint32_t)i);
    free(endings);
    free(known);
}

void drawn_finish(struct drawn *drawn)
{
    size_t first = drawn->reader->first;
    find_peers(drawn, first);
    find_groups(drawn, first);
    find_waits(drawn, first);
}
