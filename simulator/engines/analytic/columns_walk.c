/* SPDX-License-Identifier: Apache-2.0 */
/* All columns go through the program together. */
#include "simulator/engines/analytic/columns_walk.h"

#include <math.h>
#include <string.h>

enum { PROGRESS_INTERVAL = 1 << 16 };

static inline void push(struct columns *c, uint32_t position, uint32_t stream)
{
    struct lane_cursor *cursor = &c->positions[position].cursors[stream];
    if (cursor->queued)
        return;
    cursor->queued = true;
    c->stack[c->stack_count++] = (struct pair){position, stream};
}

/* An operation is done: streams whose next operation waits for it are tried again. */
static inline void set_off(struct columns *c, uint32_t index, uint32_t id)
{
    const struct lane_position *lanes = &c->positions[index];
    const struct position *position = lanes->position;
    uint32_t end = position->first_dependent[id + 1];
    c->done++;
    if (c->order)
        c->order[c->order_count++] = (struct done_operation){index, id};
    for (uint32_t i = position->first_dependent[id]; i < end; i++) {
        uint32_t dependent = position->dependents[i], stream = position->operations[dependent].stream;
        if (lanes->cursors[stream].next == dependent)
            push(c, index, stream);
    }
}

static INLINED void raise(double *times, const double *others, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        times[i] = others[i] > times[i] ? others[i] : times[i];
}

/* When the next operation of a stream can start, in each column, into where its end will stand. False: what it waits
 * for is not done. */
static INLINED bool find_start(uint32_t n, const struct lane_position *lanes, const struct lane_cursor *cursor,
                               const struct operation *operation, double *start)
{
    const struct position *position = lanes->position;
    uint32_t waits = operation_wait_count(operation);
    for (uint32_t i = 0; i < waits; i++) {
        uint32_t awaited = operation_wait(position, operation, i);
        if (awaited >= lanes->cursors[position->operations[awaited].stream].next)
            return false;
    }
    memcpy(start, cursor->free, n * sizeof *start);
    for (uint32_t i = 0; i < waits; i++)
        raise(start, columns_ends(n, lanes, operation_wait(position, operation, i)), n);
    return true;
}

/* A rank waits from the beginning for what it receives, and markers take no time. */
static INLINED void note_begin(struct columns *c, uint32_t n, const struct operation *operation, const double *start)
{
    if (c->begun <= 0 || (operation->kind == STAGESIM_EXCHANGE && operation_cost(c->program, operation)->seconds == 0))
        return;
    for (uint32_t i = 0; i < n; i++)
        c->begun = start[i] < c->begun ? start[i] : c->begun;
}

/* Ends stand where starts do. */
static INLINED void add_seconds(struct columns *c, uint32_t n, struct lane_position *lanes,
                                const struct operation *operation, bool computes, double *times)
{
    bool free = c->job->transfers_free && operation_reads_storage(operation);
    double seconds = free ? 0 : operation_cost(c->program, operation)->seconds;
    bool varies = c->program->variation_of[operation->cost] != VARIATION_NONE;
    c->activities += computes && seconds > 0 ? lanes->entries : 0;
    if (!varies && (lanes->even || !computes)) {
        for (uint32_t i = 0; i < n; i++)
            times[i] += seconds;
        for (uint32_t i = 0; computes && i < n; i++)
            lanes->busy[i] += seconds;
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        double own = columns_own(c, lanes, operation, seconds, i);
        times[i] += own;
        lanes->busy[i] += computes ? own : 0;
    }
}

/* ---- moments, where there is a timeline ---- */

static INLINED void begin_moments(const struct columns *c, uint32_t n, const struct lane_position *lanes, uint32_t id,
                                  const double *starts)
{
    for (uint32_t i = 0; c->timeline && i < n; i++)
        if (lanes->moments[i])
            lanes->moments[i][id].start = lanes->moments[i][id].data_start = starts[i];
}

static INLINED void end_moments(const struct columns *c, uint32_t n, const struct lane_position *lanes, uint32_t id,
                                const double *ends)
{
    for (uint32_t i = 0; c->timeline && i < n; i++)
        if (lanes->moments[i])
            lanes->moments[i][id].end = ends[i];
}

static INLINED void note_receive(const struct columns *c, uint32_t n, const struct lane_position *lanes, uint32_t id,
                                 const double *free, const double *starts, const double *ends)
{
    for (uint32_t i = 0; c->timeline && i < n; i++)
        if (lanes->moments[i])
            lanes->moments[i][id] = (struct moment){free[i], starts[i], ends[i]};
}

/* It began when its rank came. */
static INLINED void end_collective(const struct columns *c, uint32_t n, const struct lane_position *lanes, uint32_t id,
                                   const double *starts, const double *ends)
{
    for (uint32_t i = 0; c->timeline && i < n; i++)
        if (lanes->moments[i]) {
            lanes->moments[i][id].data_start = starts[i];
            lanes->moments[i][id].end = ends[i];
        }
}

/* ---- operations ---- */

static INLINED void advance_local(struct columns *c, uint32_t n, uint32_t index, struct lane_cursor *cursor)
{
    struct lane_position *lanes = &c->positions[index];
    while (cursor->next < cursor->end) {
        uint32_t id = cursor->next;
        const struct operation *operation = &lanes->position->operations[id];
        double *times = columns_ends(n, lanes, id);
        if (!find_start(n, lanes, cursor, operation, times))
            return;
        note_begin(c, n, operation, times);
        begin_moments(c, n, lanes, id, times);
        add_seconds(c, n, lanes, operation, cursor->type == OPERATION_COMPUTE, times);
        end_moments(c, n, lanes, id, times);
        cursor->free = times;
        cursor->next++;
        set_off(c, index, id);
    }
}

static INLINED void deliver(struct columns *c, uint32_t n, const struct lane_cursor *send, const double *starts,
                            const double *ends)
{
    struct lane_position *lanes = &c->positions[send->peer];
    struct lane_cursor *cursor = &lanes->cursors[send->opposite];
    uint32_t id = cursor->next++;
    double *times = columns_ends(n, lanes, id);
    memcpy(times, ends, n * sizeof *ends);
    note_receive(c, n, lanes, id, cursor->free, starts, ends);
    cursor->free = times;
    set_off(c, send->peer, id);
}

static INLINED void advance_sends(struct columns *c, uint32_t n, uint32_t index, struct lane_cursor *cursor)
{
    struct lane_position *lanes = &c->positions[index];
    while (cursor->next < cursor->end) {
        uint32_t id = cursor->next;
        const struct operation *operation = &lanes->position->operations[id];
        double *times = columns_ends(n, lanes, id), bytes = operation_cost(c->program, operation)->bytes;
        if (!find_start(n, lanes, cursor, operation, times))
            return;
        note_begin(c, n, operation, times);
        begin_moments(c, n, lanes, id, times);
        double starts[COLUMNS_MAX];
        memcpy(starts, times, n * sizeof *times);
        for (uint32_t i = 0; i < n; i++)
            times[i] += columns_message(cursor, i, bytes);
        end_moments(c, n, lanes, id, times);
        c->activities += lanes->entries;
        cursor->free = times;
        cursor->next++;
        set_off(c, index, id);
        deliver(c, n, cursor, starts, times);
    }
}

static INLINED void end_gathering(struct columns *c, uint32_t n, uint32_t group, const struct timed_collective *timed)
{
    struct gathering *gathering = &c->gatherings[group];
    double starts[COLUMNS_MAX];
    if (gathering->couples)
        columns_join(n, gathering->coupled, gathering->latest);
    memcpy(starts, gathering->latest, n * sizeof *starts);
    for (uint32_t i = 0; i < n; i++)
        gathering->latest[i] += timed->seconds[i];
    c->activities += gathering->instances * timed->flows;
    for (uint32_t i = 0; i < c->program->groups[group].position_count; i++) {
        uint32_t index = c->program->groups[group].positions[i];
        struct lane_position *lanes = &c->positions[index];
        uint32_t stream = position_group_stream(lanes->position, group);
        struct lane_cursor *cursor = &lanes->cursors[stream];
        uint32_t id = cursor->next++;
        double *ends = columns_ends(n, lanes, id);
        end_collective(c, n, lanes, id, starts, gathering->latest);
        memcpy(ends, gathering->latest, n * sizeof *ends);
        cursor->free = ends;
        cursor->arrived = false;
        set_off(c, index, id);
        if (cursor->next < cursor->end)
            push(c, index, stream);
    }
    gathering->arrived = 0;
}

static INLINED void arrive(struct columns *c, uint32_t n, uint32_t index, struct lane_cursor *cursor)
{
    struct lane_position *lanes = &c->positions[index];
    uint32_t id = cursor->next, group = cursor->peer;
    struct gathering *gathering = &c->gatherings[group];
    if (id == cursor->end || cursor->arrived)
        return;
    const struct operation *operation = &lanes->position->operations[id];
    double *start = columns_ends(n, lanes, id);
    if (!find_start(n, lanes, cursor, operation, start))
        return;
    note_begin(c, n, operation, start);
    begin_moments(c, n, lanes, id, start);
    cursor->arrived = true;
    if (gathering->arrived++)
        raise(gathering->latest, start, n);
    else
        memcpy(gathering->latest, start, n * sizeof *start);
    if (gathering->arrived == c->program->groups[group].position_count)
        end_gathering(c, n, group, columns_timed(c, group, operation));
}

static INLINED void advance(struct columns *c, uint32_t n, struct pair next)
{
    struct lane_cursor *cursor = &c->positions[next.position].cursors[next.stream];
    cursor->queued = false;
    switch ((enum operation_type)cursor->type) {
    case OPERATION_COMPUTE:
    case OPERATION_DELAY:
        advance_local(c, n, next.position, cursor);
        return;
    case OPERATION_SEND:
        advance_sends(c, n, next.position, cursor);
        return;
    case OPERATION_COLLECTIVE:
        arrive(c, n, next.position, cursor);
        return;
    case OPERATION_RECEIVE: /* goes on when the message is sent */
        return;
    }
}

static void report_progress(struct columns *c)
{
    const struct engine_progress *progress = c->job->progress;
    c->report_at = c->done + PROGRESS_INTERVAL;
    if (progress)
        progress->report(progress->user, c->done, c->total);
}

static INLINED void walk_with(struct columns *c, uint32_t n)
{
    for (uint32_t index = c->program->mesh->positions; index-- > 0;)
        for (uint32_t stream = c->positions[index].position->stream_count; stream-- > 0;)
            push(c, index, stream);
    c->report_at = PROGRESS_INTERVAL;
    while (c->stack_count) {
        advance(c, n, c->stack[--c->stack_count]);
        if (c->done >= c->report_at)
            report_progress(c);
    }
}

/* Loops are shorter where the compiler knows how many columns there are. */
void columns_walk(struct columns *c)
{
    switch (c->count) {
    case 1:
        walk_with(c, 1);
        return;
    case 2:
        walk_with(c, 2);
        return;
    case 4:
        walk_with(c, 4);
        return;
    default:
        walk_with(c, c->count);
        return;
    }
}
