/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/profile/picture.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS_MAX = 64 };

/* The step in the middle of those that the trace has; RECORDED_NONE: it has none. */
static uint32_t middle_step(const struct recorded *recorded)
{
    uint32_t low = RECORDED_NONE, high = 0;
    for (size_t i = 0; i < recorded->count; i++) {
        uint32_t step = recorded->operations[i].step;
        if (step == RECORDED_NONE || !recorded_works(&recorded->operations[i]))
            continue;
        low = step < low ? step : low;
        high = step > high ? step : high;
    }
    return low == RECORDED_NONE ? RECORDED_NONE : low + (high - low) / 2;
}

static bool is_shown(const struct recorded_operation *operation, uint32_t step)
{
    return recorded_works(operation) && (step == RECORDED_NONE || operation->step == step);
}

static enum gantt_kind kind_of(const struct recorded_operation *operation)
{
    return operation->kind == RECORDED_COMPUTE  ? GANTT_COMPUTE
           : operation->kind == RECORDED_MEMORY ? GANTT_TRANSFER
                                                : GANTT_COLLECTIVE;
}

struct gantt *picture_profile(const struct recorded *recorded)
{
    uint32_t step = middle_step(recorded), *row = array_zeroed(recorded->stream_count, sizeof *row);
    char title[48], label[64];
    double first = INFINITY;
    uint32_t rows = 0;
    snprintf(title, sizeof title, step == RECORDED_NONE ? "recorded" : "recorded, step %u", step);
    struct gantt *gantt = gantt_create(title, "streams of the device: rank and stream", GANTT_SECONDS);
    for (size_t i = 0; i < recorded->count; i++)
        if (is_shown(&recorded->operations[i], step))
            first = fmin(first, recorded->operations[i].begin);
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (!is_shown(operation, step))
            continue;
        if (!row[operation->stream] && rows < ROWS_MAX) {
            const struct recorded_stream *stream = recorded_stream_of(recorded, operation);
            snprintf(label, sizeof label, "%u:%u", recorded->ranks[stream->rank].number, (uint32_t)stream->number);
            gantt_add_row(gantt, label, -1);
            row[operation->stream] = ++rows;
        }
        if (row[operation->stream])
            gantt_add_box(gantt, &(struct gantt_box){.start = operation->begin - first,
                                                     .end = operation->end - first,
                                                     .row = row[operation->stream] - 1,
                                                     .number = GANTT_NO_NUMBER,
                                                     .kind = (uint8_t)kind_of(operation),
                                                     .lane = GANTT_LANE_COMPUTE});
    }
    free(row);
    gantt_finish(gantt);
    return gantt;
}
