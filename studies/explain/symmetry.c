/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/explain/symmetry.h"

#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With whom the operations of a stream are: the same for all of them. */
struct partner {
    uint32_t rank; /* number */
    const char *stream;
    uint32_t peer, group; /* group: as the model numbers them */
};

struct filling {
    struct recorded *trace;
    const struct recorded *model;
    struct partner *partners; /* of the model */
    size_t partner_count;
    size_t given; /* operations and waits of the trace before it was filled */
    size_t waits;
};

static int by_stream(const void *left, const void *right)
{
    const struct partner *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return strcmp(a->stream, b->stream);
}

static void find_partners(struct filling *filling)
{
    const struct recorded *model = filling->model;
    filling->partners = array_zeroed(model->stream_count, sizeof *filling->partners);
    for (size_t i = 0; i < model->stream_count; i++) {
        if (model->first[i] == model->first[i + 1])
            continue;
        const struct recorded_operation *operation = &model->operations[model->first[i]];
        filling->partners[filling->partner_count++] = (struct partner){
            model->ranks[model->streams[i].rank].number, model->streams[i].name, operation->peer, operation->group};
    }
    if (filling->partner_count)
        qsort(filling->partners, filling->partner_count, sizeof *filling->partners, by_stream);
}

/* Who takes part in what a rank does on a stream, as the model says. */
static void join(struct filling *filling, struct recorded_operation *operation, uint32_t rank, const char *stream)
{
    struct partner key = {.rank = rank, .stream = stream};
    const struct partner *found =
        filling->partner_count ? bsearch(&key, filling->partners, filling->partner_count, sizeof key, by_stream) : NULL;
    char name[64];
    if (found && operation->kind != RECORDED_COLLECTIVE)
        operation->peer = found->peer;
    if (operation->kind != RECORDED_COLLECTIVE)
        return;
    if (found)
        snprintf(name, sizeof name, "of the scenario, %u", found->group);
    else /* nothing like it in the scenario: nobody else comes */
        snprintf(name, sizeof name, "of rank %u, %u", rank, operation->group);
    operation->group = recorded_group(filling->trace, name, NULL, 0, NULL);
}

/* The first rank of the trace with a position of the model; RECORDED_NONE: there is none. */
static uint32_t find_like(const struct recorded *trace, size_t given, uint32_t position)
{
    for (uint32_t i = 0; i < given; i++)
        if (trace->ranks[i].stage == position)
            return i;
    return RECORDED_NONE;
}

static bool has_rank(const struct recorded *trace, uint32_t number)
{
    for (size_t i = 0; i < trace->rank_count; i++)
        if (trace->ranks[i].number == number)
            return true;
    return false;
}

/* Operations of a rank at the end of the trace; place[old] is the new one's index. */
static void copy_operations(struct filling *filling, uint32_t from, uint32_t to, uint32_t *place)
{
    struct recorded *trace = filling->trace;
    size_t streams = trace->stream_count;
    for (uint32_t s = 0; s < streams; s++) {
        struct recorded_stream stream = trace->streams[s];
        if (stream.rank != from)
            continue;
        uint32_t own = recorded_stream(trace, to, stream.number, stream.host, stream.name);
        for (size_t i = trace->first[s]; i < trace->first[s + 1]; i++) {
            struct recorded_operation copy = trace->operations[i];
            copy.stream = own;
            join(filling, &copy, trace->ranks[to].number, stream.name);
            *recorded_add(trace, (enum recorded_kind)copy.kind, own, copy.begin, copy.end) = copy;
            place[i] = (uint32_t)trace->count - 1;
        }
    }
}

static void copy_waits(struct filling *filling, uint32_t from, const uint32_t *place)
{
    struct recorded *trace = filling->trace;
    for (size_t i = 0; i < filling->waits; i++) {
        struct recorded_wait wait = trace->waits[i];
        if (trace->streams[trace->operations[wait.operation].stream].rank != from)
            continue;
        trace->waits = array_grow(trace->waits, &trace->wait_capacity, trace->wait_count + 1, sizeof *trace->waits);
        trace->waits[trace->wait_count++] = (struct recorded_wait){place[wait.operation], place[wait.awaited]};
    }
}

uint32_t symmetry_fill(struct recorded *trace, const struct recorded *model)
{
    struct filling filling = {.trace = trace, .model = model, .given = trace->count, .waits = trace->wait_count};
    size_t given = trace->rank_count;
    uint32_t added = 0, *place = array_zeroed(trace->count, sizeof *place);
    find_partners(&filling);
    for (uint32_t i = 0; i < model->rank_count; i++) {
        uint32_t like = find_like(trace, given, model->ranks[i].stage);
        if (like == RECORDED_NONE || has_rank(trace, model->ranks[i].number))
            continue;
        uint32_t own = recorded_rank(trace, model->ranks[i].number, trace->ranks[like].file);
        trace->ranks[own].stage = trace->ranks[like].stage;
        trace->ranks[own].shift = trace->ranks[like].shift;
        copy_operations(&filling, like, own, place);
        copy_waits(&filling, like, place);
        added++;
    }
    for (size_t i = 0; added && i < filling.given; i++) { /* groups of all are told apart in the same way */
        const struct recorded_stream *stream = recorded_stream_of(trace, &trace->operations[i]);
        join(&filling, &trace->operations[i], trace->ranks[stream->rank].number, stream->name);
    }
    free(filling.partners);
    free(place);
    if (added)
        recorded_finish(trace);
    return added;
}
