/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/timeline.h"

#include "simulator/arena.h"

#include <math.h>
#include <stdlib.h>

static void *allocate(size_t count, size_t size)
{
    size_t capacity = count ? count : 1;
    size_t none = 0;
    return array_grow(NULL, &none, capacity, size);
}

static struct moment *moments_create(uint32_t count)
{
    struct moment *moments = allocate(count, sizeof *moments);
    for (uint32_t id = 0; id < count; id++)
        moments[id] = (struct moment){NAN, NAN, NAN};
    return moments;
}

struct timeline *timeline_create(const struct program *program)
{
    const struct mesh *mesh = program->mesh;
    struct timeline *timeline = allocate(1, sizeof *timeline);
    *timeline = (struct timeline){.program = program,
                                  .rank_count = mesh->ranks,
                                  .ranks = allocate(mesh->ranks, sizeof *timeline->ranks),
                                  .index_of = allocate(mesh->ranks, sizeof *timeline->index_of),
                                  .moments = allocate(mesh->ranks, sizeof(struct moment *))};
    for (uint32_t rank = 0; rank < mesh->ranks; rank++) {
        timeline->ranks[rank] = timeline->index_of[rank] = rank;
        timeline->moments[rank] = moments_create(program->positions[mesh->position_of[rank]].operation_count);
    }
    return timeline;
}

void timeline_destroy(struct timeline *timeline)
{
    if (!timeline)
        return;
    for (uint32_t i = 0; i < timeline->rank_count; i++)
        free(timeline->moments[i]);
    free(timeline->moments);
    free(timeline->index_of);
    free(timeline->ranks);
    free(timeline);
}

static void finish_stream(const struct timeline *timeline, uint32_t index, const struct stream *stream)
{
    const struct mesh *mesh = timeline->program->mesh;
    uint32_t peer = mesh_rank(mesh, stream->peer, mesh->replica_of[timeline->ranks[index]]);
    const struct moment *sent = timeline_rank(timeline, peer) + timeline->program->positions[stream->peer].streams[stream->opposite].first;
    struct moment *times = timeline->moments[index];
    double stream_free = 0;
    for (uint32_t i = 0; i < stream->count; i++) {
        times[stream->first + i] = (struct moment){stream_free, sent[i].data_start, sent[i].end};
        stream_free = sent[i].end;
    }
}

void timeline_finish_receives(struct timeline *timeline)
{
    for (uint32_t index = 0; index < timeline->rank_count; index++) {
        const struct position *position = &timeline->program->positions[timeline->program->mesh->position_of[timeline->ranks[index]]];
        for (uint32_t i = 0; i < position->stream_count; i++)
            if (position->streams[i].type == OPERATION_RECEIVE)
                finish_stream(timeline, index, &position->streams[i]);
    }
}
