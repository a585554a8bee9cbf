/* SPDX-License-Identifier: Apache-2.0 */
/* How much communication nothing hides, of a rank of each column: the time in which it computes or communicates, less
 * the time in which it computes.
 *
 * Of each rank the times at which it is active are kept, apart from each other and in order. Operations are noted about
 * in the order of their ends, so that one is mostly a new time at the end or makes the last one longer.
 */
#include "simulator/engines/analytic/columns_walk.h"

#include "base/arena.h"
#include "base/intervals.h"
#include "base/sum.h"

#include <math.h>
#include <string.h>

struct active_times {
    struct interval *times; /* apart from each other, in order */
    uint32_t count, capacity;
};

struct columns_activity {
    struct active_times *ranks; /* [position * columns + column] */
    uint32_t **noted;           /* [position][stream]: the first operation that is not noted */
};

void columns_activity_create(struct columns *c)
{
    uint32_t positions = c->program->mesh->positions;
    struct columns_activity *activity = arena_alloc(c->arena, sizeof *activity);
    *activity =
        (struct columns_activity){.ranks = arena_array(c->arena, (size_t)positions * c->count, sizeof *activity->ranks),
                                  .noted = arena_array(c->arena, positions, sizeof *activity->noted)};
    for (uint32_t index = 0; index < positions; index++) {
        const struct position *position = c->positions[index].position;
        activity->noted[index] = arena_array(c->arena, position->stream_count, sizeof **activity->noted);
        for (uint32_t i = 0; i < position->stream_count; i++)
            activity->noted[index][i] = position->streams[i].first;
    }
    c->activity = activity;
}

static void grow(struct active_times *rank, struct arena *arena)
{
    uint32_t capacity = rank->capacity ? 2 * rank->capacity : 64;
    struct interval *times = arena_array(arena, capacity, sizeof *times);
    if (rank->count)
        memcpy(times, rank->times, rank->count * sizeof *times);
    rank->times = times;
    rank->capacity = capacity;
}

static void append(struct active_times *rank, struct interval time, struct arena *arena)
{
    if (rank->count == rank->capacity)
        grow(rank, arena);
    rank->times[rank->count++] = time;
}

/* Anywhere: those that it touches become one with it. */
static void insert(struct active_times *rank, struct interval time, struct arena *arena)
{
    uint32_t end = rank->count, first;
    while (end > 0 && rank->times[end - 1].start > time.end)
        end--;
    for (first = end; first > 0 && rank->times[first - 1].end >= time.start; first--) {
        time.start = rank->times[first - 1].start < time.start ? rank->times[first - 1].start : time.start;
        time.end = rank->times[first - 1].end > time.end ? rank->times[first - 1].end : time.end;
    }
    if (first == end) {
        append(rank, time, arena); /* makes room */
        memmove(&rank->times[end + 1], &rank->times[end], (rank->count - 1 - end) * sizeof *rank->times);
    } else {
        memmove(&rank->times[first + 1], &rank->times[end], (rank->count - end) * sizeof *rank->times);
        rank->count -= end - first - 1;
    }
    rank->times[first] = time;
}

static inline void add_time(struct active_times *rank, struct interval time, struct arena *arena)
{
    struct interval *last = rank->count ? &rank->times[rank->count - 1] : NULL;
    if (!last || time.start > last->end)
        append(rank, time, arena);
    else if (time.start < last->start)
        insert(rank, time, arena);
    else if (time.end > last->end)
        last->end = time.end;
}

static void add_operation(struct columns *c, uint32_t index, const double *ends, const double *seconds)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (seconds[i] > 0)
            add_time(&c->activity->ranks[(size_t)index * c->count + i],
                     (struct interval){ends[i] - seconds[i], ends[i]}, c->arena);
}

/* What an operation takes, in each column: of a message and a collective from when its data move. */
static const double *seconds_of(struct columns *c, uint32_t index, const struct stream *stream,
                                const struct operation *operation, double *seconds)
{
    const struct lane_position *lanes = &c->positions[index];
    const struct stagesim_cost *cost = operation_cost(c->program, operation);
    if (stream->type == OPERATION_COLLECTIVE)
        return columns_collective_seconds(c, stream->peer, operation);
    bool sends = stream->type == OPERATION_SEND;
    const struct lane_cursor *send = sends ? &lanes->cursors[operation->stream]
                                     : stream->type == OPERATION_RECEIVE
                                         ? &c->positions[stream->peer].cursors[stream->opposite]
                                         : NULL;
    for (uint32_t i = 0; i < c->count; i++)
        seconds[i] = send ? columns_message(send, i, cost->bytes) : columns_own(c, lanes, operation, cost->seconds, i);
    return seconds;
}

/* The stream of a position whose next operation that is not noted ends first; UINT32_MAX: all are noted. */
static uint32_t next_stream(const struct columns *c, uint32_t index)
{
    const struct lane_position *lanes = &c->positions[index];
    const uint32_t *noted = c->activity->noted[index];
    uint32_t found = UINT32_MAX;
    double first = INFINITY;
    for (uint32_t i = 0; i < lanes->position->stream_count; i++) {
        double end = noted[i] < lanes->cursors[i].next ? lanes->ends[(size_t)noted[i] * c->count] : INFINITY;
        if (end < first) {
            first = end;
            found = i;
        }
    }
    return found;
}

void columns_activity_note(struct columns *c)
{
    double seconds[COLUMNS_MAX];
    for (uint32_t index = 0; index < c->program->mesh->positions; index++) {
        const struct lane_position *lanes = &c->positions[index];
        for (uint32_t i; (i = next_stream(c, index)) != UINT32_MAX;) {
            const struct stream *stream = &lanes->position->streams[i];
            uint32_t id = c->activity->noted[index][i]++;
            if (stream->type != OPERATION_DELAY)
                add_operation(c, index, &lanes->ends[(size_t)id * c->count],
                              seconds_of(c, index, stream, &lanes->position->operations[id], seconds));
        }
    }
}

double columns_activity_exposed(const struct columns *c)
{
    struct sum sum = {0, 0};
    for (uint32_t index = 0; index < c->program->mesh->positions; index++)
        for (uint32_t column = 0; column < c->count; column++) {
            const struct active_times *rank = &c->activity->ranks[(size_t)index * c->count + column];
            double active = intervals_length(rank->times, rank->count);
            sum_add(&sum, c->weights[column] * fmax(0, active - c->positions[index].busy[column]));
        }
    return sum_total(&sum) / c->program->mesh->ranks;
}
