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

#include <float.h>
#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/engines/simgrid/services.h"

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

/* A link's flows are weighed by the inverse of their latencies. SimGrid adds the weights up and takes those off whose
 * flows have their share; where what rounding leaves of the sum exceeds maxmin/precision, a link without flows counts
 * as one with flows, and SimGrid ends. n weights w leave about n^2 w epsilon / 4. */
static void set_solver(const struct run *runs, uint32_t count)
{
    static const double most = 1e-3, safety = 4;
    double latency = INFINITY;
    uint32_t flows = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < runs[i].program->pairs_count; k++)
            flows = runs[i].program->pairs[k].members > flows ? runs[i].program->pairs[k].members : flows;
    for (uint32_t i = 0; i < runs[0].site->link_count && flows; i++)
        if (runs[0].site->links[i].latency > 0)
            latency = fmin(latency, runs[0].site->links[i].latency);
    double left = safety * flows * flows / latency * DBL_EPSILON / 4;
    bridge_raise_solver_precision(fmin(left, most));
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
    run.stand_ins = run.network ? NULL : job->stand_ins;
    run.site = run.network ? &run.network->platform : run.stand_ins ? &run.stand_ins->platform : job->platform;
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
    set_solver(runs, count);
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
