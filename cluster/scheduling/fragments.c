/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/sum.h"
#include "cluster/scheduling/figures.h"

#include <math.h>
#include <stdlib.h>

/* Nodes that are taken or given back, and how the number of jobs changes that wait for nodes. */
struct event {
    double time;
    const uint32_t *nodes; /* count of them */
    uint32_t count;
    int taken, waiting;
};

/* At one time nodes are first given back. */
static int by_time(const void *left, const void *right)
{
    const struct event *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->taken - b->taken;
}

static struct event *collect(const struct queue_run *run, size_t *count)
{
    uint32_t jobs = run->request->job_count;
    struct event *events = array_zeroed(2 * ((size_t)jobs + run->span_count + run->away_count) + 1, sizeof *events);
    *count = 0;
    for (uint32_t job = 0; job < jobs; job++) {
        events[(*count)++] = (struct event){run->request->jobs[job].submit, NULL, 0, 0, 1};
        events[(*count)++] = (struct event){run->records[job].end, NULL, 0, 0, -1};
    }
    for (size_t i = 0; i < run->span_count; i++) {
        const struct queue_span *span = &run->spans[i];
        events[(*count)++] = (struct event){span->from, span->nodes, span->count, 1, -1};
        events[(*count)++] = (struct event){span->to, span->nodes, span->count, -1, 1};
    }
    for (size_t i = 0; i < run->away_count; i++) {
        const struct queue_away *away = &run->away[i];
        if (!(away->to > away->from))
            continue;
        events[(*count)++] = (struct event){away->from, &away->node, 1, 1, 0};
        events[(*count)++] = (struct event){away->to, &away->node, 1, -1, 0};
    }
    qsort(events, *count, sizeof *events, by_time);
    return events;
}

/* Blocks of nodes, and of what use those are that are free. */
struct blocks {
    uint32_t size;
    uint32_t *free; /* by block */
    double *larger; /* [free nodes]: share of the jobs that a block holds which ask for more */
    double nodes, useless;
};

static void change(struct blocks *blocks, uint32_t node, int taken)
{
    uint32_t *count = &blocks->free[node / blocks->size];
    blocks->useless -= *count * blocks->larger[*count];
    *count = taken > 0 ? *count - 1 : *count + 1;
    blocks->useless += *count * blocks->larger[*count];
    blocks->nodes -= taken;
}

/* False where no block holds a job. */
static bool open_blocks(const struct queue_run *run, uint32_t size, struct blocks *blocks)
{
    const struct queue_request *request = run->request;
    uint32_t jobs = 0;
    *blocks = (struct blocks){.size = size,
                              .free = array_zeroed((size_t)request->nodes / size + 1, sizeof *blocks->free),
                              .larger = array_zeroed((size_t)size + 1, sizeof *blocks->larger)};
    for (uint32_t job = 0; job < request->job_count; job++)
        if (request->jobs[job].nodes <= size) {
            jobs++;
            blocks->larger[request->jobs[job].nodes]++;
        }
    double above = 0;
    for (uint32_t free = size + 1; free-- > 0;) {
        double asking = blocks->larger[free];
        blocks->larger[free] = jobs ? above / jobs : 0;
        above += asking;
    }
    for (uint32_t node = 0; node < request->nodes; node++)
        change(blocks, node, -1);
    return jobs > 0;
}

/* Returns the useless share of free nodes' time; *waiting is the time of nodes that are free while a job waits. */
static double measure(const struct queue_run *run, const struct event *events, size_t count, uint32_t size,
                      double *waiting)
{
    struct blocks blocks;
    struct sum all = {0}, useless = {0}, lost = {0};
    bool some = open_blocks(run, size, &blocks);
    int64_t waits = 0;
    for (size_t i = 0; i < count; i++) {
        const struct event *event = &events[i];
        double passed = i ? event->time - events[i - 1].time : 0;
        sum_add(&all, blocks.nodes * passed);
        sum_add(&useless, fmax(0, blocks.useless) * passed);
        sum_add(&lost, waits > 0 ? blocks.nodes * passed : 0);
        waits += event->waiting;
        for (uint32_t k = 0; k < event->count; k++)
            change(&blocks, event->nodes[k], event->taken);
    }
    free(blocks.free);
    free(blocks.larger);
    *waiting = sum_total(&lost);
    return !some ? NAN : sum_total(&all) > 0 ? sum_total(&useless) / sum_total(&all) : 0;
}

void queue_fragments(const struct queue_run *run, double makespan, struct queue_fragments *fragments)
{
    const struct queue_request *request = run->request;
    size_t count;
    struct event *events = collect(run, &count);
    double waiting;
    fragments->cluster = measure(run, events, count, request->nodes, &waiting);
    fragments->waiting = waiting / (request->nodes * makespan);
    fragments->blocks = request->options.block ? measure(run, events, count, request->options.block, &waiting) : NAN;
    free(events);
}
