/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/idle/idle_gaps.h"

#include "base/arena.h"
#include "cluster/idle/node_set.h"

#include <math.h>
#include <stdlib.h>

/* A job starts or ends. */
struct turn {
    double time;
    bool starts;
    uint32_t job;
};

struct gaps {
    const struct arrival_log *arrivals;
    uint32_t nodes;
    double node_processors; /* processors that a node stands for */
    struct node_set free;
    double *since;    /* [node]: when it became free */
    uint32_t **taken; /* [job]: its nodes */
    uint32_t *taken_count;
    struct idle_span *spans;
    size_t count, capacity;
    double first; /* time of the first start: 0 of the log of idle nodes */
    struct arena *arena;
};

static int by_time(const void *left, const void *right)
{
    const struct turn *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->starts != b->starts)
        return a->starts - b->starts;
    return (a->job > b->job) - (a->job < b->job);
}

static uint32_t nodes_of(const struct gaps *gaps, const struct arrival *arrival)
{
    double nodes = arrival->nodes ? arrival->nodes : ceil(arrival->processors / gaps->node_processors);
    return nodes < gaps->nodes ? (uint32_t)nodes : gaps->nodes;
}

static void add_span(struct gaps *gaps, uint32_t node, double to)
{
    if (gaps->since[node] >= to)
        return;
    gaps->spans = array_grow(gaps->spans, &gaps->capacity, gaps->count + 1, sizeof *gaps->spans);
    gaps->spans[gaps->count++] = (struct idle_span){node, gaps->since[node] - gaps->first, to - gaps->first};
}

static void start_job(struct gaps *gaps, const struct turn *turn)
{
    uint32_t wanted = nodes_of(gaps, &gaps->arrivals->arrivals[turn->job]);
    uint32_t count = wanted < gaps->free.count ? wanted : gaps->free.count;
    gaps->taken[turn->job] = arena_array(gaps->arena, count + (size_t)1, sizeof(uint32_t));
    gaps->taken_count[turn->job] = count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = node_set_take(&gaps->free);
        gaps->taken[turn->job][i] = node;
        add_span(gaps, node, turn->time);
    }
}

static void end_job(struct gaps *gaps, const struct turn *turn)
{
    for (uint32_t i = 0; i < gaps->taken_count[turn->job]; i++) {
        node_set_add(&gaps->free, gaps->taken[turn->job][i]);
        gaps->since[gaps->taken[turn->job][i]] = turn->time;
    }
}

/* Both ends of every job that ran, in order. */
static size_t list_turns(const struct arrival_log *arrivals, struct turn *turns)
{
    size_t count = 0;
    for (uint32_t job = 0; job < arrivals->count; job++) {
        const struct arrival *arrival = &arrivals->arrivals[job];
        double start = arrival->submit + fmax(0, arrival->wait);
        if (arrival->run <= 0)
            continue;
        turns[count++] = (struct turn){start, true, job};
        turns[count++] = (struct turn){start + arrival->run, false, job};
    }
    qsort(turns, count, sizeof *turns, by_time);
    return count;
}

static struct idle_log *find_gaps(struct gaps *gaps)
{
    struct turn *turns = array_zeroed(2 * gaps->arrivals->count + 1, sizeof *turns);
    size_t count = list_turns(gaps->arrivals, turns);
    double last = count ? turns[count - 1].time : 0;
    gaps->first = count ? turns[0].time : 0;
    for (uint32_t node = 0; node < gaps->nodes; node++) {
        node_set_add(&gaps->free, node);
        gaps->since[node] = gaps->first;
    }
    for (size_t i = 0; i < count; i++)
        (turns[i].starts ? start_job : end_job)(gaps, &turns[i]);
    while (gaps->free.count)
        add_span(gaps, node_set_take(&gaps->free), last);
    free(turns);
    struct idle_span *spans = arena_array(gaps->arena, gaps->count + 1, sizeof *spans);
    for (size_t i = 0; i < gaps->count; i++)
        spans[i] = gaps->spans[i];
    free(gaps->spans);
    struct idle_log *log = idle_log_create(NULL, gaps->nodes, spans, gaps->count, gaps->arena);
    log->end = last - gaps->first;
    return log;
}

struct idle_log *idle_gaps_load(const char *file, struct place at, enum arrival_format format, uint32_t nodes,
                                struct arena *arena, struct diag *diag)
{
    const struct arrival_log *arrivals = arrival_log_load(file, at, format, arena, diag);
    if (!arrivals)
        return NULL;
    uint32_t own = arrivals->nodes ? arrivals->nodes : arrivals->processors, all = nodes ? nodes : own;
    if (!all || all > IDLE_NODES_MAX) {
        diag_error(diag, at, "%s: the log says that the machine has %u nodes; expected 'nodes: COUNT', at most %d",
                   file, all, (int)IDLE_NODES_MAX);
        return NULL;
    }
    struct gaps gaps = {.arrivals = arrivals,
                        .nodes = all,
                        .node_processors = arrivals->processors > all ? (double)arrivals->processors / all : 1,
                        .free = node_set_create(all, arena),
                        .since = arena_array(arena, all, sizeof(double)),
                        .taken = arena_array(arena, arrivals->count, sizeof(uint32_t *)),
                        .taken_count = arena_array(arena, arrivals->count, sizeof(uint32_t)),
                        .arena = arena};
    return find_gaps(&gaps);
}
