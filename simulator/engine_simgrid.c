/* SPDX-License-Identifier: Apache-2.0 */
/* The contention-aware engine: SimGrid actors walk the streams of every rank.
 *
 * Streams are meaning, actors are cost: a wake-up costs more than the bookkeeping of an operation. So one actor per rank
 * runs the compute stream and serves every stream whose operations it alone can set off: it posts a send when the
 * computation that the send waits for ends, and takes messages out of the mailbox when it needs them. The recorded times are
 * those of separate streams: a message's end is read from the transfer itself, not from the moment when somebody looks.
 * Other streams have an actor of their own (ACTOR_OWN); a send stream gets one when its first message has to queue behind
 * another. A collective is driven by one actor per group, which moves to each member's host to start its flow. */
#include "simulator/collectives/collective.h"
#include "simulator/engine.h"
#include "simulator/simgrid_bridge.h"

#include "simulator/arena.h"

#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/mailbox.h>
#include <simgrid/semaphore.h>
#include <stdio.h>
#include <stdlib.h>

/* SimGrid takes an in-flight message of 0 bytes for an arrived one, so an empty message carries a thousandth of a byte. */
static const double empty_message_bytes = 1e-3;

enum { PROGRESS_INTERVAL = 4096, SLICE_FLOWS = 256, MANY_ACTORS = 20000 };

enum service {
    SERVED_BY_RANK,   /* the rank's actor: its compute stream, or a stream that it serves in passing */
    SERVED_BY_STREAM, /* receive: taken by the actor of another stream, the only one that waits for it */
    ACTOR_OWN,        /* an actor of its own */
    ACTOR_GROUP       /* collectives: the group's driver */
};

struct rank;

struct stream_state {
    enum service service;
    uint32_t next;       /* index of the first operation that is not posted (send) or taken (receive) yet */
    sg_mailbox_t box;    /* send: the receiver's; receive: its own */
    void *in_flight;     /* send served by the rank: the newest message, until its end is recorded */
    struct rank *rank;
    uint32_t index;      /* of the stream in its position */
};

/* An actor that sleeps until an operation of its rank is done. Lives on the sleeping actor's stack. */
struct sleeper {
    uint32_t awaited;
    sg_sem_t semaphore;
    struct sleeper *next;
};

struct group_driver;

struct rank {
    struct run *run;
    uint32_t number;
    const struct position *position;
    struct moment *times;
    struct stream_state *streams;
    double speed;
    struct sleeper *sleepers;
    struct group_driver **drivers; /* [stream]: of collective streams */
};

struct member {
    struct rank *rank;
    uint32_t first; /* id of its first collective in this group */
    sg_mailbox_t box;
};

/* A part of a collective's flows: large groups are driven by several actors, because moving an actor costs time in
 * proportion to its running transfers. */
struct slice {
    struct group_driver *driver;
    uint32_t index;
    sg_sem_t go;
};

struct group_driver {
    struct run *run;
    const struct group *group;
    struct member *members;
    uint32_t member_count;
    uint32_t *arrived;   /* [collective]: members that are ready */
    uint32_t current;    /* the collective that is waited for or running */
    bool waiting;
    sg_sem_t wake;
    struct slice *slices;
    uint32_t slice_count, running_slices;
    double end;          /* of the running collective: the latest flow, latencies of all steps included */
    double *latencies;   /* [flow] of the newest collective kind, NaN: not looked up */
    uint8_t latencies_kind;
    double previous_end;
};

struct run {
    const struct program *program;
    struct platform *platform;
    const uint32_t *hosts;
    struct timeline *timeline;
    const struct engine_progress *progress;
    struct arena *arena;
    struct rank *ranks;
    uint64_t done, total, activities;
};

static bool is_done(const struct rank *rank, uint32_t id)
{
    return !isnan(rank->times[id].end);
}

static bool is_ready(const struct rank *rank, uint32_t id)
{
    const struct operation *operation = &rank->position->operations[id];
    for (uint16_t i = 0; i < operation->wait_count; i++)
        if (!is_done(rank, rank->position->waits[operation->first_wait + i]))
            return false;
    return true;
}

static double message_bytes(const struct rank *rank, uint32_t id)
{
    double bytes = operation_cost(rank->run->program, &rank->position->operations[id])->bytes;
    return bytes > 0 ? bytes : empty_message_bytes;
}

/* ---- what the end of an operation sets off ---- */

static void count_done(struct run *run)
{
    if (++run->done % PROGRESS_INTERVAL == 0 && run->progress)
        run->progress->report(run->progress->user, run->done, run->total);
}

static void stream_actor(void *argument);

/* Records the end of the message in flight. False while it is under way. */
static bool settle(struct stream_state *stream)
{
    if (!stream->in_flight)
        return true;
    if (bridge_comm_finish(stream->in_flight) < 0)
        return false;
    uint32_t id = stream->rank->position->streams[stream->index].first + stream->next - 1;
    stream->rank->times[id].end = bridge_wait(stream->in_flight);
    stream->in_flight = NULL;
    return true;
}

static void send_post(struct stream_state *stream, uint32_t id)
{
    struct rank *rank = stream->rank;
    stream->next++;
    rank->times[id].start = rank->times[id].data_start = simgrid_get_clock();
    stream->in_flight = bridge_send(stream->box, message_bytes(rank, id));
    rank->run->activities++;
    count_done(rank->run);
}

/* Posts what can be posted of a send stream that the rank's actor serves. When a message has to queue, the stream gets an
 * actor of its own, which goes on from there. */
static void send_advance(struct stream_state *stream)
{
    struct rank *rank = stream->rank;
    const struct stream *description = &rank->position->streams[stream->index];
    while (stream->next < description->count && is_ready(rank, description->first + stream->next)) {
        if (!settle(stream)) {
            stream->service = ACTOR_OWN;
            bridge_actor_start(rank->run->platform, rank->run->hosts[rank->number], stream_actor, stream);
            return;
        }
        send_post(stream, description->first + stream->next);
    }
}

static void group_arrive(struct group_driver *driver, uint32_t index)
{
    driver->arrived[index]++;
    if (driver->waiting && index == driver->current && driver->arrived[index] == driver->member_count) {
        driver->waiting = false;
        sg_sem_release(driver->wake);
    }
}

static void wake_sleepers(struct rank *rank, uint32_t id)
{
    for (struct sleeper **link = &rank->sleepers; *link;) {
        struct sleeper *sleeper = *link;
        if (sleeper->awaited == id) {
            *link = sleeper->next;
            sg_sem_release(sleeper->semaphore);
        } else {
            link = &sleeper->next;
        }
    }
}

/* Called when an operation has ended, its end recorded. */
static void operation_done(struct rank *rank, uint32_t id)
{
    const struct position *position = rank->position;
    if (rank->sleepers)
        wake_sleepers(rank, id);
    for (uint32_t i = position->first_dependent[id]; i < position->first_dependent[id + 1]; i++) {
        uint32_t dependent = position->dependents[i], index = position->operations[dependent].stream;
        struct stream_state *stream = &rank->streams[index];
        if (stream->service == SERVED_BY_RANK && position->streams[index].type == OPERATION_SEND)
            send_advance(stream);
        else if (stream->service == ACTOR_GROUP && is_ready(rank, dependent))
            group_arrive(rank->drivers[index], dependent - position->streams[index].first);
    }
}

/* ---- waiting ---- */

static void sleep_until_done(struct rank *rank, uint32_t id)
{
    struct sleeper sleeper = {id, sg_sem_init(0), rank->sleepers};
    rank->sleepers = &sleeper;
    sg_sem_acquire(sleeper.semaphore);
    sg_sem_destroy(sleeper.semaphore);
}

/* Takes messages out of the mailbox up to and including index `last`. Their exact times follow from the sends. */
static void receive_until(struct stream_state *stream, uint32_t last)
{
    uint32_t first = stream->rank->position->streams[stream->index].first;
    while (stream->next <= last) {
        sg_mailbox_get(stream->box);
        stream->rank->times[first + stream->next++].end = simgrid_get_clock();
        count_done(stream->rank->run);
    }
}

static void await(struct rank *rank, uint32_t id)
{
    if (is_done(rank, id))
        return;
    uint32_t index = rank->position->operations[id].stream;
    struct stream_state *stream = &rank->streams[index];
    if (stream->service == SERVED_BY_STREAM)
        receive_until(stream, id - rank->position->streams[index].first);
    else
        sleep_until_done(rank, id);
}

static void await_waits(struct rank *rank, uint32_t id)
{
    const struct operation *operation = &rank->position->operations[id];
    for (uint16_t i = 0; i < operation->wait_count; i++)
        await(rank, rank->position->waits[operation->first_wait + i]);
}

/* ---- the actors ---- */

static void compute(struct rank *rank, uint32_t id)
{
    await_waits(rank, id);
    double seconds = operation_cost(rank->run->program, &rank->position->operations[id])->seconds;
    rank->times[id].start = rank->times[id].data_start = simgrid_get_clock();
    if (seconds > 0) {
        sg_actor_execute(seconds * rank->speed);
        rank->run->activities++;
    }
    rank->times[id].end = simgrid_get_clock();
    count_done(rank->run);
    operation_done(rank, id);
}

/* A message in flight dies with the actor that sent it, and with the one that it is addressed to. */
static void drain(struct rank *rank)
{
    for (uint32_t i = 0; i < rank->position->stream_count; i++) {
        struct stream_state *stream = &rank->streams[i];
        const struct stream *description = &rank->position->streams[i];
        if (stream->service == SERVED_BY_STREAM && rank->position->streams[i].type == OPERATION_RECEIVE)
            receive_until(stream, description->count - 1);
        else if (stream->service == SERVED_BY_RANK && stream->in_flight) {
            rank->times[description->first + stream->next - 1].end = bridge_wait(stream->in_flight);
            stream->in_flight = NULL;
        }
    }
}

static void rank_actor(void *argument)
{
    struct rank *rank = argument;
    for (uint32_t i = 0; i < rank->position->stream_count; i++)
        if (rank->position->streams[i].type == OPERATION_SEND && rank->streams[i].service == SERVED_BY_RANK)
            send_advance(&rank->streams[i]);
    const struct stream *stream = &rank->position->streams[0];
    for (uint32_t id = stream->first; id < stream->first + stream->count; id++)
        compute(rank, id);
    for (uint32_t i = 1; i < rank->position->stream_count; i++)
        if (rank->streams[i].service == ACTOR_OWN || rank->streams[i].service == ACTOR_GROUP)
            await(rank, rank->position->streams[i].first + rank->position->streams[i].count - 1);
    drain(rank);
}

static void own_send(struct stream_state *stream, uint32_t id)
{
    await_waits(stream->rank, id);
    send_post(stream, id);
    stream->rank->times[id].end = bridge_wait(stream->in_flight);
    stream->in_flight = NULL;
}

static void own_delay(struct stream_state *stream, uint32_t id)
{
    struct rank *rank = stream->rank;
    await_waits(rank, id);
    stream->next++;
    rank->times[id].start = rank->times[id].data_start = simgrid_get_clock();
    sg_actor_sleep_for(operation_cost(rank->run->program, &rank->position->operations[id])->seconds);
    rank->times[id].end = simgrid_get_clock();
    count_done(rank->run);
}

/* Serves one stream to its end. A stream that was served by the rank before begins with the message in flight. */
static void stream_actor(void *argument)
{
    struct stream_state *stream = argument;
    const struct stream *description = &stream->rank->position->streams[stream->index];
    if (stream->in_flight) {
        stream->rank->times[description->first + stream->next - 1].end = bridge_wait(stream->in_flight);
        stream->in_flight = NULL;
        operation_done(stream->rank, description->first + stream->next - 1);
    }
    while (stream->next < description->count) {
        uint32_t id = description->first + stream->next;
        if (description->type == OPERATION_SEND)
            own_send(stream, id);
        else if (description->type == OPERATION_RECEIVE)
            receive_until(stream, stream->next);
        else
            own_delay(stream, id);
        operation_done(stream->rank, id);
    }
}

/* ---- collectives ---- */

static const struct operation *current_operation(const struct group_driver *driver)
{
    const struct member *member = &driver->members[0];
    return &member->rank->position->operations[member->first + driver->current];
}

static double flow_latency(struct group_driver *driver, uint32_t index, const struct collective_flow *flow)
{
    if (isnan(driver->latencies[index])) {
        struct run *run = driver->run;
        struct platform_route route;
        run->platform->route(run->platform, run->hosts[driver->members[flow->from].rank->number],
                             run->hosts[driver->members[flow->to].rank->number], &route);
        driver->latencies[index] = route.latency;
    }
    return driver->latencies[index];
}

/* Starts and awaits flows first .. last - 1 of the current collective. */
static void run_flows(struct group_driver *driver, uint32_t first, uint32_t last)
{
    const struct operation *operation = current_operation(driver);
    const struct stagesim_cost *cost = operation_cost(driver->run->program, operation);
    double bytes = cost->bytes, repeats = fmax(cost->repeats, 1);
    void *comms[SLICE_FLOWS];
    for (uint32_t index = first; index < last; index++) {
        struct collective_flow flow = collective_flow(operation->collective, driver->member_count, bytes, index);
        bridge_actor_move(driver->run->platform, driver->run->hosts[driver->members[flow.from].rank->number]);
        comms[index - first] = bridge_send(driver->members[flow.to].box, flow.bytes > 0 ? flow.bytes : empty_message_bytes);
        driver->run->activities++;
    }
    for (uint32_t index = first; index < last; index++) {
        struct collective_flow flow = collective_flow(operation->collective, driver->member_count, bytes, index);
        double latency = flow_latency(driver, index, &flow);
        double end = bridge_wait(comms[index - first]);
        sg_mailbox_get(driver->members[flow.to].box);
        driver->end = fmax(driver->end, end + (repeats * flow.steps - 1) * latency);
    }
}

static uint32_t current_flow_count(const struct group_driver *driver)
{
    return collective_flow_count(current_operation(driver)->collective, driver->member_count);
}

static void run_slice(struct group_driver *driver, uint32_t slice)
{
    uint32_t count = current_flow_count(driver), first = slice * SLICE_FLOWS;
    if (first < count)
        run_flows(driver, first, count - first < SLICE_FLOWS ? count : first + SLICE_FLOWS);
    if (--driver->running_slices == 0 && driver->waiting) {
        driver->waiting = false;
        sg_sem_release(driver->wake);
    }
}

static void slice_actor(void *argument)
{
    struct slice *slice = argument;
    for (uint32_t i = 0; i < slice->driver->group->collective_count; i++) {
        sg_sem_acquire(slice->go);
        run_slice(slice->driver, slice->index);
    }
}

static void driver_sleep(struct group_driver *driver)
{
    driver->waiting = true;
    sg_sem_acquire(driver->wake);
}

static void run_all_flows(struct group_driver *driver)
{
    uint8_t kind = current_operation(driver)->collective;
    if (kind != driver->latencies_kind)
        for (uint32_t flow = 0; flow < current_flow_count(driver); flow++)
            driver->latencies[flow] = NAN;
    driver->latencies_kind = kind;
    driver->end = simgrid_get_clock();
    driver->running_slices = driver->slice_count;
    for (uint32_t slice = 1; slice < driver->slice_count; slice++)
        sg_sem_release(driver->slices[slice].go);
    run_slice(driver, 0);
    if (driver->running_slices)
        driver_sleep(driver);
    if (driver->end > simgrid_get_clock())
        sg_actor_sleep_for(driver->end - simgrid_get_clock());
}

/* When a member's stream reached the collective and what it waits for was done. */
static double posted(const struct rank *rank, uint32_t id, double stream_free)
{
    const struct operation *operation = &rank->position->operations[id];
    double start = stream_free;
    for (uint16_t i = 0; i < operation->wait_count; i++)
        start = fmax(start, rank->times[rank->position->waits[operation->first_wait + i]].end);
    return start;
}

static void finish_collective(struct group_driver *driver, double data_start)
{
    for (uint32_t i = 0; i < driver->member_count; i++) {
        struct member *member = &driver->members[i];
        uint32_t id = member->first + driver->current;
        member->rank->times[id] = (struct moment){posted(member->rank, id, driver->previous_end), data_start, driver->end};
        count_done(driver->run);
    }
    driver->previous_end = driver->end;
    for (uint32_t i = 0; i < driver->member_count; i++)
        operation_done(driver->members[i].rank, driver->members[i].first + driver->current);
}

static void driver_actor(void *argument)
{
    struct group_driver *driver = argument;
    for (driver->current = 0; driver->current < driver->group->collective_count; driver->current++) {
        if (driver->arrived[driver->current] < driver->member_count)
            driver_sleep(driver);
        double data_start = simgrid_get_clock();
        run_all_flows(driver);
        finish_collective(driver, data_start);
    }
}

/* ---- setting up ---- */

/* True when every operation that waits for one of the stream's operations is in one other stream; *only is that stream. */
static bool sole_waiter(const struct position *position, const struct stream *stream, uint32_t *only)
{
    *only = UINT32_MAX;
    for (uint32_t id = stream->first; id < stream->first + stream->count; id++)
        for (uint32_t i = position->first_dependent[id]; i < position->first_dependent[id + 1]; i++) {
            uint32_t waiter = position->operations[position->dependents[i]].stream;
            if (*only != UINT32_MAX && waiter != *only)
                return false;
            *only = waiter;
        }
    return true;
}

/* True when the rank's own actor is the one that sees all that the stream waits for end, and nobody waits for the stream. */
static bool served_in_passing(const struct position *position, const struct stream *stream)
{
    for (uint32_t id = stream->first; id < stream->first + stream->count; id++) {
        const struct operation *operation = &position->operations[id];
        if (position->first_dependent[id] != position->first_dependent[id + 1])
            return false;
        for (uint16_t i = 0; i < operation->wait_count; i++)
            if (position->operations[position->waits[operation->first_wait + i]].stream != 0)
                return false;
    }
    return true;
}

static enum service choose_service(const struct position *position, uint32_t index)
{
    const struct stream *stream = &position->streams[index];
    if (stream->type == OPERATION_COMPUTE)
        return SERVED_BY_RANK;
    if (stream->type == OPERATION_COLLECTIVE)
        return ACTOR_GROUP;
    if (stream->type == OPERATION_SEND)
        return served_in_passing(position, stream) ? SERVED_BY_RANK : ACTOR_OWN;
    uint32_t waiter;
    if (stream->type == OPERATION_RECEIVE && sole_waiter(position, stream, &waiter) &&
        (waiter == UINT32_MAX || position->streams[waiter].type == OPERATION_COMPUTE))
        return SERVED_BY_STREAM;
    return ACTOR_OWN;
}

static enum service *choose_services(const struct position *position, struct arena *arena)
{
    enum service *services = arena_array(arena, position->stream_count, sizeof *services);
    for (uint32_t i = 0; i < position->stream_count; i++)
        services[i] = choose_service(position, i);
    return services;
}

static void rank_init(struct run *run, struct rank *rank, uint32_t number, const enum service *services)
{
    uint32_t position = run->program->mesh->position_of[number];
    *rank = (struct rank){.run = run,
                          .number = number,
                          .position = &run->program->positions[position],
                          .times = run->timeline->moments[number],
                          .speed = run->platform->hosts[run->hosts[number]].speed};
    rank->streams = arena_array(run->arena, rank->position->stream_count, sizeof *rank->streams);
    rank->drivers = arena_array(run->arena, rank->position->stream_count, sizeof(struct group_driver *));
    for (uint32_t i = 0; i < rank->position->stream_count; i++)
        rank->streams[i] = (struct stream_state){.service = services[i], .rank = rank, .index = i};
    run->total += rank->position->operation_count;
}

/* The rank's actor and the mailboxes of what it receives. */
static void rank_start(struct run *run, struct rank *rank)
{
    void *actor = bridge_actor_start(run->platform, run->hosts[rank->number], rank_actor, rank);
    for (uint32_t i = 0; i < rank->position->stream_count; i++) {
        char name[64];
        snprintf(name, sizeof name, "m%u.%u", rank->number, i);
        if (rank->position->streams[i].type == OPERATION_RECEIVE)
            rank->streams[i].box = bridge_mailbox(name, actor);
        else if (rank->position->streams[i].type == OPERATION_COLLECTIVE) {
            struct group_driver *driver = rank->drivers[i];
            for (uint32_t member = 0; member < driver->member_count; member++)
                if (driver->members[member].rank == rank)
                    driver->members[member].box = bridge_mailbox(name, actor);
        }
    }
}

static void connect_sends(struct run *run, struct rank *rank)
{
    const struct mesh *mesh = run->program->mesh;
    for (uint32_t i = 0; i < rank->position->stream_count; i++) {
        const struct stream *stream = &rank->position->streams[i];
        if (stream->type == OPERATION_SEND)
            rank->streams[i].box = run->ranks[mesh_rank(mesh, stream->peer, mesh->replica_of[rank->number])].streams[stream->opposite].box;
    }
}

static void own_actors_start(struct run *run, struct rank *rank)
{
    for (uint32_t i = 0; i < rank->position->stream_count; i++)
        if (rank->streams[i].service == ACTOR_OWN)
            bridge_actor_start(run->platform, run->hosts[rank->number], stream_actor, &rank->streams[i]);
}

static uint32_t largest_flow_count(const struct group_driver *driver)
{
    uint32_t largest = 0;
    const struct member *member = &driver->members[0];
    for (uint32_t i = 0; i < driver->group->collective_count; i++) {
        uint32_t count =
            collective_flow_count(member->rank->position->operations[member->first + i].collective, driver->member_count);
        largest = count > largest ? count : largest;
    }
    return largest;
}

static struct group_driver *driver_create(struct run *run, uint32_t group, uint32_t instance)
{
    struct group_driver *driver = arena_alloc(run->arena, sizeof *driver);
    *driver = (struct group_driver){.run = run, .group = &run->program->groups[group], .wake = sg_sem_init(0)};
    driver->member_count = group_size(run->program, driver->group);
    driver->members = arena_array(run->arena, driver->member_count, sizeof *driver->members);
    driver->arrived = arena_array(run->arena, driver->group->collective_count, sizeof *driver->arrived);
    uint32_t *ranks = arena_array(run->arena, driver->member_count, sizeof *ranks);
    group_ranks(run->program, driver->group, instance, ranks);
    for (uint32_t i = 0; i < driver->member_count; i++) {
        struct rank *rank = &run->ranks[ranks[i]];
        uint32_t stream = position_group_stream(rank->position, group);
        rank->drivers[stream] = driver;
        driver->members[i] = (struct member){.rank = rank, .first = rank->position->streams[stream].first};
    }
    uint32_t flows = largest_flow_count(driver);
    driver->latencies = arena_array(run->arena, flows + 1, sizeof *driver->latencies);
    driver->latencies_kind = UINT8_MAX;
    driver->slice_count = flows / SLICE_FLOWS + (flows % SLICE_FLOWS != 0 || flows == 0);
    driver->slices = arena_array(run->arena, driver->slice_count, sizeof *driver->slices);
    return driver;
}

static void driver_start(struct group_driver *driver)
{
    struct run *run = driver->run;
    uint32_t host = run->hosts[driver->members[0].rank->number];
    for (uint32_t i = 1; i < driver->slice_count; i++) {
        driver->slices[i] = (struct slice){driver, i, sg_sem_init(0)};
        bridge_actor_start(run->platform, host, slice_actor, &driver->slices[i]);
    }
    bridge_actor_start(run->platform, host, driver_actor, driver);
}

/* Collectives that wait for nothing are ready from the start. */
static void arrive_ready(struct rank *rank)
{
    for (uint32_t i = 0; i < rank->position->stream_count; i++) {
        const struct stream *stream = &rank->position->streams[i];
        for (uint32_t k = 0; stream->type == OPERATION_COLLECTIVE && k < stream->count; k++)
            if (rank->position->operations[stream->first + k].wait_count == 0)
                group_arrive(rank->drivers[i], k);
    }
}

struct drivers {
    struct group_driver **items;
    uint32_t count;
};

static struct drivers drivers_create(struct run *run)
{
    struct drivers drivers = {NULL, 0};
    for (uint32_t group = 0; group < run->program->group_count; group++)
        if (run->program->groups[group].collective_count)
            drivers.count += group_instances(run->program, &run->program->groups[group]);
    drivers.items = arena_array(run->arena, drivers.count + 1, sizeof(struct group_driver *));
    uint32_t count = 0;
    for (uint32_t group = 0; group < run->program->group_count; group++)
        if (run->program->groups[group].collective_count)
            for (uint32_t instance = 0; instance < group_instances(run->program, &run->program->groups[group]); instance++)
                drivers.items[count++] = driver_create(run, group, instance);
    return drivers;
}

static void expect_actors(const struct run *run, const struct drivers *drivers)
{
    uint64_t actors = run->program->mesh->ranks + drivers->count;
    for (uint32_t rank = 0; rank < run->program->mesh->ranks; rank++)
        for (uint32_t i = 0; i < run->ranks[rank].position->stream_count; i++)
            actors += run->ranks[rank].streams[i].service == ACTOR_OWN;
    if (actors > MANY_ACTORS)
        bridge_expect_many_actors();
}

static void start_all(struct run *run)
{
    const struct program *program = run->program;
    uint32_t ranks = program->mesh->ranks;
    enum service **services = arena_array(run->arena, program->mesh->positions, sizeof *services);
    for (uint32_t position = 0; position < program->mesh->positions; position++)
        services[position] = choose_services(&program->positions[position], run->arena);
    for (uint32_t rank = 0; rank < ranks; rank++)
        rank_init(run, &run->ranks[rank], rank, services[program->mesh->position_of[rank]]);
    struct drivers drivers = drivers_create(run);
    expect_actors(run, &drivers);
    for (uint32_t rank = 0; rank < ranks; rank++)
        rank_start(run, &run->ranks[rank]);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        connect_sends(run, &run->ranks[rank]);
        own_actors_start(run, &run->ranks[rank]);
        arrive_ready(&run->ranks[rank]);
    }
    for (uint32_t i = 0; i < drivers.count; i++)
        driver_start(drivers.items[i]);
}

static bool simgrid_run_program(const struct program *program, struct platform *platform, const uint32_t *hosts,
                                struct timeline *timeline, const struct engine_progress *progress, struct fault *fault)
{
    struct arena *arena = arena_create();
    struct run run = {.program = program, .platform = platform, .hosts = hosts, .timeline = timeline, .progress = progress, .arena = arena};
    run.ranks = arena_array(arena, program->mesh->ranks, sizeof *run.ranks);
    start_all(&run);
    bool ok = bridge_run(fault);
    if (ok && run.done != run.total)
        ok = fault_set(fault, "the simulation ended with %llu of %llu operations done", (unsigned long long)run.done,
                       (unsigned long long)run.total);
    if (ok)
        timeline_finish_receives(timeline);
    timeline->activities = run.activities;
    if (ok)
        arena_destroy(arena); /* after a failure killed actors may still refer to it; the process ends anyway */
    return ok;
}

const struct engine engine_simgrid = {"simgrid", "contention-aware: transfers share links as SimGrid's max-min model says",
                                      simgrid_run_program};
