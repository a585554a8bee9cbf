/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "studies/profile/kernel_graph_parts.h"

#include <math.h>

void graph_line_up(struct graph *graph)
{
    const struct recorded *recorded = graph->recorded;
    size_t count = 0;
    graph->line = array_zeroed(recorded->count, sizeof *graph->line);
    graph->line_first = array_zeroed(recorded->stream_count + 1, sizeof *graph->line_first);
    for (size_t s = 0; s < recorded->stream_count; s++) {
        for (size_t i = recorded->first[s]; i < recorded->first[s + 1] && !recorded->streams[s].host; i++)
            if (recorded_works(&recorded->operations[i]) && *replay_work_of(graph->build, (uint32_t)i) != RECORDED_NONE)
                graph->line[count++] = (uint32_t)i;
        graph->line_first[s + 1] = count;
    }
}

static uint32_t node_of(const struct graph *graph, size_t at)
{
    return *replay_work_of(graph->build, graph->line[at]);
}

/* The node that an operation of the device begins with. */
static uint32_t entry_of(const struct graph *graph, size_t at)
{
    uint32_t arrival = *replay_arrival_of(graph->build, graph->line[at]);
    return arrival == RECORDED_NONE ? node_of(graph, at) : arrival;
}

static const struct recorded_operation *operation_at(const struct graph *graph, size_t at)
{
    return &graph->recorded->operations[graph->line[at]];
}

/* When it was launched; when it began, if nothing says it. */
static double launch_at(const struct graph *graph, size_t at)
{
    double launched = graph->launched[graph->line[at]];
    return isnan(launched) ? operation_at(graph, at)->begin : launched;
}

void graph_await_device(struct graph *graph, uint32_t rank, const struct recorded_operation *call, uint32_t node)
{
    const struct recorded *recorded = graph->recorded;
    for (size_t s = 0; s < recorded->stream_count; s++) {
        if (recorded->streams[s].rank != rank)
            continue;
        size_t *passed = &graph->passed[s];
        while (*passed < graph->line_first[s + 1] && launch_at(graph, *passed) <= call->begin &&
               operation_at(graph, *passed)->end <= call->end)
            (*passed)++;
        if (*passed > graph->line_first[s])
            replay_add_edge(graph->build, node_of(graph, *passed - 1), node);
    }
}

void graph_chain_streams(struct graph *graph)
{
    for (size_t s = 0; s < graph->recorded->stream_count; s++)
        for (size_t i = graph->line_first[s]; i < graph->line_first[s + 1]; i++) {
            replay_add_edge(graph->build, graph->launch[graph->line[i]], entry_of(graph, i));
            if (i > graph->line_first[s])
                replay_add_edge(graph->build, node_of(graph, i - 1), entry_of(graph, i));
        }
}

/* The first operation of a stream that is launched at or after a moment; the end of the stream: none is. */
static size_t first_after(const struct graph *graph, size_t stream, double time)
{
    size_t low = graph->line_first[stream], high = graph->line_first[stream + 1];
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (launch_at(graph, middle) < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Times are of nanoseconds, and rounded. */
static const double exact = 10e-9;

/* Of a stream, the number of operations that ended at or before a moment, and those of the streams before. */
static size_t ended_by(const struct graph *graph, size_t stream, double time)
{
    size_t low = graph->line_first[stream], high = graph->line_first[stream + 1];
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (operation_at(graph, middle)->end <= time + exact)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- what the trace says ---- */

/* Numbers of streams have the device's above them. */
static size_t stream_of(const struct recorded *recorded, uint32_t rank, uint32_t number)
{
    size_t s = 0;
    while (s < recorded->stream_count && (recorded->streams[s].host || recorded->streams[s].rank != rank ||
                                          (uint32_t)recorded->streams[s].number != number))
        s++;
    return s;
}

/* A stream waits for an event of another one: its next operation for the last one before the event was recorded. What
 * has not ended when it begins it did not wait for. */
static void add_sync(struct graph *graph, const struct recorded_sync *sync)
{
    const struct recorded *recorded = graph->recorded;
    const struct recorded_operation *operation = &recorded->operations[sync->operation];
    uint32_t rank = recorded_rank_of(recorded, operation);
    size_t own = stream_of(recorded, rank, sync->stream), other = stream_of(recorded, rank, sync->awaited_stream);
    if (own == recorded->stream_count || other == recorded->stream_count || own == other)
        return;
    double noted = graph->noted[sync - recorded->syncs];
    size_t after = first_after(graph, own, operation->begin),
           before = first_after(graph, other, isnan(noted) ? operation->begin : noted);
    if (after == graph->line_first[own + 1])
        return;
    size_t ended = ended_by(graph, other, operation_at(graph, after)->begin);
    before = ended < before ? ended : before;
    if (before > graph->line_first[other])
        replay_add_edge(graph->build, node_of(graph, before - 1), entry_of(graph, after));
}

/* ---- where it says nothing ---- */

/* An operation that begins so soon after another one has waited for it. */
static const double soon = 20e-6;

static void guess_wait(struct graph *graph, size_t own, size_t at)
{
    const struct recorded *recorded = graph->recorded;
    const struct recorded_operation *operation = operation_at(graph, at);
    double ready = launch_at(graph, at);
    if (at > graph->line_first[own])
        ready = fmax(ready, operation_at(graph, at - 1)->end);
    if (!(operation->begin - ready > soon))
        return; /* nothing has to explain when it begins */
    for (size_t s = 0; s < recorded->stream_count; s++) {
        if (s == own || recorded->streams[s].rank != recorded->streams[own].rank)
            continue;
        size_t ended = ended_by(graph, s, operation->begin);
        if (ended > graph->line_first[s] && launch_at(graph, ended - 1) < launch_at(graph, at) &&
            operation->begin - operation_at(graph, ended - 1)->end <= soon)
            replay_add_edge(graph->build, node_of(graph, ended - 1), entry_of(graph, at));
    }
}

void graph_join_streams(struct graph *graph)
{
    const struct recorded *recorded = graph->recorded;
    for (size_t i = 0; i < recorded->sync_count; i++)
        add_sync(graph, &recorded->syncs[i]);
    for (size_t s = 0; s < recorded->stream_count; s++)
        for (size_t i = graph->line_first[s]; i < graph->line_first[s + 1]; i++)
            guess_wait(graph, s, i);
}
