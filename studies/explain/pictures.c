/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/explain/pictures.h"

#include "base/arena.h"
#include "studies/orders/replicas.h"

#include <math.h>
#include <stdlib.h>

struct drawing {
    const struct recorded *recorded;
    struct gantt *gantt;
    uint32_t *row; /* [rank index]: RECORDED_NONE: not shown */
};

static enum gantt_kind kind_of(const struct recorded_operation *operation)
{
    switch (operation->work) {
    case RECORDED_FORWARD:
        return GANTT_FORWARD;
    case RECORDED_BACKWARD:
        return GANTT_BACKWARD;
    case RECORDED_WEIGHT:
        return GANTT_WEIGHT;
    case RECORDED_OPTIMIZER:
        return GANTT_OPTIMIZER;
    default:
        return operation->kind == RECORDED_COLLECTIVE ? GANTT_COLLECTIVE : GANTT_COMPUTE;
    }
}

static void add_box(const struct drawing *drawing, const struct recorded_operation *operation, double begin, double end)
{
    uint32_t row = drawing->row[recorded_rank_of(drawing->recorded, operation)];
    bool collective = operation->kind == RECORDED_COLLECTIVE;
    if (row == RECORDED_NONE || (operation->kind != RECORDED_COMPUTE && !collective) || !(end > begin))
        return;
    gantt_add_box(drawing->gantt, &(struct gantt_box){.start = fmax(begin, 0),
                                                      .end = fmax(end, 0),
                                                      .row = row,
                                                      .number = operation->micro_batch,
                                                      .kind = (uint8_t)kind_of(operation),
                                                      .lane = collective ? GANTT_LANE_COLLECTIVE : GANTT_LANE_COMPUTE});
}

static struct drawing begin(const struct recorded *recorded, const uint32_t *ranks, size_t count, const char *title,
                            double seconds)
{
    char subtitle[128], label[48];
    snprintf(subtitle, sizeof subtitle, "%.6g s a step; %zu of %zu ranks", seconds, count, recorded->rank_count);
    struct drawing drawing = {recorded, gantt_create(title, subtitle, GANTT_SECONDS),
                              array_zeroed(recorded->rank_count, sizeof *drawing.row)};
    for (size_t i = 0; i < recorded->rank_count; i++)
        drawing.row[i] = RECORDED_NONE;
    for (size_t i = 0; i < count; i++) {
        snprintf(label, sizeof label, "%u", recorded->ranks[ranks[i]].number);
        drawing.row[ranks[i]] = gantt_add_row(drawing.gantt, label, -1);
    }
    return drawing;
}

static struct gantt *end(struct drawing *drawing)
{
    free(drawing->row);
    gantt_finish(drawing->gantt);
    return drawing->gantt;
}

struct gantt *pictures_recorded(const struct recorded *recorded, uint32_t step, const uint32_t *ranks, size_t count,
                                const char *title)
{
    double first = INFINITY, last = -INFINITY;
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (operation->step == step && recorded_works(operation)) {
            first = fmin(first, operation->begin);
            last = fmax(last, operation->end);
        }
    }
    struct drawing drawing = begin(recorded, ranks, count, title, last - first);
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (operation->step == step && recorded_works(operation))
            add_box(&drawing, operation, operation->begin - first, operation->end - first);
    }
    return end(&drawing);
}

struct gantt *pictures_replayed(const struct recorded *recorded, uint32_t step, const double *seconds,
                                const uint32_t *ranks, size_t count, const char *title, struct fault *fault)
{
    struct replay *replay = replay_create(recorded, step, fault);
    if (!replay)
        return NULL;
    double *own = array_zeroed(replay->node_count, sizeof *own), *gaps = array_zeroed(replay->node_count, sizeof *gaps),
           *ends = array_zeroed(replay->node_count, sizeof *ends);
    for (uint32_t i = 0; i < replay->node_count; i++)
        own[i] = replay->nodes[i].kind == REPLAY_WORK ? seconds[replay->nodes[i].operation] : 0;
    struct drawing drawing = begin(recorded, ranks, count, title, replay_time(replay, own, gaps, ends));
    for (uint32_t i = 0; i < replay->node_count; i++)
        if (replay->nodes[i].kind == REPLAY_WORK)
            add_box(&drawing, &recorded->operations[replay->nodes[i].operation], ends[i] - own[i], ends[i]);
    free(own);
    free(gaps);
    free(ends);
    replay_finish(replay);
    return end(&drawing);
}

size_t pictures_ranks(const struct recorded *recorded, uint32_t around, uint32_t ranks[PICTURES_RANKS_MAX])
{
    struct arena *arena = arena_create();
    const uint32_t *replicas = orders_replicas(recorded, arena);
    bool all = recorded->rank_count <= PICTURES_RANKS_MAX;
    size_t count = 0;
    for (uint32_t i = 0; i < recorded->rank_count && count < PICTURES_RANKS_MAX; i++)
        if (all || replicas[i] == replicas[around == RECORDED_NONE ? 0 : around])
            ranks[count++] = i;
    arena_destroy(arena);
    return count;
}
