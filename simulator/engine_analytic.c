/* SPDX-License-Identifier: Apache-2.0 */
/* The contention-free engine: the longest path through the program's operations and transfers. Every stream advances as far
 * as what it waits for allows; what ends sets others going; each operation is looked at once. A message takes its route's
 * latency plus its bytes over the narrowest link, a collective as long as its flows take that share links with each other,
 * whatever else is under way. Where collectives take a share of their ranks' compute, computations end and members come to such
 * collectives in the order of time (analytic_overlap.h); all else runs ahead as before. */
#include "simulator/analytic_overlap.h"
#include "simulator/collectives/arrivals.h"
#include "simulator/collectives/assignment.h"
#include "simulator/collectives/estimate.h"
#include "simulator/deadlock.h"
#include "simulator/engine.h"
#include "simulator/overlap.h"

#include "simulator/arena.h"

#include <math.h>

enum {
    PROGRESS_INTERVAL = 1 << 16,
    AHEAD = 8, /* operations that are fetched before their turn */
};

struct instance;

/* Flows of a group, and their times on an instance's hosts. */
struct known_flows {
    const struct collective_flows *flows;
    const uint32_t *hosts;    /* of the members */
    struct estimate estimate; /* of flows that start together, once one of their collectives ends */
    bool estimated;
    struct arrivals *arrivals; /* of the others */
    struct known_flows *next;
};

/* A collective of an instance whose members begin by and by. */
struct meeting {
    uint32_t number;         /* among the instance's collectives */
    uint32_t arrived, ended; /* members */
    double *ready;           /* [member of the group]: INFINITY: it has not come */
    double *taken;           /* [participant]: from when on it takes a share of compute, INFINITY: not yet */
    struct meeting *next;
};

struct cursor {
    uint32_t next, end;               /* ids: the first operation of the stream that is not done, the one behind its last */
    uint8_t type;                     /* enum operation_type */
    bool queued, arrived;             /* on the list of streams to try; collective: counted as arrived at the current one */
    double free;                      /* end of the operation before */
    double latency, seconds_per_byte; /* send: of the route */
    uint32_t peer, opposite;          /* send: entry that receives, its stream */
    uint32_t participant;             /* collective: its place among the instance's */
    struct instance *instance;        /* collective */
};

/* A simulated rank. */
struct entry {
    const struct position *position;
    uint32_t replica;
    double slowness; /* how much longer its host computes than that of the position's first replica */
    struct moment *times;
    struct cursor *cursors;
};

struct participant {
    uint32_t entry, stream;
    uint32_t member; /* of an instance: first of those in the group that it stands for */
    struct instance *instance;
};

/* One instance of a group. Members that are folded away arrive with the entry that stands for them. */
struct instance {
    const struct group *group;
    uint32_t *ranks;
    uint32_t rank_count;
    struct participant *participants; /* the simulated members */
    uint32_t participant_count;
    uint32_t *next_alike; /* [member]: the next one that the same participant stands for, MEMBER_NONE */
    uint32_t arrived;
    double data_start; /* of the current collective: the latest arrival so far */
    double share;      /* of compute that its collectives take while they move */
    struct known_flows *known;
    /* Of the newest kind and cost. */
    int collective;
    uint32_t cost;
    struct known_flows *flows; /* NULL: there are none */
    struct arrivals_size size;
    double delay;    /* before data move */
    double duration; /* of flows that start together, with the delay; NaN: nobody asked */
    /* Collectives that are under way, oldest first, where members begin by and by. */
    struct meeting *meetings, *spare;
    bool queued; /* on the list of instances to look at */
    struct instance *next_queued;
};

#define MEMBER_NONE UINT32_MAX

struct walk {
    const struct program *program;
    struct platform *platform;
    const uint32_t *hosts;
    struct timeline *timeline;
    const struct engine_progress *progress;
    struct fault *fault;
    struct arena *arena;
    struct entry *entries;
    struct participant *stack; /* streams to try, each at most once */
    size_t stack_count;
    struct instance *queued; /* with new arrivals at collectives whose members end apart */
    double *starts, *ends;   /* scratch, [member] of the largest group */
    uint32_t members_max;    /* of that group */
    uint64_t done, total, report_at;
    struct overlaps *overlaps; /* NULL: no collective takes a share of compute */
};

static inline void push(struct walk *walk, uint32_t entry, uint32_t stream)
{
    struct cursor *cursor = &walk->entries[entry].cursors[stream];
    if (cursor->queued)
        return;
    cursor->queued = true;
    walk->stack[walk->stack_count++] = (struct participant){entry, stream, 0, NULL};
}

/* An operation is done: streams whose next operation waits for it are tried again. */
static inline void set_off(struct walk *walk, uint32_t index, uint32_t id)
{
    const struct entry *entry = &walk->entries[index];
    const struct position *position = entry->position;
    uint32_t end = position->first_dependent[id + 1];
    walk->done++;
    for (uint32_t i = position->first_dependent[id]; i < end; i++) {
        uint32_t dependent = position->dependents[i], stream = position->operations[dependent].stream;
        if (entry->cursors[stream].next == dependent)
            push(walk, index, stream);
    }
}

/* Many streams are walked along in turn, too many for the processor to foresee. */
static inline void foresee(const struct entry *entry, uint32_t id)
{
    __builtin_prefetch(&entry->position->operations[id] + AHEAD);
    __builtin_prefetch(&entry->times[id] + AHEAD, 1);
}

/* When everything that the operation waits for is done; NaN while something is not. */
static inline double ready_at(const struct entry *entry, const struct operation *operation, double free)
{
    double ready = free;
    for (uint32_t i = 0; i < operation_wait_count(operation); i++) {
        double end = entry->times[operation_wait(entry->position, operation, i)].end;
        if (isnan(end))
            return NAN;
        ready = end > ready ? end : ready;
    }
    return ready;
}

/* ---- computations and messages ---- */

static inline double seconds_of(const struct walk *walk, const struct entry *entry, const struct operation *operation)
{
    return operation_cost(walk->program, operation)->seconds * operation_factor(walk->program, operation, entry->replica);
}

/* The computations or delays of a stream, until one has to wait. */
static void advance_local(struct walk *walk, uint32_t index, struct cursor *cursor)
{
    const struct entry *entry = &walk->entries[index];
    double slowness = cursor->type == OPERATION_COMPUTE ? entry->slowness : 1;
    while (cursor->next < cursor->end) {
        uint32_t id = cursor->next;
        const struct operation *operation = &entry->position->operations[id];
        double start = ready_at(entry, operation, cursor->free);
        if (isnan(start))
            return;
        double duration = seconds_of(walk, entry, operation) * slowness;
        foresee(entry, id);
        entry->times[id] = (struct moment){start, start, start + duration};
        cursor->free = start + duration;
        cursor->next++;
        walk->timeline->activities += cursor->type == OPERATION_COMPUTE && duration > 0;
        set_off(walk, index, id);
    }
}

/* The next computation of a rank that collectives slow down: it begins. */
static void begin_compute(struct walk *walk, uint32_t index, struct cursor *cursor)
{
    const struct entry *entry = &walk->entries[index];
    uint32_t id = cursor->next;
    if (id == cursor->end || !isnan(entry->times[id].start)) /* the latter: it is under way */
        return;
    const struct operation *operation = &entry->position->operations[id];
    double start = ready_at(entry, operation, cursor->free);
    if (isnan(start))
        return;
    double seconds = seconds_of(walk, entry, operation) * entry->slowness;
    entry->times[id].start = entry->times[id].data_start = start;
    walk->timeline->activities += seconds > 0;
    overlaps_compute(walk->overlaps, index, start, seconds);
}

/* Stream 0 of a rank is the one that computes. */
static void end_compute(struct walk *walk, uint32_t index, double end)
{
    struct entry *entry = &walk->entries[index];
    struct cursor *cursor = &entry->cursors[0];
    uint32_t id = cursor->next++;
    entry->times[id].end = cursor->free = end;
    set_off(walk, index, id);
    push(walk, index, 0);
}

static inline void deliver(struct walk *walk, uint32_t index, uint32_t stream, double data_start, double end)
{
    const struct entry *entry = &walk->entries[index];
    struct cursor *cursor = &entry->cursors[stream];
    uint32_t id = cursor->next++;
    foresee(entry, id);
    entry->times[id] = (struct moment){cursor->free, data_start, end};
    cursor->free = end;
    set_off(walk, index, id);
}

/* The messages of a stream, each with its receive. */
static void advance_sends(struct walk *walk, uint32_t index, struct cursor *cursor)
{
    const struct entry *entry = &walk->entries[index];
    while (cursor->next < cursor->end) {
        uint32_t id = cursor->next;
        const struct operation *operation = &entry->position->operations[id];
        double start = ready_at(entry, operation, cursor->free);
        if (isnan(start))
            return;
        double end = start + (cursor->latency + operation_cost(walk->program, operation)->bytes * cursor->seconds_per_byte);
        foresee(entry, id);
        entry->times[id] = (struct moment){start, start, end};
        cursor->free = end;
        cursor->next++;
        walk->timeline->activities++;
        set_off(walk, index, id);
        deliver(walk, cursor->peer, cursor->opposite, start, end);
    }
}

/* ---- collectives ---- */

/* The flows' times on the instance's own hosts, once for each kind and algorithm. */
static struct known_flows *know(struct walk *walk, struct instance *instance, const struct collective_flows *flows)
{
    for (struct known_flows *known = instance->known; known; known = known->next)
        if (known->flows == flows)
            return known;
    uint32_t *hosts = arena_array(walk->arena, instance->rank_count, sizeof *hosts);
    for (uint32_t i = 0; i < instance->rank_count; i++)
        hosts[i] = walk->hosts[instance->ranks[i]];
    struct known_flows *known = arena_alloc(walk->arena, sizeof *known);
    *known = (struct known_flows){.flows = flows, .hosts = hosts, .next = instance->known};
    if (flows->start != START_TOGETHER)
        known->arrivals = arrivals_create(flows, instance->rank_count, walk->platform, hosts, walk->arena);
    instance->known = known;
    return known;
}

/* What a collective is made of; one follows another of its kind mostly. */
static void look_up(struct walk *walk, struct instance *instance, const struct operation *operation)
{
    if (instance->collective == (int)operation->collective && instance->cost == operation->cost)
        return;
    uint32_t group = (uint32_t)(instance->group - walk->program->groups);
    const struct stagesim_cost *cost = operation_cost(walk->program, operation);
    struct collective_choice choice = assignment_choose(walk->program, group, operation);
    double repeats = fmax(cost->repeats, 1);
    instance->collective = (int)operation->collective;
    instance->cost = operation->cost;
    instance->delay = repeats * choice.delay;
    instance->duration = NAN;
    instance->size = (struct arrivals_size){cost->bytes, repeats, choice.ratios};
    instance->flows = choice.algorithm ? know(walk, instance, assignment_flows(walk->program, group, operation)) : NULL;
}

/* From the last arrival to the end of flows that start together. */
static double duration_of(struct walk *walk, struct instance *instance)
{
    struct known_flows *known = instance->flows;
    const struct arrivals_size *size = &instance->size;
    if (!isnan(instance->duration))
        return instance->duration;
    if (known && !known->estimated)
        known->estimate = estimate_create(known->flows, walk->platform, known->hosts, walk->arena);
    instance->duration = instance->delay;
    if (known) {
        known->estimated = true;
        instance->duration += size->repeats * estimate_seconds(&known->estimate, &size->ratios, size->bytes / size->repeats);
    }
    return instance->duration;
}

/* The participant's current collective is over. */
static void end_member(struct walk *walk, struct instance *instance, uint32_t participant, double data_start, double end)
{
    uint32_t index = instance->participants[participant].entry, stream = instance->participants[participant].stream;
    struct entry *entry = &walk->entries[index];
    struct cursor *cursor = &entry->cursors[stream];
    uint32_t id = cursor->next++;
    entry->times[id].data_start = fmax(entry->times[id].start, data_start);
    entry->times[id].end = cursor->free = end;
    cursor->arrived = false;
    set_off(walk, index, id);
    push(walk, index, stream);
}

static void end_all(struct walk *walk, struct instance *instance)
{
    double end = instance->data_start + duration_of(walk, instance);
    for (uint32_t i = 0; instance->share > 0 && i < instance->participant_count; i++)
        overlaps_take(walk->overlaps, instance->participants[i].entry, instance->data_start, end, instance->share);
    walk->timeline->activities += instance->flows ? instance->flows->flows->count : 0;
    for (uint32_t i = 0; i < instance->participant_count; i++)
        end_member(walk, instance, i, instance->data_start, end);
    instance->arrived = 0;
    instance->data_start = 0;
}

/* ---- collectives whose members begin by and by ---- */

/* That of the instance's collective `number`, a new one where nobody has come to it yet. */
static struct meeting *meeting_of(struct walk *walk, struct instance *instance, uint32_t number)
{
    struct meeting **link = &instance->meetings;
    while (*link && (*link)->number < number)
        link = &(*link)->next;
    if (*link && (*link)->number == number)
        return *link;
    struct meeting *meeting = instance->spare;
    if (meeting) {
        instance->spare = meeting->next;
    } else {
        meeting = arena_alloc(walk->arena, sizeof *meeting);
        meeting->ready = arena_array(walk->arena, instance->rank_count, sizeof *meeting->ready);
        meeting->taken = arena_array(walk->arena, instance->rank_count, sizeof *meeting->taken);
    }
    *meeting = (struct meeting){.number = number, .ready = meeting->ready, .taken = meeting->taken, .next = *link};
    for (uint32_t m = 0; m < instance->rank_count; m++)
        meeting->ready[m] = meeting->taken[m] = INFINITY;
    *link = meeting;
    return meeting;
}

static void forget_meeting(struct instance *instance, struct meeting *meeting)
{
    struct meeting **link = &instance->meetings;
    while (*link != meeting)
        link = &(*link)->next;
    *link = meeting->next;
    meeting->next = instance->spare;
    instance->spare = meeting;
}

/* Whether a participant has come to the meeting and is not done. */
static bool takes_part(const struct walk *walk, const struct instance *instance, uint32_t participant, const struct meeting *meeting)
{
    const struct entry *entry = &walk->entries[instance->participants[participant].entry];
    uint32_t stream = instance->participants[participant].stream;
    const struct cursor *cursor = &entry->cursors[stream];
    return cursor->arrived && cursor->next == entry->position->streams[stream].first + meeting->number;
}

/* A participant's flows begin, and end where that is known. */
static void take_share(struct walk *walk, const struct instance *instance, struct meeting *meeting, uint32_t participant, double start,
                       double end)
{
    uint32_t entry = instance->participants[participant].entry;
    if (isinf(meeting->taken[participant]) && !isinf(start)) {
        meeting->taken[participant] = start;
        overlaps_take(walk->overlaps, entry, start, end, instance->share);
    } else if (!isinf(meeting->taken[participant]) && !isinf(end)) {
        overlaps_leave(walk->overlaps, entry, meeting->taken[participant], end, instance->share);
    }
}

/* Ends it for those of whom all is known. False: somebody is left. */
static bool evaluate_meeting(struct walk *walk, struct instance *instance, struct meeting *meeting, const struct operation *operation)
{
    look_up(walk, instance, operation);
    arrivals_evaluate(instance->flows->arrivals, &instance->size, meeting->ready, walk->starts, walk->ends);
    double launch = collective_goes_by_members(instance->flows->flows) ? 0 : instance->delay;
    for (uint32_t i = 0; i < instance->participant_count; i++) {
        uint32_t member = instance->participants[i].member;
        if (!takes_part(walk, instance, i, meeting))
            continue;
        if (instance->share > 0)
            take_share(walk, instance, meeting, i, walk->starts[member] - launch, walk->ends[member]);
        if (isinf(walk->ends[member]))
            continue;
        end_member(walk, instance, i, walk->starts[member] - launch, walk->ends[member]);
        meeting->ended++;
    }
    if (meeting->ended < instance->participant_count)
        return false;
    walk->timeline->activities += instance->flows->flows->count;
    forget_meeting(instance, meeting);
    return true;
}

/* Where members end apart. All that arrive while anything else goes on are looked at together. */
static void evaluate_instance(struct walk *walk, struct instance *instance)
{
    struct participant first = instance->participants[0];
    const struct position *position = walk->entries[first.entry].position;
    instance->queued = false;
    for (struct meeting *meeting = instance->meetings, *next; meeting; meeting = next) {
        next = meeting->next;
        evaluate_meeting(walk, instance, meeting, &position->operations[position->streams[first.stream].first + meeting->number]);
    }
}

static void join_meeting(struct walk *walk, struct participant *who, const struct operation *operation, double start)
{
    struct instance *instance = who->instance;
    const struct position *position = walk->entries[who->entry].position;
    uint32_t number = (uint32_t)(operation - position->operations) - position->streams[who->stream].first;
    struct meeting *meeting = meeting_of(walk, instance, number);
    for (uint32_t m = who->member; m != MEMBER_NONE; m = instance->next_alike[m])
        meeting->ready[m] = start + instance->delay;
    meeting->arrived++;
    if (!instance->flows->flows->ends_apart || instance->share > 0) {
        if (meeting->arrived == instance->participant_count || instance->share > 0)
            evaluate_meeting(walk, instance, meeting, operation);
    } else if (!instance->queued) {
        instance->queued = true;
        instance->next_queued = walk->queued;
        walk->queued = instance;
    }
}

/* The time has come when all have arrived at a collective that takes a share of compute, or, where members begin by and by, one. */
static void begin_collective(struct walk *walk, struct participant *who)
{
    const struct entry *entry = &walk->entries[who->entry];
    const struct operation *operation = &entry->position->operations[entry->cursors[who->stream].next];
    look_up(walk, who->instance, operation);
    if (who->instance->flows && who->instance->flows->arrivals)
        join_meeting(walk, who, operation, entry->times[entry->cursors[who->stream].next].start);
    else
        end_all(walk, who->instance);
}

/* One at a time: the end of a collective queues the streams that can go on. */
static void arrive(struct walk *walk, uint32_t index, struct cursor *cursor)
{
    const struct entry *entry = &walk->entries[index];
    struct instance *instance = cursor->instance;
    if (cursor->next == cursor->end || cursor->arrived)
        return;
    const struct operation *operation = &entry->position->operations[cursor->next];
    double start = ready_at(entry, operation, cursor->free);
    if (isnan(start))
        return;
    cursor->arrived = true;
    entry->times[cursor->next].start = start;
    look_up(walk, instance, operation);
    if (instance->flows && instance->flows->arrivals) {
        struct participant *who = &instance->participants[cursor->participant];
        if (instance->share > 0)
            overlaps_await(walk->overlaps, start, who);
        else
            join_meeting(walk, who, operation, start);
        return;
    }
    instance->data_start = fmax(instance->data_start, start);
    if (++instance->arrived < instance->participant_count)
        return;
    if (instance->share > 0)
        overlaps_await(walk->overlaps, instance->data_start, &instance->participants[0]);
    else
        end_all(walk, instance);
}

/* ---- all streams ---- */

static void advance(struct walk *walk, uint32_t index, uint32_t stream)
{
    struct cursor *cursor = &walk->entries[index].cursors[stream];
    cursor->queued = false;
    switch ((enum operation_type)cursor->type) {
    case OPERATION_COMPUTE:
        if (walk->overlaps) {
            begin_compute(walk, index, cursor);
            return;
        }
        advance_local(walk, index, cursor);
        return;
    case OPERATION_DELAY:
        advance_local(walk, index, cursor);
        return;
    case OPERATION_SEND:
        advance_sends(walk, index, cursor);
        return;
    case OPERATION_COLLECTIVE:
        arrive(walk, index, cursor);
        return;
    case OPERATION_RECEIVE: /* goes on when the message is sent */
        return;
    }
}

static void report_progress(struct walk *walk)
{
    walk->report_at = walk->done + PROGRESS_INTERVAL;
    if (walk->progress)
        walk->progress->report(walk->progress->user, walk->done, walk->total);
}

/* The next computation ends, or somebody comes to a collective that slows computations down; false when there is none. */
static bool next_event(struct walk *walk)
{
    struct overlap_event event;
    if (!walk->overlaps || !overlaps_next(walk->overlaps, &event))
        return false;
    if (event.collective)
        begin_collective(walk, event.collective);
    else
        end_compute(walk, event.rank, event.time);
    return true;
}

/* All that follows from what is known. */
static void walk_ahead(struct walk *walk)
{
    while (walk->stack_count || walk->queued) {
        if (!walk->stack_count) {
            struct instance *instance = walk->queued;
            walk->queued = instance->next_queued;
            evaluate_instance(walk, instance);
            continue;
        }
        struct participant next = walk->stack[--walk->stack_count];
        advance(walk, next.entry, next.stream);
        if (walk->done >= walk->report_at)
            report_progress(walk);
    }
}

static void walk_all(struct walk *walk)
{
    for (uint32_t index = walk->timeline->rank_count; index-- > 0;)
        for (uint32_t stream = walk->entries[index].position->stream_count; stream-- > 0;)
            push(walk, index, stream);
    walk->report_at = PROGRESS_INTERVAL;
    do
        walk_ahead(walk);
    while (next_event(walk));
}

/* ---- setting up ---- */

static bool connect_send(struct walk *walk, uint32_t index, const struct stream *stream, struct cursor *cursor)
{
    const struct mesh *mesh = walk->program->mesh;
    uint32_t rank = walk->timeline->ranks[index], peer = mesh_rank(mesh, stream->peer, mesh->replica_of[rank]);
    struct platform_route route;
    walk->platform->route(walk->platform, walk->hosts[rank], walk->hosts[peer], &route);
    if (route.link_count == 0 && route.latency <= 0)
        return fault_set(walk->fault, "the platform has no route from host '%s' to host '%s'",
                         walk->platform->hosts[walk->hosts[rank]].name, walk->platform->hosts[walk->hosts[peer]].name);
    cursor->latency = route.latency;
    cursor->seconds_per_byte = 1 / route.bandwidth;
    cursor->peer = walk->timeline->index_of[peer];
    cursor->opposite = stream->opposite;
    return true;
}

static double slowness_of(const struct walk *walk, uint32_t rank)
{
    const struct mesh *mesh = walk->program->mesh;
    uint32_t first = mesh_rank(mesh, mesh->position_of[rank], 0);
    return walk->platform->hosts[walk->hosts[first]].speed / walk->platform->hosts[walk->hosts[rank]].speed;
}

static bool init_entry(struct walk *walk, uint32_t index)
{
    const struct program *program = walk->program;
    struct entry *entry = &walk->entries[index];
    entry->position = &program->positions[program->mesh->position_of[walk->timeline->ranks[index]]];
    entry->replica = program->mesh->replica_of[walk->timeline->ranks[index]];
    entry->slowness = slowness_of(walk, walk->timeline->ranks[index]);
    entry->times = walk->timeline->moments[index];
    entry->cursors = arena_array(walk->arena, entry->position->stream_count, sizeof *entry->cursors);
    walk->total += entry->position->operation_count;
    walk->stack_count += entry->position->stream_count;
    for (uint32_t i = 0; i < entry->position->stream_count; i++) {
        const struct stream *stream = &entry->position->streams[i];
        entry->cursors[i] = (struct cursor){.next = stream->first, .end = stream->first + stream->count, .type = stream->type};
        if (stream->type == OPERATION_SEND && !connect_send(walk, index, stream, &entry->cursors[i]))
            return false;
    }
    return true;
}

static bool has_route(struct walk *walk, const struct instance *instance)
{
    for (uint32_t i = 0; i < instance->rank_count && instance->rank_count > 1; i++) {
        uint32_t from = walk->hosts[instance->ranks[i]], to = walk->hosts[instance->ranks[(i + 1) % instance->rank_count]];
        struct platform_route route;
        walk->platform->route(walk->platform, from, to, &route);
        if (route.link_count == 0 && route.latency <= 0)
            return fault_set(walk->fault, "the platform has no route from host '%s' to host '%s'", walk->platform->hosts[from].name,
                             walk->platform->hosts[to].name);
    }
    return true;
}

/* Members with the same entry of the timeline, lowest first. */
static void list_alike(struct walk *walk, struct instance *instance)
{
    instance->next_alike = arena_array(walk->arena, instance->rank_count, sizeof *instance->next_alike);
    for (uint32_t m = instance->rank_count; m-- > 0;) {
        uint32_t index = walk->timeline->index_of[instance->ranks[m]];
        const struct position *position = walk->entries[index].position;
        uint32_t group = (uint32_t)(instance->group - walk->program->groups);
        const struct cursor *cursor = &walk->entries[index].cursors[position_group_stream(position, group)];
        instance->next_alike[m] = instance->participants[cursor->participant].member;
        instance->participants[cursor->participant].member = m;
    }
    if (!walk->starts || instance->rank_count > walk->members_max) {
        walk->members_max = instance->rank_count;
        walk->starts = arena_array(walk->arena, instance->rank_count, sizeof *walk->starts);
        walk->ends = arena_array(walk->arena, instance->rank_count, sizeof *walk->ends);
    }
}

/* The simulated members of an instance take part; false when a route is missing. */
static bool init_instance(struct walk *walk, uint32_t group, uint32_t number)
{
    const struct program *program = walk->program;
    struct instance *instance = arena_alloc(walk->arena, sizeof *instance);
    *instance = (struct instance){.group = &program->groups[group], .collective = -1};
    instance->rank_count = group_size(program, instance->group);
    instance->ranks = arena_array(walk->arena, instance->rank_count, sizeof *instance->ranks);
    instance->participants = arena_array(walk->arena, instance->rank_count, sizeof *instance->participants);
    group_ranks(program, instance->group, number, instance->ranks);
    for (uint32_t i = 0; i < instance->rank_count; i++) {
        if (!timeline_simulates(walk->timeline, instance->ranks[i]))
            continue;
        uint32_t index = walk->timeline->index_of[instance->ranks[i]];
        const struct position *position = walk->entries[index].position;
        uint32_t stream = position_group_stream(position, group);
        walk->entries[index].cursors[stream].instance = instance;
        walk->entries[index].cursors[stream].participant = instance->participant_count;
        instance->participants[instance->participant_count++] = (struct participant){index, stream, MEMBER_NONE, instance};
    }
    if (instance->participant_count) {
        list_alike(walk, instance);
        instance->share = overlap_share(walk->platform, walk->hosts, instance->ranks, instance->rank_count);
    }
    if (instance->share > 0 && !walk->overlaps)
        walk->overlaps = overlaps_create(walk->timeline->rank_count);
    return instance->participant_count == 0 || has_route(walk, instance);
}

static bool init(struct walk *walk)
{
    const struct program *program = walk->program;
    walk->entries = arena_array(walk->arena, walk->timeline->rank_count, sizeof *walk->entries);
    for (uint32_t index = 0; index < walk->timeline->rank_count; index++)
        if (!init_entry(walk, index))
            return false;
    walk->stack = arena_array(walk->arena, walk->stack_count, sizeof *walk->stack);
    walk->stack_count = 0;
    for (uint32_t group = 0; group < program->group_count; group++)
        if (program->groups[group].collective_count)
            for (uint32_t number = 0; number < group_instances(program, &program->groups[group]); number++)
                if (!init_instance(walk, group, number))
                    return false;
    return true;
}

static bool analytic_run(const struct engine_job *job, struct fault *fault)
{
    struct walk walk = {.program = job->program,
                        .platform = job->platform,
                        .hosts = job->hosts,
                        .timeline = job->timeline,
                        .progress = job->progress,
                        .fault = fault,
                        .arena = arena_create()};
    job->timeline->activities = 0;
    bool ok = init(&walk);
    if (ok) {
        walk_all(&walk);
        if (walk.done != walk.total)
            ok = deadlock_explain(job->timeline, fault);
    }
    overlaps_destroy(walk.overlaps);
    arena_destroy(walk.arena);
    return ok;
}

const struct engine engine_analytic = {"analytic", "contention-free: the longest path; messages and collectives do not disturb each other",
                                       analytic_run};
