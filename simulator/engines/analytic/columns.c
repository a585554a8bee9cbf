/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/engines/analytic/columns.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "base/sum.h"
#include "simulator/collectives/assignment.h"
#include "simulator/collectives/estimate.h"
#include "simulator/engines/class_store.h"
#include "simulator/program/stream_route.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 64 };

/* What a kind and cost of collectives take, in each column. */
struct timed_collective {
    uint32_t cost;
    unsigned collective;
    double *seconds; /* [column] */
    struct timed_collective *next;
};

/* Flows that were estimated on a column's own instance. */
struct timed_flows {
    const struct collective_flows *flows;
    struct estimate *estimates; /* [column] that stands for those that it is coupled with */
    struct timed_flows *next;
};

struct gathering {
    uint32_t coupled[COLUMNS_MAX]; /* [column]: the lowest one that its instance reaches */
    bool couples;                  /* some instance reaches several */
    uint32_t arrived;              /* positions that have come to the current collective */
    struct timed_collective *timed;
    struct timed_flows *flows;
    double *latest; /* [column]: arrivals at the current one */
};

struct lane_cursor {
    uint32_t next, end;
    uint8_t type;
    bool queued, arrived;
    uint32_t peer, opposite;            /* send: position that receives and its stream; collective: peer is the group */
    double *latency, *seconds_per_byte; /* send: [column] */
    const double *free;                 /* [column]: end of the operation before */
};

struct lane_position {
    const struct position *position;
    struct lane_cursor *cursors;
    double *ends;     /* [operation * columns + column] */
    double *slowness; /* [column]: how much longer its host computes than that of the position's first replica */
    double *busy;     /* [column] */
    bool even;        /* slowness is 1 everywhere */
};

struct pair {
    uint32_t position, stream;
};

struct columns {
    const struct engine_job *job;
    const struct program *program;
    struct arena *arena;
    uint32_t count;
    uint32_t replicas[COLUMNS_MAX]; /* the first of each */
    uint32_t weights[COLUMNS_MAX];  /* how many there are */
    uint32_t *column_of;            /* [replica] */
    struct lane_position *positions;
    struct gathering *gatherings; /* [group] */
    struct pair *stack;
    size_t stack_count;
    uint64_t done, total;
    double begun; /* the first operation that begins something */
    double *zeros;
};

/* ---- columns ---- */

static bool same_column(const struct columns *c, const uint32_t *first_of, uint32_t a, uint32_t b)
{
    const struct mesh *mesh = c->program->mesh;
    for (uint32_t position = 0; position < mesh->positions; position++)
        if (first_of[mesh_rank(mesh, position, a)] != first_of[mesh_rank(mesh, position, b)])
            return false;
    return true;
}

static bool find_columns(struct columns *c)
{
    const struct mesh *mesh = c->program->mesh;
    struct classes classes = {.count = mesh->ranks};
    if (mesh->replicas > 1)
        classes = class_store_find(c->job->classes, c->program, c->job->platform, c->job->hosts, c->arena);
    c->column_of = arena_array(c->arena, mesh->replicas, sizeof *c->column_of);
    for (uint32_t replica = 0; replica < mesh->replicas; replica++) {
        uint32_t column = 0;
        while (column < c->count &&
               (!classes.first_of || !same_column(c, classes.first_of, c->replicas[column], replica)))
            column++;
        if (column == COLUMNS_MAX)
            return false;
        if (column == c->count)
            c->replicas[c->count++] = replica;
        c->column_of[replica] = column;
        c->weights[column]++;
    }
    return (uint64_t)c->count * mesh->positions <= 2 * (uint64_t)classes.count;
}

/* ---- groups ---- */

static uint64_t columns_reached(const struct columns *c, const struct group *group, uint32_t replica, uint32_t *ranks)
{
    uint64_t reached = 0;
    group_ranks(c->program, group, group_instance_of(c->program, group, replica), ranks);
    for (uint32_t i = 0; i < group_size(c->program, group); i++)
        reached |= UINT64_C(1) << c->column_of[c->program->mesh->replica_of[ranks[i]]];
    return reached;
}

/* False where instances couple columns in a way that is not the same for all of them. */
static bool couple(const struct columns *c, const struct group *group, struct gathering *gathering, uint32_t *ranks)
{
    uint64_t reached[COLUMNS_MAX];
    for (uint32_t column = 0; column < c->count; column++) {
        reached[column] = columns_reached(c, group, c->replicas[column], ranks);
        uint32_t lowest = 0;
        while (!(reached[column] >> lowest & 1))
            lowest++;
        if (lowest > column || reached[lowest] != reached[column])
            return false;
        gathering->coupled[column] = lowest;
        gathering->couples |= reached[column] != UINT64_C(1) << column;
    }
    return true;
}

/* Members begin together, and there is a way from each to the next. */
static bool is_plain(const struct columns *c, uint32_t group, uint32_t *ranks)
{
    const struct group *description = &c->program->groups[group];
    struct platform *platform = c->job->platform;
    uint32_t count = 0, size = group_size(c->program, description);
    const struct collective_flows *const *sets = size > 1 ? assignment_all_flows(c->program, group, &count) : NULL;
    for (uint32_t i = 0; i < count; i++)
        if (sets[i]->start != START_TOGETHER)
            return false;
    for (uint32_t column = 0; column < c->count && size > 1; column++) {
        group_ranks(c->program, description, group_instance_of(c->program, description, c->replicas[column]), ranks);
        for (uint32_t i = 0; i < size; i++) {
            struct platform_route route;
            platform->route(platform, c->job->hosts[ranks[i]], c->job->hosts[ranks[(i + 1) % size]], &route);
            if (route.link_count == 0 && route.latency <= 0)
                return false;
        }
    }
    return true;
}

static bool init_groups(struct columns *c)
{
    const struct program *program = c->program;
    uint32_t *ranks = arena_array(c->arena, program->mesh->ranks, sizeof *ranks);
    c->gatherings = arena_array(c->arena, program->group_count + (size_t)1, sizeof *c->gatherings);
    for (uint32_t group = 0; group < program->group_count; group++) {
        struct gathering *gathering = &c->gatherings[group];
        gathering->latest = arena_array(c->arena, c->count, sizeof *gathering->latest);
        if (program->groups[group].collective_count &&
            (!couple(c, &program->groups[group], gathering, ranks) || !is_plain(c, group, ranks)))
            return false;
    }
    return true;
}

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
    *timed = (struct timed_collective){operation->cost, operation->collective,
                                       arena_array(c->arena, c->count, sizeof *timed->seconds), gathering->timed};
    const struct estimate *estimates =
        choice.algorithm ? estimates_of(c, group, assignment_flows(c->program, group, operation)) : NULL;
    for (uint32_t column = 0; column < c->count; column++) {
        uint32_t lowest = gathering->coupled[column];
        timed->seconds[column] = repeats * choice.delay;
        if (estimates)
            timed->seconds[column] +=
                repeats * estimate_seconds(&estimates[lowest], &choice.ratios, cost->bytes / repeats);
    }
    return gathering->timed = timed;
}

/* What the collective takes, in each column. */
static const double *seconds_of(struct columns *c, uint32_t group, const struct operation *operation)
{
    struct timed_collective *timed = c->gatherings[group].timed;
    while (timed && (timed->cost != operation->cost || timed->collective != operation->collective))
        timed = timed->next;
    return timed ? timed->seconds : time_collective(c, group, operation)->seconds;
}

/* ---- positions ---- */

static bool connect(struct columns *c, uint32_t position, const struct stream *stream, struct lane_cursor *cursor)
{
    struct platform *platform = c->job->platform;
    cursor->latency = arena_array(c->arena, 2 * (size_t)c->count, sizeof *cursor->latency);
    cursor->seconds_per_byte = &cursor->latency[c->count];
    for (uint32_t column = 0; column < c->count; column++) {
        uint32_t rank = mesh_rank(c->program->mesh, position, c->replicas[column]);
        struct platform_route route;
        stream_route(c->program, platform, c->job->hosts, rank, stream, &route);
        if (route.link_count == 0 && route.latency <= 0)
            return false;
        cursor->latency[column] = route.latency;
        cursor->seconds_per_byte[column] = 1 / route.bandwidth;
    }
    return true;
}

static void find_slowness(struct columns *c, uint32_t index, struct lane_position *lanes)
{
    const struct platform_host *hosts = c->job->platform->hosts;
    lanes->even = true;
    for (uint32_t column = 0; column < c->count; column++) {
        const struct platform_host *first = &hosts[c->job->hosts[mesh_rank(c->program->mesh, index, 0)]],
                                   *own =
                                       &hosts[c->job->hosts[mesh_rank(c->program->mesh, index, c->replicas[column])]];
        lanes->slowness[column] = platform_full_speed(first) / own->speed;
        lanes->even = lanes->even && lanes->slowness[column] == 1;
    }
}

static bool init_position(struct columns *c, uint32_t index)
{
    struct lane_position *lanes = &c->positions[index];
    const struct position *position = lanes->position;
    lanes->cursors = arena_array(c->arena, position->stream_count, sizeof *lanes->cursors);
    lanes->slowness = arena_array(c->arena, 2 * (size_t)c->count, sizeof *lanes->slowness);
    lanes->busy = &lanes->slowness[c->count];
    find_slowness(c, index, lanes);
    for (uint32_t i = 0; i < position->stream_count; i++) {
        const struct stream *stream = &position->streams[i];
        lanes->cursors[i] = (struct lane_cursor){.next = stream->first,
                                                 .end = stream->first + stream->count,
                                                 .type = stream->type,
                                                 .peer = stream->peer,
                                                 .opposite = stream->opposite,
                                                 .free = c->zeros};
        if (stream->type == OPERATION_SEND && !connect(c, index, stream, &lanes->cursors[i]))
            return false;
    }
    return true;
}

static size_t count_all(struct columns *c)
{
    size_t streams = 0;
    for (uint32_t index = 0; index < c->program->mesh->positions; index++) {
        c->positions[index].position = &c->program->positions[index];
        c->total += c->program->positions[index].operation_count;
        streams += c->program->positions[index].stream_count;
    }
    return streams;
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
    for (uint32_t i = position->first_dependent[id]; i < end; i++) {
        uint32_t dependent = position->dependents[i], stream = position->operations[dependent].stream;
        if (lanes->cursors[stream].next == dependent)
            push(c, index, stream);
    }
}

static inline double *ends_of(const struct columns *c, const struct lane_position *lanes, uint32_t id)
{
    return &lanes->ends[(size_t)id * c->count];
}

static inline void raise(double *times, const double *others, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        times[i] = others[i] > times[i] ? others[i] : times[i];
}

/* When the next operation of a stream can start, in each column, into where its end will stand. False: what it waits
 * for is not done. */
static inline bool find_start(const struct columns *c, const struct lane_position *lanes,
                              const struct lane_cursor *cursor, const struct operation *operation, double *start)
{
    const struct position *position = lanes->position;
    uint32_t waits = operation_wait_count(operation);
    for (uint32_t i = 0; i < waits; i++) {
        uint32_t awaited = operation_wait(position, operation, i);
        if (awaited >= lanes->cursors[position->operations[awaited].stream].next)
            return false;
    }
    memcpy(start, cursor->free, c->count * sizeof *start);
    for (uint32_t i = 0; i < waits; i++)
        raise(start, ends_of(c, lanes, operation_wait(position, operation, i)), c->count);
    return true;
}

/* A rank waits from the beginning for what it receives, and markers take no time. */
static inline void note_begin(struct columns *c, const struct operation *operation, const double *start)
{
    if (c->begun <= 0 || (operation->kind == STAGESIM_EXCHANGE && operation_cost(c->program, operation)->seconds == 0))
        return;
    for (uint32_t i = 0; i < c->count; i++)
        c->begun = start[i] < c->begun ? start[i] : c->begun;
}

static void add_seconds(const struct columns *c, struct lane_position *lanes, const struct operation *operation,
                        bool computes, double *times)
{
    double seconds = operation_cost(c->program, operation)->seconds;
    bool varies = c->program->variation_of[operation->cost] != VARIATION_NONE;
    if (!varies && (lanes->even || !computes)) {
        for (uint32_t i = 0; i < c->count; i++)
            times[i] += seconds;
        for (uint32_t i = 0; computes && i < c->count; i++)
            lanes->busy[i] += seconds;
        return;
    }
    for (uint32_t i = 0; i < c->count; i++) {
        double own =
            seconds * operation_factor(c->program, operation, c->replicas[i]) * (computes ? lanes->slowness[i] : 1);
        times[i] += own;
        lanes->busy[i] += computes ? own : 0;
    }
}

static void advance_local(struct columns *c, uint32_t index, struct lane_cursor *cursor)
{
    struct lane_position *lanes = &c->positions[index];
    while (cursor->next < cursor->end) {
        uint32_t id = cursor->next;
        const struct operation *operation = &lanes->position->operations[id];
        double *times = ends_of(c, lanes, id);
        if (!find_start(c, lanes, cursor, operation, times))
            return;
        note_begin(c, operation, times);
        add_seconds(c, lanes, operation, cursor->type == OPERATION_COMPUTE, times);
        cursor->free = times;
        cursor->next++;
        set_off(c, index, id);
    }
}

static void deliver(struct columns *c, const struct lane_cursor *send, const double *ends)
{
    struct lane_position *lanes = &c->positions[send->peer];
    struct lane_cursor *cursor = &lanes->cursors[send->opposite];
    uint32_t id = cursor->next++;
    memcpy(ends_of(c, lanes, id), ends, c->count * sizeof *ends);
    set_off(c, send->peer, id);
}

static void advance_sends(struct columns *c, uint32_t index, struct lane_cursor *cursor)
{
    struct lane_position *lanes = &c->positions[index];
    while (cursor->next < cursor->end) {
        uint32_t id = cursor->next;
        const struct operation *operation = &lanes->position->operations[id];
        double *times = ends_of(c, lanes, id), bytes = operation_cost(c->program, operation)->bytes;
        if (!find_start(c, lanes, cursor, operation, times))
            return;
        note_begin(c, operation, times);
        for (uint32_t i = 0; i < c->count; i++)
            times[i] += cursor->latency[i] + bytes * cursor->seconds_per_byte[i];
        cursor->free = times;
        cursor->next++;
        set_off(c, index, id);
        deliver(c, cursor, times);
    }
}

/* Columns that instances couple have come when the last of them has. */
static void join_coupled(const struct columns *c, struct gathering *gathering)
{
    double *latest = gathering->latest;
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t lowest = gathering->coupled[i];
        latest[lowest] = latest[i] > latest[lowest] ? latest[i] : latest[lowest];
    }
    for (uint32_t i = 0; i < c->count; i++)
        latest[i] = latest[gathering->coupled[i]];
}

static void end_gathering(struct columns *c, uint32_t group, const double *seconds)
{
    struct gathering *gathering = &c->gatherings[group];
    if (gathering->couples)
        join_coupled(c, gathering);
    for (uint32_t i = 0; i < c->count; i++)
        gathering->latest[i] += seconds[i];
    for (uint32_t i = 0; i < c->program->groups[group].position_count; i++) {
        uint32_t index = c->program->groups[group].positions[i];
        struct lane_position *lanes = &c->positions[index];
        uint32_t stream = position_group_stream(lanes->position, group);
        struct lane_cursor *cursor = &lanes->cursors[stream];
        uint32_t id = cursor->next++;
        double *ends = ends_of(c, lanes, id);
        memcpy(ends, gathering->latest, c->count * sizeof *ends);
        cursor->free = ends;
        cursor->arrived = false;
        set_off(c, index, id);
        if (cursor->next < cursor->end)
            push(c, index, stream);
    }
    gathering->arrived = 0;
}

static void arrive(struct columns *c, uint32_t index, struct lane_cursor *cursor)
{
    struct lane_position *lanes = &c->positions[index];
    uint32_t id = cursor->next, group = cursor->peer;
    struct gathering *gathering = &c->gatherings[group];
    if (id == cursor->end || cursor->arrived)
        return;
    const struct operation *operation = &lanes->position->operations[id];
    double *start = ends_of(c, lanes, id);
    if (!find_start(c, lanes, cursor, operation, start))
        return;
    note_begin(c, operation, start);
    cursor->arrived = true;
    if (gathering->arrived++)
        raise(gathering->latest, start, c->count);
    else
        memcpy(gathering->latest, start, c->count * sizeof *start);
    if (gathering->arrived == c->program->groups[group].position_count)
        end_gathering(c, group, seconds_of(c, group, operation));
}

static void advance(struct columns *c, struct pair next)
{
    struct lane_cursor *cursor = &c->positions[next.position].cursors[next.stream];
    cursor->queued = false;
    switch ((enum operation_type)cursor->type) {
    case OPERATION_COMPUTE:
    case OPERATION_DELAY:
        advance_local(c, next.position, cursor);
        return;
    case OPERATION_SEND:
        advance_sends(c, next.position, cursor);
        return;
    case OPERATION_COLLECTIVE:
        arrive(c, next.position, cursor);
        return;
    case OPERATION_RECEIVE: /* goes on when the message is sent */
        return;
    }
}

static void walk(struct columns *c)
{
    for (uint32_t index = c->program->mesh->positions; index-- > 0;)
        for (uint32_t stream = c->positions[index].position->stream_count; stream-- > 0;)
            push(c, index, stream);
    while (c->stack_count)
        advance(c, c->stack[--c->stack_count]);
}

/* ---- the outcome ---- */

/* Ends do not decrease along a stream. */
static double last_end(const struct columns *c)
{
    double last = 0;
    for (uint32_t index = 0; index < c->program->mesh->positions; index++) {
        const struct lane_position *lanes = &c->positions[index];
        for (uint32_t i = 0; i < lanes->position->stream_count; i++) {
            const struct stream *stream = &lanes->position->streams[i];
            for (uint32_t column = 0; stream->count && column < c->count; column++)
                last = fmax(last, ends_of(c, lanes, stream->first + stream->count - 1)[column]);
        }
    }
    return last;
}

static double mean_busy(const struct columns *c)
{
    struct sum sum = {0, 0};
    for (uint32_t index = 0; index < c->program->mesh->positions; index++)
        for (uint32_t column = 0; column < c->count; column++)
            sum_add(&sum, c->weights[column] * c->positions[index].busy[column]);
    return sum_total(&sum) / c->program->mesh->ranks;
}

static bool is_simple(const struct engine_job *job)
{
    const struct program *program = job->program;
    const struct platform *platform = job->platform;
    for (uint32_t rank = 0; rank < program->mesh->ranks; rank++)
        if (platform->hosts[job->hosts[rank]].varies)
            return false;
    return program->iterations == 1 && !program->pipelined && !program->overlapping && !program->independent &&
           program->period == 1 && !job->resumes && !job->transfers_free && platform->library.overlap_node <= 0 &&
           platform->library.overlap_network <= 0;
}

bool columns_run(const struct engine_job *job, struct arena *arena, struct columns_time *time)
{
    struct columns c = {.job = job, .program = job->program, .arena = arena, .begun = INFINITY};
    uint32_t positions = job->program->mesh->positions;
    if (!is_simple(job) || !find_columns(&c) || !init_groups(&c))
        return false;
    c.positions = arena_array(arena, positions, sizeof *c.positions);
    c.stack = arena_array(arena, count_all(&c), sizeof *c.stack);
    c.zeros = arena_array(arena, c.count, sizeof *c.zeros);
    for (uint32_t index = 0; index < positions; index++)
        if (!init_position(&c, index))
            return false;
    size_t bytes = c.total * c.count * sizeof(double);
    double *ends = bulk_alloc(bytes + 1);
    for (uint32_t index = 0, first = 0; index < positions; index++) {
        c.positions[index].ends = &ends[(size_t)first * c.count];
        first += c.positions[index].position->operation_count;
    }
    walk(&c);
    bool finished = c.done == c.total;
    if (finished)
        *time = (struct columns_time){last_end(&c) - (isinf(c.begun) ? 0 : c.begun), mean_busy(&c)};
    bulk_free(ends, bytes + 1);
    return finished;
}
