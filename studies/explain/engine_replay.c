/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/explain/engine_replay.h"

#include "base/arena.h"
#include "platforms/library.h"
#include "simulator/collectives/assignment.h"
#include "simulator/engines/engine.h"
#include "simulator/run/folded_run.h"
#include "studies/explain/engine_replay_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct engine_replay {
    const struct replay *replay;
    struct mesh mesh;
    struct platform platform; /* where nothing takes time, if there is no network */
    struct program *program;
    const struct replay_network *network; /* NULL: there is none */
    struct timeline *timeline;            /* NULL with a network */
    const uint32_t *hosts;
    uint32_t *cost_of;     /* [node]; NOWHERE: it takes no time */
    uint32_t *transfer_of; /* [node]: cost of the message or collective that moves its data; NOWHERE: nothing does */
    struct arena *arena;
};

/* ---- a platform on which nothing takes time ---- */

static void route_at_once(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route)
{
    static const uint32_t link;
    (void)platform;
    (void)from;
    (void)to;
    *route = (struct platform_route){.bandwidth = 1e30, .link_count = 1, .links = &link};
}

static bool reaches_all(struct platform *platform, uint32_t from, uint32_t to)
{
    (void)platform;
    (void)from;
    (void)to;
    return true;
}

static void make_platform(struct engine_replay *to, uint32_t ranks)
{
    struct platform_host *hosts = arena_array(to->arena, ranks, sizeof *hosts);
    struct platform_link *link = arena_array(to->arena, 1, sizeof *link);
    uint32_t *own = arena_array(to->arena, ranks, sizeof *own);
    to->hosts = own;
    *link = (struct platform_link){.name = "at once", .bandwidth = 1e30, .sharing = LINK_FATPIPE};
    for (uint32_t i = 0; i < ranks; i++) {
        hosts[i] = (struct platform_host){.name = "rank", .node = "", .speed = 1};
        own[i] = i;
    }
    to->platform = (struct platform){.file = "the trace",
                                     .host_count = ranks,
                                     .hosts = hosts,
                                     .link_count = 1,
                                     .links = link,
                                     .route = route_at_once,
                                     .reaches = reaches_all};
    library_complete(&to->platform.library);
}

/* ---- the program ---- */

static void finish_program(struct engine_replay *to, struct building *b)
{
    static const struct collective_policy automatic;
    const struct replay_network *network = to->network;
    uint32_t count = b->replay->node_count;
    to->cost_of = arena_array_unset(to->arena, (size_t)count + 1, sizeof *to->cost_of);
    to->transfer_of = arena_array_unset(to->arena, (size_t)count + 1, sizeof *to->transfer_of);
    for (uint32_t i = 0; i < count; i++) {
        to->cost_of[i] = b->places[i].cost;
        to->transfer_of[i] = b->places[i].transfer;
    }
    to->program = program_finish(b->builder, to->arena);
    to->program->iterations = to->program->period = 1;
    assignment_create(to->program, to->arena);
    assignment_place(to->program->assignment, network ? network->platform : &to->platform, to->hosts,
                     network ? network->policy : &automatic);
    to->timeline = network ? NULL : timeline_create(to->program);
}

struct engine_replay *engine_replay_create(const struct replay *replay, const struct replay_network *network,
                                           struct fault *fault)
{
    struct engine_replay *to = array_zeroed(1, sizeof *to);
    struct building building = {.replay = replay, .network = network};
    const struct stagesim_cost nothing = {0};
    uint32_t ranks = (uint32_t)replay->recorded->rank_count;
    to->replay = replay;
    to->network = network;
    to->arena = building.arena = arena_create();
    to->mesh = (struct mesh){.axis_count = 1, .axes = {{.name = "rank", .size = ranks, .distinct = true}}};
    mesh_finish(&to->mesh, to->arena);
    if (network)
        to->hosts = network->hosts;
    else
        make_platform(to, ranks);
    building.builder = program_builder_create(&to->mesh);
    building.nothing = program_add_cost(building.builder, &nothing);
    building.places = array_zeroed(replay->node_count, sizeof *building.places);
    bool good = engine_replay_place(&building, fault);
    if (good)
        finish_program(to, &building);
    program_builder_destroy(building.builder);
    free(building.places);
    free(building.first_after);
    free(building.after);
    free(building.other_end);
    free(building.awaited);
    free(building.circles);
    if (good)
        return to;
    engine_replay_finish(to);
    return NULL;
}

void engine_replay_finish(struct engine_replay *replay)
{
    if (!replay)
        return;
    timeline_destroy(replay->timeline);
    arena_destroy(replay->arena);
    free(replay);
}

/* ---- runs ---- */

/* Seconds of a step: up to its last end, or of several between their ends. */
static double step_seconds(const struct engine_replay *replay, const struct timeline *timeline)
{
    const struct replay *graph = replay->replay;
    double last = 0, first = 0;
    bool *is_first = array_zeroed((size_t)timeline->program->cost_count + 1, sizeof *is_first);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        bool own = replay_is_first(graph, i);
        if (own && replay->cost_of[i] != NOWHERE)
            is_first[replay->cost_of[i]] = true;
        if (own && replay->transfer_of[i] != NOWHERE)
            is_first[replay->transfer_of[i]] = true;
    }
    for (uint32_t rank = 0; rank < timeline->rank_count; rank++)
        for (uint32_t id = 0; id < timeline->program->positions[rank].operation_count; id++) {
            double end = timeline->moments[rank][id].end;
            last = fmax(last, end);
            first = is_first[timeline->program->positions[rank].operations[id].cost] ? fmax(first, end) : first;
        }
    free(is_first);
    return replay_step_seconds(graph, first, last);
}

double engine_replay_time(struct engine_replay *replay, const double *seconds, const double *gaps, struct fault *fault)
{
    const struct replay *graph = replay->replay;
    for (uint32_t i = 0; i < graph->node_count; i++)
        if (replay->cost_of[i] != NOWHERE)
            replay->program->costs[replay->cost_of[i]].seconds =
                (gaps ? gaps[i] : graph->nodes[i].gap) + (seconds ? seconds[i] : graph->nodes[i].seconds);
    struct engine_job job = {.program = replay->program,
                             .platform = &replay->platform,
                             .hosts = replay->hosts,
                             .timeline = replay->timeline,
                             .apart = true,
                             .transfers_free = true};
    timeline_reset(replay->timeline);
    return engine_analytic.run(&job, fault) ? step_seconds(replay, replay->timeline) : NAN;
}

/* [cost]: what the message or collective of that cost takes from when all that it waits for is there. The caller frees
 * it. */
static double *durations_of(const struct timeline *timeline)
{
    const struct program *program = timeline->program;
    double *begins = array_zeroed(program->cost_count, sizeof *begins),
           *ends = array_zeroed(program->cost_count, sizeof *ends);
    for (uint32_t rank = 0; rank < timeline->rank_count; rank++)
        for (uint32_t id = 0; id < program->positions[rank].operation_count; id++) {
            const struct operation *operation = &program->positions[rank].operations[id];
            const struct moment *moment = &timeline->moments[rank][id];
            if (operation->type == OPERATION_SEND || operation->type == OPERATION_COLLECTIVE) {
                begins[operation->cost] = fmax(begins[operation->cost], moment->start);
                ends[operation->cost] = fmax(ends[operation->cost], moment->end);
            }
        }
    for (uint32_t i = 0; i < program->cost_count; i++)
        ends[i] -= begins[i];
    free(begins);
    return ends;
}

double engine_replay_simulate(struct engine_replay *replay, const struct engine *engine, double *seconds,
                              struct fault *fault)
{
    struct engine_job job = {.program = replay->program,
                             .platform = replay->network->platform,
                             .hosts = replay->hosts,
                             .apart = engine == &engine_simgrid};
    struct arena *arena = arena_create();
    struct folded_run run;
    double last = NAN;
    if (folded_run(engine, &job, false, arena, &run, fault)) {
        double *durations = durations_of(run.timeline);
        last = step_seconds(replay, run.timeline);
        for (uint32_t i = 0; i < replay->replay->node_count; i++)
            seconds[i] = replay->transfer_of[i] == NOWHERE ? NAN : durations[replay->transfer_of[i]];
        free(durations);
        timeline_destroy(run.timeline);
    } else if (!*fault->text) {
        fault_set(fault, "step %u cannot be simulated on the scenario's links", replay->replay->step);
    }
    arena_destroy(arena);
    return last;
}
