/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/explain/replay_build.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

/* ---- order ---- */

static void lay_out(struct replay *replay, const struct replay_build *build)
{
    uint32_t count = replay->node_count;
    replay->first_before = array_zeroed((size_t)count + 1, sizeof *replay->first_before);
    replay->before = array_zeroed(build->edge_count, sizeof *replay->before);
    for (size_t i = 0; i < build->edge_count; i++)
        replay->first_before[build->edges[i].after + 1]++;
    for (uint32_t i = 0; i < count; i++)
        replay->first_before[i + 1] += replay->first_before[i];
    uint32_t *next = array_zeroed(count, sizeof *next);
    for (size_t i = 0; i < build->edge_count; i++) {
        uint32_t after = build->edges[i].after;
        replay->before[replay->first_before[after] + next[after]++] = build->edges[i].before;
    }
    free(next);
}

/* Kahn's. False: some nodes wait for each other in a circle. */
static bool find_order(struct replay *replay, const struct replay_build *build)
{
    uint32_t count = replay->node_count, done = 0, *waits = array_zeroed(count, sizeof *waits);
    uint32_t *first = array_zeroed((size_t)count + 1, sizeof *first),
             *after = array_zeroed(build->edge_count, sizeof *after);
    for (size_t i = 0; i < build->edge_count; i++)
        first[build->edges[i].before + 1]++;
    for (uint32_t i = 0; i < count; i++) {
        first[i + 1] += first[i];
        waits[i] = replay->first_before[i + 1] - replay->first_before[i];
    }
    uint32_t *next = array_zeroed(count, sizeof *next);
    for (size_t i = 0; i < build->edge_count; i++) {
        uint32_t before = build->edges[i].before;
        after[first[before] + next[before]++] = build->edges[i].after;
    }
    replay->order = array_zeroed(count, sizeof *replay->order);
    uint32_t filled = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!waits[i])
            replay->order[filled++] = i;
    for (; done < filled; done++)
        for (uint32_t i = first[replay->order[done]]; i < first[replay->order[done] + 1]; i++)
            if (--waits[after[i]] == 0)
                replay->order[filled++] = after[i];
    free(waits);
    free(first);
    free(after);
    free(next);
    return filled == count;
}

/* ---- times ---- */

static double ready_at(const struct replay *replay, uint32_t node, const double *ends)
{
    double ready = 0;
    for (uint32_t i = replay->first_before[node]; i < replay->first_before[node + 1]; i++)
        ready = ends[replay->before[i]] > ready ? ends[replay->before[i]] : ready;
    return ready;
}

/* When a node began in the trace, seconds after the step's begin; NaN: a meeting, which begins when it can. */
static double recorded_begin(const struct replay *replay, uint32_t node)
{
    const struct replay_node *it = &replay->nodes[node];
    if (it->kind == REPLAY_MEETING)
        return NAN;
    const struct recorded_operation *operation = &replay->recorded->operations[it->operation];
    double end = it->kind == REPLAY_ARRIVAL ? operation->begin : operation->end;
    return end - replay->begin - it->seconds;
}

/* Gaps are what is left between what a node waited for and its begin, as recorded. */
static void find_gaps(struct replay *replay)
{
    double *ends = array_zeroed(replay->node_count, sizeof *ends);
    for (uint32_t i = 0; i < replay->node_count; i++) {
        uint32_t node = replay->order[i];
        double ready = ready_at(replay, node, ends), begin = recorded_begin(replay, node);
        replay->nodes[node].gap = isnan(begin) ? 0 : begin - ready;
        ends[node] = ready + replay->nodes[node].gap + replay->nodes[node].seconds;
    }
    free(ends);
}

bool replay_is_first(const struct replay *replay, uint32_t node)
{
    uint32_t operation = replay->nodes[node].operation;
    return operation != RECORDED_NONE && replay->rounds > 1 &&
           replay->recorded->operations[operation].step == replay->first_step;
}

double replay_time(const struct replay *replay, const double *seconds, const double *gaps, double *ends)
{
    double *own = ends ? ends : array_zeroed(replay->node_count, sizeof *own), last = 0, first = 0;
    for (uint32_t i = 0; i < replay->node_count; i++) {
        uint32_t node = replay->order[i];
        const struct replay_node *it = &replay->nodes[node];
        own[node] =
            ready_at(replay, node, own) + (gaps ? gaps[node] : it->gap) + (seconds ? seconds[node] : it->seconds);
        last = own[node] > last ? own[node] : last;
        if (own[node] > first && replay_is_first(replay, node))
            first = own[node];
    }
    if (!ends)
        free(own);
    return replay_step_seconds(replay, first, last);
}

/* ---- the step ---- */

static bool collect(struct replay_build *build, double *begin, double *end)
{
    const struct recorded *recorded = build->recorded;
    size_t capacity = 0;
    uint32_t highest = 0;
    *begin = INFINITY;
    *end = -INFINITY;
    build->lowest = RECORDED_NONE;
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (!replay_has(build, operation) || !recorded_works(operation))
            continue;
        build->operations =
            array_grow(build->operations, &capacity, build->operation_count + 1, sizeof *build->operations);
        build->operations[build->operation_count++] = (uint32_t)i;
        build->lowest = (uint32_t)i < build->lowest ? (uint32_t)i : build->lowest;
        highest = (uint32_t)i;
        *begin = fmin(*begin, operation->begin);
        *end = fmax(*end, operation->end);
    }
    size_t span = build->operation_count ? (size_t)highest - build->lowest + 1 : 0;
    build->work = array_zeroed(span, sizeof *build->work);
    build->arrival = array_zeroed(span, sizeof *build->arrival);
    for (size_t i = 0; i < span; i++)
        build->work[i] = build->arrival[i] = RECORDED_NONE;
    return build->operation_count > 0;
}

struct replay *replay_of(struct replay_build *build, double begin, double end, struct fault *fault)
{
    struct replay *replay = array_zeroed(1, sizeof *replay);
    replay->recorded = build->recorded;
    replay->step = build->step;
    replay->begin = begin;
    replay->measured = replay->shortest = replay->longest = end - begin;
    replay->rounds = 1;
    replay->nodes = build->nodes;
    replay->node_count = (uint32_t)build->node_count;
    replay->unmatched = build->unmatched;
    lay_out(replay, build);
    bool good = find_order(replay, build) ||
                fault_set(fault, "the operations of step %u wait for each other in a circle", build->step);
    if (good)
        find_gaps(replay);
    free(build->operations);
    free(build->work);
    free(build->arrival);
    free(build->edges);
    if (good)
        return replay;
    replay_finish(replay);
    return NULL;
}

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Of a step: from its first begin to its last end. */
struct span {
    double begin, end;
    uint32_t step;
};

static int by_begin(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static int by_end(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    return a->end < b->end ? -1 : a->end > b->end;
}

/* Of ascending steps; in an order of time, for a trace may number them as it likes. The caller frees them. */
static struct span *spans_of(const struct recorded *recorded, const uint32_t *steps, size_t count,
                             int (*in_order)(const void *, const void *))
{
    struct span *spans = array_zeroed(count, sizeof *spans);
    for (size_t s = 0; s < count; s++)
        spans[s] = (struct span){INFINITY, -INFINITY, steps[s]};
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        const uint32_t *step = bsearch(&operation->step, steps, count, sizeof *steps, by_number);
        if (!step || !recorded_works(operation))
            continue;
        struct span *span = &spans[step - steps];
        span->begin = fmin(span->begin, operation->begin);
        span->end = fmax(span->end, operation->end);
    }
    if (count)
        qsort(spans, count, sizeof *spans, in_order);
    return spans;
}

void replay_join(const struct recorded *recorded, const uint32_t **steps, size_t *count)
{
    static const uint32_t all = REPLAY_ALL;
    struct span *spans = spans_of(recorded, *steps, *count, by_begin);
    bool overlap = false;
    for (size_t s = 1; s < *count; s++) {
        overlap |= spans[s].begin < spans[s - 1].end;
        spans[s].end = fmax(spans[s].end, spans[s - 1].end);
    }
    free(spans);
    if (!overlap || !recorded->wait_count)
        return;
    *steps = &all;
    *count = 1;
}

/* A step takes from the end of the one before to its own. */
static void measure_rounds(struct replay *replay)
{
    size_t count;
    uint32_t *steps = replay_steps(replay->recorded, &count);
    struct span *spans = spans_of(replay->recorded, steps, count, by_end);
    replay->rounds = (uint32_t)count;
    replay->first_step = spans[0].step;
    replay->measured = replay_step_seconds(replay, spans[0].end, spans[count - 1].end);
    replay->shortest = INFINITY;
    replay->longest = 0;
    for (size_t s = 1; s < count; s++) {
        replay->shortest = fmin(replay->shortest, spans[s].end - spans[s - 1].end);
        replay->longest = fmax(replay->longest, spans[s].end - spans[s - 1].end);
    }
    free(spans);
    free(steps);
}

struct replay *replay_create(const struct recorded *recorded, uint32_t step, struct fault *fault)
{
    struct replay_build build = {.recorded = recorded, .step = step};
    double begin, end;
    if (!collect(&build, &begin, &end)) {
        free(build.work);
        free(build.arrival);
        fault_set(fault, "step %u has no operations", step);
        return NULL;
    }
    if (recorded->wait_count)
        replay_build_waits(&build);
    else
        replay_build_rules(&build);
    struct replay *replay = replay_of(&build, begin, end, fault);
    if (replay && step == REPLAY_ALL)
        measure_rounds(replay);
    return replay;
}

void replay_finish(struct replay *replay)
{
    if (!replay)
        return;
    free(replay->nodes);
    free(replay->first_before);
    free(replay->before);
    free(replay->order);
    free(replay);
}

uint32_t *replay_steps(const struct recorded *recorded, size_t *count)
{
    uint32_t *steps = NULL, last = RECORDED_NONE;
    size_t capacity = 0, kept = 0;
    *count = 0;
    for (size_t i = 0; i < recorded->count; i++) {
        uint32_t step = recorded->operations[i].step;
        if (step == last || step == RECORDED_NONE || !recorded_works(&recorded->operations[i]))
            continue;
        last = step;
        steps = array_grow(steps, &capacity, *count + 1, sizeof *steps);
        steps[(*count)++] = step;
    }
    if (*count)
        qsort(steps, *count, sizeof *steps, by_number);
    for (size_t i = 0; i < *count; i++)
        if (!kept || steps[kept - 1] != steps[i])
            steps[kept++] = steps[i];
    *count = kept;
    return steps;
}
