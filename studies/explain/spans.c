/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/explain/spans.h"

#include "base/arena.h"
#include "base/numbers/median.h"
#include "studies/orders/replicas.h"

#include <math.h>
#include <stdlib.h>

/* Of a replica in a step. */
struct span {
    double begin, end; /* recorded */
    double replayed;   /* the last end in the replay, which begins at 0 */
};

static bool belongs(const struct recorded *recorded, const struct replay_node *node)
{
    if (node->kind != REPLAY_WORK || node->operation == RECORDED_NONE)
        return false;
    const struct recorded_operation *operation = &recorded->operations[node->operation];
    return operation->kind == RECORDED_COMPUTE &&
           (operation->work == RECORDED_FORWARD || operation->work == RECORDED_BACKWARD ||
            operation->work == RECORDED_WEIGHT);
}

/* Fills the spans of a step, [replica]. */
static void measure(const struct replay *replay, const uint32_t *replicas, struct span *spans)
{
    const struct recorded *recorded = replay->recorded;
    double *seconds = array_zeroed(replay->node_count, sizeof *seconds);
    double *gaps = array_zeroed(replay->node_count, sizeof *gaps);
    double *ends = array_zeroed(replay->node_count, sizeof *ends);
    for (size_t i = 0; i < recorded->rank_count; i++)
        spans[replicas[i]] = (struct span){INFINITY, -INFINITY, 0};
    for (uint32_t i = 0; i < replay->node_count; i++)
        if (belongs(recorded, &replay->nodes[i]))
            seconds[i] = replay->nodes[i].seconds;
    replay_time(replay, seconds, gaps, ends);
    for (uint32_t i = 0; i < replay->node_count; i++) {
        if (!belongs(recorded, &replay->nodes[i]))
            continue;
        const struct recorded_operation *operation = &recorded->operations[replay->nodes[i].operation];
        struct span *span = &spans[replicas[recorded_rank_of(recorded, operation)]];
        span->begin = fmin(span->begin, operation->begin);
        span->end = fmax(span->end, operation->end);
        span->replayed = fmax(span->replayed, ends[i]);
    }
    free(seconds);
    free(gaps);
    free(ends);
}

void spans_find(const struct recorded *recorded, struct replay *const *replays, size_t step_count, struct arena *arena,
                struct spans *spans)
{
    *spans = (struct spans){0, 0, 0, 0};
    const uint32_t *replicas = orders_replicas(recorded, arena);
    uint32_t count = 0;
    for (size_t i = 0; i < recorded->rank_count; i++)
        count = replicas[i] >= count ? replicas[i] + 1 : count;
    struct span *own = array_zeroed(count, sizeof *own);
    double *errors = NULL;
    size_t capacity = 0;
    for (size_t s = 0; s < step_count; s++) {
        measure(replays[s], replicas, own);
        for (uint32_t i = 0; i < count; i++) {
            if (!(own[i].end > own[i].begin))
                continue;
            errors = array_grow(errors, &capacity, spans->count + 1, sizeof *errors);
            errors[spans->count++] = own[i].replayed / (own[i].end - own[i].begin) - 1;
            spans->measured += own[i].end - own[i].begin;
            spans->replayed += own[i].replayed;
        }
    }
    spans->measured /= (double)spans->count; /* none: NaN */
    spans->replayed /= (double)spans->count;
    spans->error = spans->count ? median(errors, spans->count) : NAN;
    free(own);
    free(errors);
}
