/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/engines/analytic/columns.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "base/sum.h"
#include "simulator/collectives/assignment.h"
#include "simulator/engines/analytic/columns_walk.h"

#include <math.h>
#include <string.h>

enum { PROGRESS_INTERVAL = 1 << 16 };

/* ---- what collectives take ---- */

/* The estimates of flows, each column's on its own instance where no lower one is coupled with it. */
static const struct estimate *estimates_of(struct columns *c, uint32_t group, const struct collective_flows *flows)
{
    struct gathering *gathering = &c->gatherings[group];
    const struct group *description = &c->program->groups[group];
    struct timed_flows *timed = gathering->flows;
    while (timed && timed->flows != flows)
        timed = timed->next;
    if (timed)
        return timed->estimates;
    uint32_t size = group_size(c->program, description), *hosts = arena_array(c->arena, size, sizeof *hosts);
    timed = arena_alloc(c->arena, sizeof *timed);
    *timed = (struct timed_flows){flows, arena_array(c->arena, c->count, sizeof *timed->estimates), gathering->flows};
    for (uint32_t column = 0; column < c->count; column++) {
        if (gathering->coupled[column] != column)
            continue;
        group_ranks(c->program, description, group_instance_of(c->program, description, c->replicas[column]), hosts);
        for (uint32_t i = 0; i < size; i++)
            hosts[i] = c->job->hosts[hosts[i]];
        timed->estimates[column] = estimate_create(flows, c->job->platform, hosts, c->arena);
    }
    gathering->flows = timed;
    return timed->estimates;
}

static struct timed_collective *time_collective(struct columns *c, uint32_t group, const struct operation *operation)
{
    struct gathering *gathering = &c->gatherings[group];
    const struct stagesim_cost *cost = operation_cost(c->program, operation);
    struct collective_choice choice = assignment_choose(c->program, group, operation);
    double repeats = fmax(cost->repeats, 1);
    struct timed_collective *timed = arena_alloc(c->arena, sizeof *timed);
    *timed = (struct timed_collective){.cost = operation->cost,
                                       .collective = operation->collective,
                                       .seconds = arena_array(c->arena, c->count, sizeof *timed->seconds),
                                       .next = gathering->timed};
    gathering->timed = timed;
    if (c->job->transfers_free)
        return timed;
    const struct collective_flows *flows = choice.algorithm ? assignment_flows(c->program, group, operation) : NULL;
    const struct estimate *estimates = flows ? estimates_of(c, group, flows) : NULL;
    timed->flows = flows ? flows->count : 0;
    for (uint32_t column = 0; column < c->count; column++) {
        uint32_t lowest = gathering->coupled[column];
        timed->seconds[column] = repeats * choice.delay;
        if (estimates)
            timed->seconds[column] +=
                repeats * estimate_seconds(&estimates[lowest], &choice.ratios, cost->bytes / repeats);
    }
    return timed;
}

static const struct timed_collective *timed_of(struct columns *c, uint32_t group, const struct operation *operation)
{
    struct timed_collective *timed = c->gatherings[group].timed;
    while (timed && (timed->cost != operation->cost || timed->collective != operation->collective))
        timed = timed->next;
    return timed ? timed : time_collective(c, group, operation);
}

const double *columns_collective_seconds(struct columns *c, uint32_t group, const struct operation *operation)
{
    return timed_of(c, group, operation)->seconds;
}

/* ---- the walk ---- */

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

static INLINED double *ends_of(uint32_t n, const struct lane_position *lanes, uint32_t id)
{
    return &lanes->ends[(size_t)id * n];
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
        raise(start, ends_of(n, lanes, operation_wait(position, operation, i)), n);
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
        double own =
            seconds * operation_factor(c->program, operation, c->replicas[i]) * (computes ? lanes->slowness[i] : 1);
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
        double *times = ends_of(n, lanes, id);
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
    double *times = ends_of(n, lanes, id);
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
        double *times = ends_of(n, lanes, id), bytes = operation_cost(c->program, operation)->bytes;
        if (!find_start(n, lanes, cursor, operation, times))
            return;
        note_begin(c, n, operation, times);
        begin_moments(c, n, lanes, id, times);
        double starts[COLUMNS_MAX];
        memcpy(starts, times, n * sizeof *times);
        for (uint32_t i = 0; i < n; i++)
            times[i] += cursor->latency[i] + bytes * cursor->seconds_per_byte[i];
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
        double *ends = ends_of(n, lanes, id);
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
    double *start = ends_of(n, lanes, id);
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
        end_gathering(c, n, group, timed_of(c, group, operation));
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

/* ---- the outcome ---- */

/* Ends do not decrease along a stream. */
/* The last end of all, and the sum of those of all streams. */
static void note_ends(struct columns *c)
{
    struct sum sum = {0, 0};
    for (uint32_t index = 0; index < c->program->mesh->positions; index++) {
        const struct lane_position *lanes = &c->positions[index];
        for (uint32_t i = 0; i < lanes->position->stream_count; i++) {
            const struct stream *stream = &lanes->position->streams[i];
            for (uint32_t column = 0; stream->count && column < c->count; column++) {
                double end = ends_of(c->count, lanes, stream->first + stream->count - 1)[column];
                c->last = fmax(c->last, end);
                sum_add(&sum, end);
            }
        }
    }
    c->stream_ends = sum_total(&sum);
}

static double mean_busy(const struct columns *c)
{
    struct sum sum = {0, 0};
    for (uint32_t index = 0; index < c->program->mesh->positions; index++)
        for (uint32_t column = 0; column < c->count; column++)
            sum_add(&sum, c->weights[column] * c->positions[index].busy[column]);
    return sum_total(&sum) / c->program->mesh->ranks;
}

static double busy_max(const struct columns *c)
{
    double most = 0;
    for (uint32_t index = 0; index < c->program->mesh->positions; index++)
        for (uint32_t column = 0; column < c->count; column++)
            most = fmax(most, c->positions[index].busy[column]);
    return most;
}

/* Whether streams go on by what they wait for alone. */
static bool is_simple(const struct engine_job *job)
{
    const struct platform *platform = job->platform;
    for (uint32_t rank = 0; rank < job->program->mesh->ranks; rank++)
        if (platform->hosts[job->hosts[rank]].varies)
            return false;
    return !job->program->pipelined && !job->resumes && platform->library.overlap_node <= 0 &&
           platform->library.overlap_network <= 0;
}

/* False: the program cannot finish. */
static bool run_all(struct columns *c)
{
    size_t bytes = c->total * c->count * sizeof(double);
    double *ends = bulk_alloc(bytes + 1);
    for (uint32_t index = 0, first = 0; index < c->program->mesh->positions; index++) {
        c->positions[index].ends = &ends[(size_t)first * c->count];
        first += c->positions[index].position->operation_count;
    }
    if (c->beats)
        columns_walk_repeating(c);
    else
        columns_walk(c);
    bool finished = c->done == c->total;
    if (finished)
        note_ends(c);
    if (finished && c->activity)
        columns_activity_note(c);
    bulk_free(ends, bytes + 1);
    return finished;
}

/* With what has been said of columns so far. */
static bool run_once(struct columns *c, bool exposed, struct columns_time *time)
{
    const struct program *program = c->program;
    bool once = program->iterations == 1 && !program->overlapping && !program->independent && program->period == 1;
    if (!once || !is_simple(c->job) || !columns_init(c))
        return false;
    if (exposed)
        columns_activity_create(c);
    if (!run_all(c))
        return false;
    *time = (struct columns_time){c->last - (isinf(c->begun) ? 0 : c->begun), mean_busy(c), busy_max(c),
                                  exposed ? columns_activity_exposed(c) : NAN, c->stream_ends};
    return true;
}

bool columns_run_repeating(const struct engine_job *job, const struct beats *beats, uint32_t more, struct arena *arena,
                           struct columns_time *time)
{
    struct columns c = {
        .job = job, .program = job->program, .arena = arena, .begun = INFINITY, .beats = beats, .more = more};
    return run_once(&c, false, time);
}

bool columns_run(const struct engine_job *job, struct arena *arena, struct columns_time *time)
{
    return columns_run_repeating(job, NULL, 0, arena, time);
}

bool columns_run_exposed(const struct engine_job *job, struct arena *arena, struct columns_time *time)
{
    struct columns c = {.job = job, .program = job->program, .arena = arena, .begun = INFINITY};
    return run_once(&c, true, time);
}

bool columns_fill(const struct engine_job *job)
{
    struct columns c = {.job = job, .program = job->program, .timeline = job->timeline};
    if (!job->folding || job->program->mesh->extra || !is_simple(job))
        return false;
    c.arena = arena_create();
    bool fills = columns_init(&c);
    if (fills && !run_all(&c)) {
        timeline_reset(job->timeline);
        fills = false;
    }
    if (fills)
        job->timeline->activities = c.activities;
    arena_destroy(c.arena);
    return fills;
}
