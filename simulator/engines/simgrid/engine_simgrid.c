/* SPDX-License-Identifier: Apache-2.0 */
/* The contention-aware engine: SimGrid actors walk the streams of every rank.
 *
 * Streams are meaning, actors are cost: a wake-up costs more than the bookkeeping of an operation. So one actor per
 * rank runs the compute stream and serves every stream whose operations it alone can set off: it posts a send when the
 * computation that the send waits for ends, and takes messages out of the mailbox when it needs them. The recorded
 * times are those of separate streams: a message's end is read from the transfer itself, not from the moment when
 * somebody looks. Other streams have an actor of their own (ACTOR_OWN); a send stream gets one when its first message
 * has to queue behind another. A collective is driven by one actor per group, which moves to each member's host to
 * start its flow, or, where members go on by themselves, by an actor for each member. */
#include "simulator/engines/simgrid/run.h"

#include "base/arena.h"
#include "platforms/host_memory.h"
#include "simulator/engines/simgrid/bridge.h"
#include "simulator/program/stream_route.h"

#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/engines/simgrid/services.h"

struct rank *run_rank(const struct run *run, uint32_t number)
{
    return timeline_simulates(run->timeline, number) ? &run->ranks[run->timeline->index_of[number]] : NULL;
}

sg_mailbox_t run_mailbox(struct run *run, void *actor)
{
    char name[24];
    snprintf(name, sizeof name, "%u", (*run->mailboxes)++);
    return bridge_mailbox(name, actor);
}

void run_await_beginning(const struct run *run)
{
    if (simgrid_get_clock() < run->job->begins)
        sg_actor_sleep_for(run->job->begins - simgrid_get_clock());
}

void run_stagger(const struct run *run, uint32_t count)
{
    sg_actor_sleep_for(count *
                       fmax(STAGGER * fmax(run->length, simgrid_get_clock()), STAGGER_PRECISIONS * run->precision));
}

static bool is_done(const struct rank *rank, uint32_t id)
{
    return !isnan(rank->times[id].end);
}

bool operation_ready(const struct rank *rank, uint32_t id)
{
    const struct operation *operation = &rank->position->operations[id];
    for (uint32_t i = 0; i < operation_wait_count(operation); i++)
        if (!is_done(rank, operation_wait(rank->position, operation, i)))
            return false;
    return true;
}

static double message_bytes(const struct rank *rank, uint32_t id)
{
    double bytes = operation_cost(rank->run->program, &rank->position->operations[id])->bytes;
    return bytes > 0 ? bytes : EMPTY_MESSAGE_BYTES;
}

/* ---- what the end of an operation sets off ---- */

void count_done(struct run *run)
{
    const struct engine_progress *progress = run->job->progress;
    if (++run->done % PROGRESS_INTERVAL == 0 && progress)
        progress->report(progress->user, run->done, run->total);
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
    while (simgrid_get_clock() <= rank->last_post)
        run_stagger(rank->run, 1);
    rank->last_post = simgrid_get_clock();
    double bytes = message_bytes(rank, id);
    stream->in_flight = bridge_send(stream->box, bytes);
    rank->run->activities++;
    if (rank->ghosts && rank->ghosts[id] != GHOST_NONE)
        ghosts_send(rank, rank->ghosts[id], rank->position->streams[stream->index].peer, bytes);
    count_done(rank->run);
}

/* Posts what can be posted of a send stream that the rank's actor serves. When a message has to queue, the stream gets
 * an actor of its own, which goes on from there. */
static void send_advance(struct stream_state *stream)
{
    struct rank *rank = stream->rank;
    const struct stream *description = &rank->position->streams[stream->index];
    while (stream->next < description->count && operation_ready(rank, description->first + stream->next)) {
        if (!settle(stream)) {
            stream->service = ACTOR_OWN;
            bridge_actor_start(rank->run->site, rank->run->places[rank->number], stream_actor, stream);
            return;
        }
        send_post(stream, description->first + stream->next);
    }
}

static void wake_sleepers(struct rank *rank, uint32_t id)
{
    for (struct sleeper **link = &rank->sleepers; *link;) {
        struct sleeper *sleeper = *link;
        if (sleeper->awaited == id) {
            *link = sleeper->next;
            sg_sem_release(sleeper->semaphore);
            link = &rank->sleepers; /* meanwhile others ran, who come and go */
        } else {
            link = &sleeper->next;
        }
    }
}

void operation_done(struct rank *rank, uint32_t id)
{
    const struct position *position = rank->position;
    if (rank->sleepers)
        wake_sleepers(rank, id);
    for (uint32_t i = position->first_dependent[id]; i < position->first_dependent[id + 1]; i++) {
        uint32_t dependent = position->dependents[i], index = position->operations[dependent].stream;
        struct stream_state *stream = &rank->streams[index];
        if (stream->service == SERVED_BY_RANK && position->streams[index].type == OPERATION_SEND)
            send_advance(stream);
        else if (stream->service == ACTOR_GROUP && operation_ready(rank, dependent))
            group_arrive(rank, index, dependent - position->streams[index].first);
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
    for (uint32_t i = 0; i < operation_wait_count(operation); i++)
        await(rank, operation_wait(rank->position, operation, i));
}

/* ---- the actors ---- */

static void compute(struct rank *rank, uint32_t id)
{
    await_waits(rank, id);
    const struct operation *operation = &rank->position->operations[id];
    double seconds = operation_cost(rank->run->program, operation)->seconds;
    seconds *= operation_factor(rank->run->program, operation, rank->run->program->mesh->replica_of[rank->number]);
    rank->times[id].start = rank->times[id].data_start = simgrid_get_clock();
    if (seconds > 0) {
        overlap_execute(rank, seconds);
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
    run_await_beginning(rank->run);
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

/* ---- messages that do not wait until the one before has arrived ---- */

struct watch {
    struct stream_state *stream;
    uint32_t id;
    void *comm;
};

/* Sees a message arrive, after all those before it. */
static void watch_actor(void *argument)
{
    const struct watch *watch = argument;
    struct stream_state *stream = watch->stream;
    struct rank *rank = stream->rank;
    double end = bridge_wait(watch->comm);
    if (stream->in_flight == watch->comm)
        stream->in_flight = NULL;
    if (watch->id > rank->position->streams[stream->index].first) {
        if (!is_done(rank, watch->id - 1))
            sleep_until_done(rank, watch->id - 1);
        end = fmax(end, rank->times[watch->id - 1].end);
    }
    rank->times[watch->id].end = end;
    operation_done(rank, watch->id);
}

static void watch_newest(struct stream_state *stream)
{
    struct run *run = stream->rank->run;
    uint32_t id = stream->rank->position->streams[stream->index].first + stream->next - 1;
    struct watch *watch = arena_alloc(run->arena, sizeof *watch);
    *watch = (struct watch){stream, id, stream->in_flight};
    bridge_actor_start(run->site, run->places[stream->rank->number], watch_actor, watch);
}

/* Until what is left of the newest message takes no longer than the next one's latency. Where others slow it down, how
 * long that is shows only by and by. */
static void await_departure(struct stream_state *stream)
{
    const struct rank *rank = stream->rank;
    const struct run *run = rank->run;
    struct platform_route route;
    stream_route(run->program, run->platform, run->hosts, rank->number, &rank->position->streams[stream->index],
                 &route);
    uint32_t newest = rank->position->streams[stream->index].first + stream->next - 1;
    if (stream->next && route.latency <= 0)
        await(stream->rank, newest);
    while (stream->in_flight) {
        /* Before its bytes move none of them is gone, and the latency is still ahead. */
        double begins = rank->times[newest].start + route.latency - simgrid_get_clock();
        double left = fmax(begins, 0) + bridge_comm_remaining(stream->in_flight) / route.bandwidth - route.latency;
        if (left <= 1e-3 * route.latency) {
            if (left > 0)
                sg_actor_sleep_for(left);
            return;
        }
        sg_actor_sleep_for(left);
    }
}

/* The whole stream. */
static void pipelined_sends(struct stream_state *stream)
{
    struct rank *rank = stream->rank;
    const struct stream *description = &rank->position->streams[stream->index];
    if (stream->in_flight)
        watch_newest(stream);
    while (stream->next < description->count) {
        await_waits(rank, description->first + stream->next);
        await_departure(stream);
        send_post(stream, description->first + stream->next);
        watch_newest(stream);
    }
    await(rank, description->first + description->count - 1); /* messages in flight die with their sender */
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
    run_await_beginning(stream->rank->run);
    const struct stream *description = &stream->rank->position->streams[stream->index];
    if (description->type == OPERATION_SEND && stream->rank->run->program->pipelined) {
        pipelined_sends(stream);
        return;
    }
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

/* ---- setting up ---- */

static void rank_init(struct run *run, struct rank *rank, uint32_t number, const enum service *services)
{
    uint32_t position = run->program->mesh->position_of[number];
    *rank = (struct rank){
        .run = run,
        .number = number,
        .position = &run->program->positions[position],
        .times = run->timeline->moments[run->timeline->index_of[number]],
        .ghosts = run->job->folding && run->job->folding->ghosts ? run->job->folding->ghosts[position] : NULL,
        .speed = platform_full_speed(&run->platform->hosts[run->hosts[mesh_rank(run->program->mesh, position, 0)]]),
        .last_post = -1};
    if (run->measures)
        rank->speed *= run->program->states[mesh_rank(run->program->mesh, position, 0)].clock;
    rank->streams = arena_array(run->arena, rank->position->stream_count, sizeof *rank->streams);
    rank->members = arena_array(run->arena, rank->position->stream_count, sizeof(struct member *));
    for (uint32_t i = 0; i < rank->position->stream_count; i++)
        rank->streams[i] = (struct stream_state){.service = services[i], .rank = rank, .index = i};
    run->total += rank->position->operation_count;
}

/* The memory of the rank's host, on a site that has them: see host_memory_platform. */
static uint32_t memory_place(const struct run *run, const struct rank *rank)
{
    return run->site->host_count + run->places[rank->number];
}

/* The rank's actor and the mailboxes of what it receives; what goes to host memory is addressed there. */
static void rank_start(struct run *run, struct rank *rank)
{
    if (run->measures)
        bridge_host_state(run->site, run->places[rank->number], &run->program->states[rank->number]);
    void *actor = bridge_actor_start(run->site, run->places[rank->number], rank_actor, rank);
    for (uint32_t i = 0; i < rank->position->stream_count; i++)
        if (rank->position->streams[i].type == OPERATION_RECEIVE)
            rank->streams[i].box = run_mailbox(run, rank->position->streams[i].kind == STAGESIM_OFFLOAD
                                                        ? bridge_target_start(run->site, memory_place(run, rank))
                                                        : actor);
}

static void connect_sends(struct run *run, struct rank *rank)
{
    const struct mesh *mesh = run->program->mesh;
    for (uint32_t i = 0; i < rank->position->stream_count; i++) {
        const struct stream *stream = &rank->position->streams[i];
        if (stream->type == OPERATION_SEND)
            rank->streams[i].box =
                run->ranks[run->timeline->index_of[mesh_rank(mesh, stream->peer, mesh->replica_of[rank->number])]]
                    .streams[stream->opposite]
                    .box;
    }
}

/* Where a stream's own actor is. */
static uint32_t actor_place(const struct run *run, const struct rank *rank, const struct stream *stream)
{
    bool loads = stream->type == OPERATION_SEND && stream->kind == STAGESIM_LOAD;
    return loads ? memory_place(run, rank) : run->places[rank->number];
}

static void own_actors_start(struct run *run, struct rank *rank)
{
    for (uint32_t i = 0; i < rank->position->stream_count; i++)
        if (rank->streams[i].service == ACTOR_OWN)
            bridge_actor_start(run->site, actor_place(run, rank, &rank->position->streams[i]), stream_actor,
                               &rank->streams[i]);
}

/* Collectives that wait for nothing are ready from the start. */
static void arrive_ready(struct rank *rank)
{
    for (uint32_t i = 0; i < rank->position->stream_count; i++) {
        const struct stream *stream = &rank->position->streams[i];
        for (uint32_t k = 0; stream->type == OPERATION_COLLECTIVE && k < stream->count; k++)
            if (operation_wait_count(&rank->position->operations[stream->first + k]) == 0)
                group_arrive(rank, i, k);
    }
}

static void ranks_init(struct run *run)
{
    const struct mesh *mesh = run->program->mesh;
    enum service **services = arena_array(run->arena, mesh->positions, sizeof *services);
    for (uint32_t position = 0; position < mesh->positions; position++)
        services[position] = stream_services(&run->program->positions[position], run->arena);
    run->ranks = arena_array(run->arena, run->timeline->rank_count, sizeof *run->ranks);
    for (uint32_t index = 0; index < run->timeline->rank_count; index++)
        rank_init(run, &run->ranks[index], run->timeline->ranks[index],
                  services[mesh->position_of[run->timeline->ranks[index]]]);
}

static void start(struct run *run)
{
    for (uint32_t index = 0; index < run->timeline->rank_count; index++)
        rank_start(run, &run->ranks[index]);
    for (uint32_t index = 0; index < run->timeline->rank_count; index++) {
        connect_sends(run, &run->ranks[index]);
        own_actors_start(run, &run->ranks[index]);
        arrive_ready(&run->ranks[index]);
    }
    for (uint32_t i = 0; i < run->drivers.count; i++)
        driver_start(run->drivers.items[i]);
}

static void start_all(struct run *runs, uint32_t count)
{
    uint64_t actors = 0;
    for (uint32_t i = 0; i < count; i++) {
        runs[i].groups = i ? runs[i - 1].groups + runs[i - 1].drivers.count : 0;
        ranks_init(&runs[i]);
        runs[i].drivers = drivers_create(&runs[i]);
        actors += run_count_actors(&runs[i]);
    }
    if (actors > MANY_ACTORS)
        bridge_expect_many_actors();
    for (uint32_t i = 0; i < count; i++)
        start(&runs[i]);
}

/* The job without contention: a program that cannot finish is refused, and how long it takes says how fine a clock is
 * needed. */
static bool run_ahead(struct run *run, struct fault *fault)
{
    if (!engine_analytic.run(run->job, fault))
        return false;
    double last = run->job->lasts;
    for (uint32_t index = 0; index < run->timeline->rank_count; index++) {
        const struct position *position =
            &run->program->positions[run->program->mesh->position_of[run->timeline->ranks[index]]];
        for (uint32_t i = 0; i < position->stream_count; i++)
            if (position->streams[i].count)
                last = fmax(
                    last,
                    run->timeline->moments[index][position->streams[i].first + position->streams[i].count - 1].end);
    }
    timeline_reset(run->timeline);
    run->length = run->job->begins + last;
    return true;
}

/* A clock that is fine enough for all of them. */
static void set_precision(struct run *runs, uint32_t count)
{
    double last = 0;
    for (uint32_t i = 0; i < count; i++)
        last = fmax(last, runs[i].length);
    double precision = bridge_set_precision(fmax(LEAST_PRECISION, PRECISION_SHARE * last));
    for (uint32_t i = 0; i < count; i++) {
        runs[i].length = last;
        runs[i].precision = precision;
    }
}

/* A site with host memories. What SimGrid has read itself has its hosts for good. */
static bool add_memories(struct run *run, struct fault *fault)
{
    if (run->platform->loader && !strcmp(run->platform->loader, "simgrid"))
        return fault_set(fault,
                         "stashes move to host memory, which the engine simgrid can only add to a platform that "
                         "stagesim reads itself; %s",
                         run->platform->loader_reason ? run->platform->loader_reason : "SimGrid has read this one");
    run->site = host_memory_platform(run->platform, run->arena);
    return true;
}

static struct run run_of(const struct engine_job *job, struct arena *arena)
{
    struct run run = {.job = job,
                      .program = job->program,
                      .platform = job->platform,
                      .hosts = job->hosts,
                      .timeline = job->timeline,
                      .arena = arena};
    run.network = job->folding ? job->folding->network : NULL;
    run.site = run.network ? &run.network->platform : job->platform;
    run.places = run.network ? run.network->place_of : job->hosts;
    return run;
}

/* Those beside it share its site. */
static bool prepare(struct run *runs, uint32_t count, struct fault *fault)
{
    bool ready = true, offloads = false;
    for (uint32_t i = 0; i < count && ready; i++) {
        ready = run_ahead(&runs[i], fault);
        offloads |= program_offloads(runs[i].program);
    }
    if (!ready)
        return false;
    set_precision(runs, count);
    if (offloads && !add_memories(&runs[0], fault))
        return false;
    for (uint32_t i = 1; i < count; i++)
        runs[i].site = runs[0].site;
    runs[0].measures = count == 1 && runs[0].program->states && !offloads && bridge_measures_energy(runs[0].site);
    return bridge_adopt(runs[0].site, fault);
}

static bool finish(const struct run *run, struct fault *fault)
{
    struct timeline *timeline = run->job->timeline;
    timeline->activities = run->activities;
    for (uint32_t index = 0; index < timeline->rank_count && run->measures; index++)
        timeline->joules[index] = bridge_host_joules(run->site, run->places[timeline->ranks[index]]);
    if (run->done != run->total)
        return fault_set(fault, "the simulation ended with %llu of %llu operations done", (unsigned long long)run->done,
                         (unsigned long long)run->total);
    timeline_finish_receives(run->job->timeline);
    return true;
}

bool simgrid_run_program(const struct engine_job *job, struct fault *fault)
{
    struct arena *arena = arena_create();
    uint32_t count = 0, mailboxes = 0;
    for (const struct engine_job *one = job; one; one = one->beside)
        count++;
    struct run *runs = arena_array(arena, count, sizeof *runs);
    for (uint32_t i = 0; i < count; i++, job = job->beside) {
        runs[i] = run_of(job, arena);
        runs[i].mailboxes = &mailboxes;
    }
    if (!prepare(runs, count, fault)) {
        arena_destroy(arena);
        return false;
    }
    start_all(runs, count);
    if (!bridge_run(fault))
        return false; /* killed actors may still refer to the arena; the process ends anyway */
    bool ok = true;
    for (uint32_t i = 0; i < count; i++)
        ok &= finish(&runs[i], fault);
    arena_destroy(arena);
    return ok;
}
