/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/engines/deadlock.h"

#include "base/arena.h"
#include "simulator/collectives/arrivals.h"
#include "simulator/collectives/assignment.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As many operations of a cycle are named. */
enum { NAMED_MAX = 8 };

struct where {
    uint32_t index, id; /* entry of the timeline, operation */
};

static const struct position *position_of(const struct timeline *timeline, uint32_t index)
{
    return &timeline->program->positions[timeline->program->mesh->position_of[timeline->ranks[index]]];
}

static bool is_done(const struct timeline *timeline, struct where at)
{
    return !isnan(timeline->moments[at.index][at.id].end);
}

/* The first operation of the stream that is not done. */
static uint32_t blocked(const struct timeline *timeline, uint32_t index, const struct stream *stream)
{
    uint32_t id = stream->first;
    while (id < stream->first + stream->count && is_done(timeline, (struct where){index, id}))
        id++;
    return id;
}

/* The same stream position at the other end of a message. */
static struct where sender_of(const struct timeline *timeline, struct where at, const struct stream *stream)
{
    const struct mesh *mesh = timeline->program->mesh;
    uint32_t peer = mesh_rank(mesh, stream->peer, mesh->replica_of[timeline->ranks[at.index]]);
    const struct stream *opposite = &timeline->program->positions[stream->peer].streams[stream->opposite];
    return (struct where){timeline->index_of[peer], opposite->first + (at.id - stream->first)};
}

/* Whether member `waiting` of a collective cannot end while member `missing` is not there. */
static bool needs(const struct timeline *timeline, const struct where *at, uint32_t waiting, uint32_t missing)
{
    const struct program *program = timeline->program;
    const struct position *position = position_of(timeline, at->index);
    const struct operation *operation = &position->operations[at->id];
    uint32_t group = position->streams[operation->stream].peer, count = group_size(program, &program->groups[group]);
    bool rooted = operation->collective == STAGESIM_BROADCAST || operation->collective == STAGESIM_REDUCE;
    const struct collective_flows *flows = rooted ? assignment_flows(program, group, operation) : NULL;
    if (!flows || !flows->ends_apart)
        return true;
    struct arena *arena = arena_create();
    double *times = arena_array(arena, 3 * (size_t)count, sizeof *times);
    struct arrivals_size nothing = {.repeats = 1, .ratios = {{1, 1}, {1, 1}, 1}};
    times[missing] = INFINITY;
    arrivals_evaluate(arrivals_create(flows, count, NULL, NULL, arena), &nothing, times, times + count,
                      times + 2 * (size_t)count);
    bool waits = isinf(times[2 * (size_t)count + waiting]);
    arena_destroy(arena);
    return waits;
}

/* A member of the collective that has not come to it and is needed. */
static struct where missing_member(const struct timeline *timeline, struct where at, const struct stream *stream)
{
    const struct program *program = timeline->program;
    const struct group *group = &program->groups[stream->peer];
    struct where missing = at;
    uint32_t *ranks = array_zeroed(group_size(program, group), sizeof *ranks);
    if (!ranks)
        return at;
    group_ranks(program, group, group_instance_of(program, group, program->mesh->replica_of[timeline->ranks[at.index]]),
                ranks);
    uint32_t own = 0;
    while (ranks[own] != timeline->ranks[at.index])
        own++;
    for (uint32_t i = 0; i < group_size(program, group); i++) {
        uint32_t index = timeline->index_of[ranks[i]];
        const struct position *position = position_of(timeline, index);
        const struct stream *other = &position->streams[position_group_stream(position, stream->peer)];
        struct where there = {index, other->first + (at.id - stream->first)};
        if (index != at.index && isnan(timeline->moments[index][there.id].start) && needs(timeline, &at, own, i))
            missing = there;
    }
    free(ranks);
    return missing;
}

/* What an operation that is not done waits for, itself not done. */
static struct where awaited(const struct timeline *timeline, struct where at)
{
    const struct position *position = position_of(timeline, at.index);
    const struct operation *operation = &position->operations[at.id];
    const struct stream *stream = &position->streams[operation->stream];
    uint32_t first = blocked(timeline, at.index, stream);
    if (first != at.id)
        return (struct where){at.index, first};
    for (uint32_t i = 0; i < operation_wait_count(operation); i++) {
        struct where wait = {at.index, operation_wait(position, operation, i)};
        if (!is_done(timeline, wait))
            return wait;
    }
    if (stream->type == OPERATION_RECEIVE)
        return sender_of(timeline, at, stream);
    return stream->type == OPERATION_COLLECTIVE ? missing_member(timeline, at, stream) : at;
}

struct text {
    char *at;
    size_t left;
};

__attribute__((format(printf, 2, 3))) static void append(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(text->at, text->left, format, arguments);
    va_end(arguments);
    size_t used = written < 0 ? 0 : (size_t)written < text->left ? (size_t)written : text->left - 1;
    text->at += used;
    text->left -= used;
}

static void describe(const struct timeline *timeline, struct where at, struct text *text)
{
    static const char *const nouns[STAGESIM_KINDS] = {
        [STAGESIM_FORWARD] = "forward",   [STAGESIM_BACKWARD] = "backward",     [STAGESIM_WEIGHT] = "weight gradient",
        [STAGESIM_BLOCK] = "block",       [STAGESIM_ACTIVATION] = "activation", [STAGESIM_GRADIENT] = "gradient",
        [STAGESIM_EXCHANGE] = "exchange", [STAGESIM_SHARE] = "gradient",
    };
    const struct operation *operation = &position_of(timeline, at.index)->operations[at.id];
    if (operation->type == OPERATION_SEND || operation->type == OPERATION_RECEIVE)
        append(text, operation->type == OPERATION_SEND ? "sending " : "receiving ");
    append(text, "the %s", nouns[operation->kind] ? nouns[operation->kind] : kind_name(operation->kind));
    if (operation->micro_batch != MICRO_BATCH_NONE)
        append(text, " of micro-batch %u", operation->micro_batch);
    if (operation->stage != STAGE_NONE)
        append(text, " in stage %u", operation->stage);
    append(text, " on worker %u", timeline->program->mesh->position_of[timeline->ranks[at.index]]);
}

static bool is_transfer(const struct timeline *timeline, struct where at)
{
    uint8_t type = position_of(timeline, at.index)->operations[at.id].type;
    return type == OPERATION_SEND || type == OPERATION_RECEIVE;
}

static bool is_same(struct where a, struct where b)
{
    return a.index == b.index && a.id == b.id;
}

/* The next operation on the way around; transfers are passed over unless they are all there is. */
static struct where next_named(const struct timeline *timeline, struct where at, bool transfers)
{
    do
        at = awaited(timeline, at);
    while (!transfers && is_transfer(timeline, at));
    return at;
}

/* The operation of the lowest rank that is named: a cycle has no beginning of its own. */
static struct where first_named(const struct timeline *timeline, struct where start, bool transfers)
{
    struct where from = next_named(timeline, start, transfers), first = from;
    for (struct where at = next_named(timeline, from, transfers); !is_same(at, from);
         at = next_named(timeline, at, transfers))
        if (at.index < first.index || (at.index == first.index && at.id < first.id))
            first = at;
    return first;
}

static bool only_transfers(const struct timeline *timeline, struct where start)
{
    bool only = is_transfer(timeline, start);
    for (struct where at = awaited(timeline, start); only && !is_same(at, start); at = awaited(timeline, at))
        only = is_transfer(timeline, at);
    return only;
}

/* "A waits for B, which waits for C, which waits for A." */
static void write_cycle(const struct timeline *timeline, struct where start, struct text *text)
{
    bool transfers = only_transfers(timeline, start);
    struct where first = first_named(timeline, start, transfers), at = first;
    append(text, "the program cannot finish: ");
    describe(timeline, first, text);
    uint32_t count = 0, left_out = 0;
    do {
        at = next_named(timeline, at, transfers);
        if (++count > NAMED_MAX && !is_same(at, first)) {
            left_out++;
            continue;
        }
        if (left_out)
            append(text, ", and so on through %u others, the last of which", left_out);
        append(text, "%s waits for ", count == 1 ? "" : left_out ? "" : ", which");
        describe(timeline, at, text);
    } while (!is_same(at, first));
}

static struct where first_blocked(const struct timeline *timeline)
{
    for (uint32_t index = 0; index < timeline->rank_count; index++) {
        const struct position *position = position_of(timeline, index);
        for (uint32_t id = 0; id < position->operation_count; id++)
            if (!is_done(timeline, (struct where){index, id}))
                return (struct where){index, id};
    }
    return (struct where){0, 0};
}

static uint64_t stream_total(const struct timeline *timeline)
{
    uint64_t total = 0;
    for (uint32_t index = 0; index < timeline->rank_count; index++)
        total += position_of(timeline, index)->stream_count;
    return total;
}

bool deadlock_explain(const struct timeline *timeline, struct fault *fault)
{
    struct where at = first_blocked(timeline);
    /* Every second step at the latest comes to the first blocked operation of a stream, so after twice as many steps as
     * there are streams one is on the cycle. */
    for (uint64_t i = 2 * stream_total(timeline) + 2; i > 0; i--)
        at = awaited(timeline, at);
    char buffer[sizeof fault->text];
    struct text text = {buffer, sizeof buffer};
    write_cycle(timeline, at, &text);
    fault->refused = !fault->text[0];
    return fault_set(fault, "%s", buffer);
}
