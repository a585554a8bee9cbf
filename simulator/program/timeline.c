/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/program/timeline.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "simulator/program/stream_route.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static void *allocate(size_t count, size_t size)
{
    size_t capacity = count ? count : 1;
    size_t none = 0;
    return array_grow(NULL, &none, capacity, size);
}

void timeline_reset(struct timeline *timeline)
{
    struct moment *moments = timeline->moments[0];
    for (size_t i = 0; i < timeline->bytes / sizeof *moments; i++)
        moments[i] = (struct moment){NAN, NAN, NAN};
    timeline->activities = 0;
}

static uint32_t operation_count(const struct timeline *timeline, uint32_t index)
{
    const struct program *program = timeline->program;
    return program->positions[program->mesh->position_of[timeline->ranks[index]]].operation_count;
}

/* One block for the moments of all ranks; at least one moment, so that moments[0] is the block. */
static void allocate_moments(struct timeline *timeline, bool shared)
{
    size_t count = 1;
    for (uint32_t index = 0; index < timeline->rank_count; index++)
        count += operation_count(timeline, index);
    size_t joules = timeline->program->states ? timeline->rank_count * sizeof(double) / sizeof(struct moment) + 1 : 0;
    timeline->bytes = (count + joules) * sizeof(struct moment);
    struct moment *block = NULL;
    if (shared)
        block = mmap(NULL, timeline->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    else
        block = bulk_take(timeline->bytes, NULL);
    if (block == MAP_FAILED) {
        fputs("stagesim: out of memory for a shared timeline\n", stderr);
        exit(3);
    }
    for (uint32_t index = 0; index < timeline->rank_count; index++) {
        timeline->moments[index] = block;
        block += operation_count(timeline, index);
    }
    timeline->joules = joules ? (double *)(timeline->moments[0] + count) : NULL;
}

struct timeline *timeline_create_folded(const struct program *program, const uint32_t *equals, bool shared)
{
    const struct mesh *mesh = program->mesh;
    struct timeline *timeline = allocate(1, sizeof *timeline);
    *timeline = (struct timeline){.program = program,
                                  .shared = shared,
                                  .ranks = allocate(mesh->ranks, sizeof *timeline->ranks),
                                  .index_of = allocate(mesh->ranks, sizeof *timeline->index_of),
                                  .moments = allocate(mesh->ranks, sizeof(struct moment *))};
    for (uint32_t rank = 0; rank < mesh->ranks; rank++)
        if (!equals || equals[rank] == rank) {
            timeline->index_of[rank] = timeline->rank_count;
            timeline->ranks[timeline->rank_count++] = rank;
        }
    for (uint32_t rank = 0; equals && rank < mesh->ranks; rank++)
        timeline->index_of[rank] = timeline->index_of[equals[rank]];
    allocate_moments(timeline, shared);
    timeline_reset(timeline);
    return timeline;
}

struct timeline *timeline_create(const struct program *program)
{
    return timeline_create_folded(program, NULL, false);
}

void timeline_destroy(struct timeline *timeline)
{
    if (!timeline)
        return;
    if (timeline->shared)
        munmap(timeline->moments[0], timeline->bytes);
    else
        bulk_free(timeline->moments[0], timeline->bytes);
    if (timeline->latencies)
        free(timeline->latencies[0]);
    free(timeline->latencies);
    free(timeline->moments);
    free(timeline->index_of);
    free(timeline->ranks);
    free(timeline);
}

void timeline_note_latencies(struct timeline *timeline, struct platform *platform, const uint32_t *hosts)
{
    const struct mesh *mesh = timeline->program->mesh;
    size_t streams = 0;
    if (!timeline->program->pipelined || timeline->latencies)
        return;
    for (uint32_t entry = 0; entry < timeline->rank_count; entry++)
        streams += timeline->program->positions[mesh->position_of[timeline->ranks[entry]]].stream_count;
    timeline->latencies = allocate(timeline->rank_count, sizeof *timeline->latencies);
    double *latency = allocate(streams, sizeof *latency);
    for (uint32_t entry = 0; entry < timeline->rank_count; entry++) {
        uint32_t rank = timeline->ranks[entry];
        const struct position *position = &timeline->program->positions[mesh->position_of[rank]];
        timeline->latencies[entry] = latency;
        for (uint32_t i = 0; i < position->stream_count; i++, latency++) {
            struct platform_route route = {.latency = 0};
            if (position->streams[i].type == OPERATION_SEND)
                stream_route(timeline->program, platform, hosts, rank, &position->streams[i], &route);
            *latency = route.latency;
        }
    }
}

double timeline_send_latency(const struct timeline *timeline, uint32_t entry, const struct operation *operation)
{
    return timeline->latencies && operation->type == OPERATION_SEND ? timeline->latencies[entry][operation->stream] : 0;
}

static void finish_stream(const struct timeline *timeline, uint32_t index, const struct stream *stream)
{
    const struct mesh *mesh = timeline->program->mesh;
    uint32_t peer = mesh_rank(mesh, stream->peer, mesh->replica_of[timeline->ranks[index]]);
    const struct moment *sent =
        timeline_rank(timeline, peer) + timeline->program->positions[stream->peer].streams[stream->opposite].first;
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
        const struct position *position =
            &timeline->program->positions[timeline->program->mesh->position_of[timeline->ranks[index]]];
        for (uint32_t i = 0; i < position->stream_count; i++)
            if (position->streams[i].type == OPERATION_RECEIVE)
                finish_stream(timeline, index, &position->streams[i]);
    }
}

static uint32_t **instances_create(const struct timeline *timeline)
{
    const struct program *program = timeline->program;
    size_t streams = 0;
    for (uint32_t entry = 0; entry < timeline->rank_count; entry++)
        streams += program->positions[program->mesh->position_of[timeline->ranks[entry]]].stream_count;
    uint32_t **instances = allocate(1, timeline->rank_count * sizeof *instances + streams * sizeof **instances);
    uint32_t *next = (uint32_t *)&instances[timeline->rank_count];
    for (uint32_t entry = 0; entry < timeline->rank_count; entry++) {
        instances[entry] = next;
        next += program->positions[program->mesh->position_of[timeline->ranks[entry]]].stream_count;
    }
    for (size_t i = 0; i < streams; i++)
        instances[0][i] = UINT32_MAX;
    return instances;
}

uint32_t **timeline_instances(const struct timeline *timeline)
{
    const struct program *program = timeline->program;
    const struct mesh *mesh = program->mesh;
    uint32_t **instances = instances_create(timeline), *ranks = allocate(mesh->ranks, sizeof *ranks);
    for (uint32_t g = 0; g < program->group_count; g++) {
        const struct group *group = &program->groups[g];
        uint32_t size = group_size(program, group);
        for (uint32_t number = 0; group->collective_count && number < group_instances(program, group); number++) {
            group_ranks(program, group, number, ranks);
            for (uint32_t m = 0; m < size; m++) {
                uint32_t entry = timeline->index_of[ranks[m]];
                uint32_t stream = position_group_stream(&program->positions[mesh->position_of[ranks[m]]], g);
                if (instances[entry][stream] < number)
                    break; /* those before are alike */
                instances[entry][stream] = number;
            }
        }
    }
    free(ranks);
    return instances;
}
