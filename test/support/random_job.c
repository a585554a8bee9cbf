/* SPDX-License-Identifier: Apache-2.0 */
#include "test/support/random_job.h"

#include "base/arena.h"
#include "platforms/library.h"
#include "platforms/rating.h"
#include "schedules/schedule.h"
#include "simulator/collectives/assignment.h"
#include "workloads/pipeline/pipeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t random_next(struct random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint32_t random_below(struct random *random, uint32_t below)
{
    return (uint32_t)(random_next(random) % below);
}

uint32_t random_between(struct random *random, uint32_t least, uint32_t most)
{
    return least + random_below(random, most - least + 1);
}

double random_unit(struct random *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53;
}

bool random_chance(struct random *random, double probability)
{
    return random_unit(random) < probability;
}

/* ---- the schedule ---- */

static int64_t random_option(struct random *random, const struct schedule_option *option)
{
    if (random_chance(random, 0.5))
        return option->initial;
    if (!option->names)
        return (option->stashes ? SCHEDULE_STASH : 1) *
               random_between(random, (uint32_t)option->least,
                              (uint32_t)(option->most < option->least + 3 ? option->most : option->least + 3));
    uint32_t words = 0;
    while (option->names[words])
        words++;
    return random_below(random, words);
}

/* Draws until something fits that needs no host memory, which random platforms do not have: all schedules are equally
 * likely to be tried. */
static struct plan *random_plan(struct random *random, struct random_job *job)
{
    uint32_t schedules = 0;
    while (schedule_table[schedules])
        schedules++;
    for (;;) {
        const struct schedule *schedule = schedule_table[random_below(random, schedules)];
        struct schedule_request request =
            schedule_request_default(schedule, random_between(random, 1, 6), random_between(random, 1, 10));
        for (unsigned i = 0; schedule->options && schedule->options[i].key; i++)
            request.options[i] = random_option(random, &schedule->options[i]);
        request.iterations = schedule->crosses ? 2 : 1;
        struct schedule_refusal refusal;
        job->schedule = schedule->name;
        if (!schedule_fits(schedule, &request, &refusal))
            continue;
        struct plan *plan = schedule->plan(&request);
        if (!plan_offloads_anywhere(plan))
            return plan;
        plan_destroy(plan);
    }
}

/* ---- costs: whole numbers where much happens at one time, or real ones ---- */

static double *random_costs(struct random *random, struct arena *arena, uint32_t stages, double scale)
{
    double *values = arena_array(arena, stages, sizeof *values);
    bool zero = random_chance(random, 0.1), whole = random_chance(random, 0.4), uniform = random_chance(random, 0.4);
    for (uint32_t i = 0; i < stages; i++)
        values[i] = zero           ? 0
                    : uniform && i ? values[0]
                                   : scale * (whole ? random_between(random, 1, 3) : 0.05 + 2 * random_unit(random));
    return values;
}

/* ---- parts of stages, and what they exchange ---- */

static void random_exchanges(struct random *random, struct stagesim_exchanges *exchanges, double scale)
{
    static const enum stagesim_collective kinds[] = {STAGESIM_ALL_TO_ALL, STAGESIM_ALL_REDUCE, STAGESIM_ALL_GATHER,
                                                     STAGESIM_REDUCE_SCATTER};
    static const enum stagesim_moment moments[] = {STAGESIM_AFTER, STAGESIM_BEFORE, STAGESIM_BESIDE,
                                                   STAGESIM_BESIDE_WEIGHT};
    uint32_t count = random_below(random, 3);
    for (uint32_t i = 0; i < count; i++)
        exchanges->items[i] = (struct stagesim_exchange){.collective = kinds[random_below(random, 4)],
                                                         .kind = STAGESIM_TENSOR,
                                                         .moment = moments[random_below(random, 4)],
                                                         .axes = random_chance(random, 0.7) ? "tensor" : "data",
                                                         .bytes = scale * (0.1 + random_unit(random)) * 1e9,
                                                         .buffers = random_between(random, 1, 2)};
}

/* Every stage in equal parts. */
static void random_parts(struct random *random, struct arena *arena, struct stagesim_pipeline *costs, double scale)
{
    const struct stagesim_part **parts = arena_array(arena, costs->stages, sizeof *parts);
    uint32_t *counts = arena_array(arena, costs->stages, sizeof *counts);
    for (uint32_t stage = 0; stage < costs->stages; stage++) {
        counts[stage] = random_between(random, 1, 2);
        struct stagesim_part *own = arena_array(arena, counts[stage], sizeof *own);
        for (uint32_t i = 0; i < counts[stage]; i++) {
            own[i] = (struct stagesim_part){.layer = STAGESIM_NONE,
                                            .forward = costs->forward[stage] / counts[stage],
                                            .backward = costs->backward[stage] / counts[stage],
                                            .weight = costs->weight[stage] / counts[stage],
                                            .gradient = costs->gradient[stage] / counts[stage]};
            random_exchanges(random, &own[i].forward_exchanges, scale / 4);
            random_exchanges(random, &own[i].backward_exchanges, scale / 4);
        }
        parts[stage] = own;
    }
    costs->parts = parts;
    costs->part_counts = counts;
    costs->fine = random_chance(random, 0.5);
}

static struct stagesim_pipeline random_pipeline(struct random *random, struct arena *arena, uint32_t stages,
                                                double scale)
{
    struct stagesim_pipeline costs = {
        .size = sizeof costs,
        .stages = stages,
        .forward = random_costs(random, arena, stages, scale),
        .weight = random_costs(random, arena, stages, scale),
        .optimizer = random_chance(random, 0.5) ? random_costs(random, arena, stages, 0.2 * scale) : NULL,
        .message = random_costs(random, arena, stages, scale * (random_chance(random, 0.5) ? 1e8 : 1e9)),
        .gradient = random_costs(random, arena, stages, scale * (random_chance(random, 0.5) ? 1e8 : 3e9))};
    double *backward = random_costs(random, arena, stages, scale);
    for (uint32_t i = 0; i < stages; i++)
        backward[i] += costs.weight[i];
    costs.backward = backward;
    if (random_chance(random, 0.5))
        random_parts(random, arena, &costs, scale);
    return costs;
}

static void random_mesh(struct random *random, struct arena *arena, struct mesh *mesh, uint32_t workers)
{
    static const char *const names[] = {"pipeline", "data", "tensor"};
    uint32_t sizes[] = {workers, random_between(random, 1, 4),
                        random_chance(random, 0.4) ? random_between(random, 2, 3) : 1};
    uint32_t axes[] = {0, 1, 2};
    for (uint32_t i = 3; i > 1; i--) {
        uint32_t other = random_below(random, i), kept = axes[i - 1];
        axes[i - 1] = axes[other];
        axes[other] = kept;
    }
    mesh->axis_count = 3;
    for (uint32_t i = 0; i < 3; i++)
        mesh->axes[i] = (struct mesh_axis){.name = names[axes[i]], .size = sizes[axes[i]], .distinct = axes[i] == 0};
    mesh_finish(mesh, arena);
}

/* Some costs vary along an axis, the pipeline's left out. */
static void vary_costs(struct random *random, const struct mesh *mesh, struct program_builder *builder)
{
    unsigned axis = random_below(random, mesh->axis_count);
    double factors[4];
    if (mesh->axes[axis].distinct || !random_chance(random, 0.3))
        return;
    for (uint32_t i = 0; i < mesh->axes[axis].size; i++)
        factors[i] = 0.5 + random_unit(random);
    uint32_t variation = program_add_variation(builder, 1u << axis, factors);
    for (uint32_t cost = 0; program_has_cost(builder, cost); cost++)
        if (random_chance(random, 0.5))
            program_vary_cost(builder, cost, variation);
}

/* A computation of every position, an all-to-all in which each pair has its own bytes, and what waits for it. */
static void add_pair_exchange(struct random_job *job, struct program_builder *builder, uint32_t iteration)
{
    struct random random = {job->seed * 7919 + 1};
    uint32_t positions = job->mesh.positions, order[8];
    double bytes[64];
    if (positions < 2 || positions > 8 || !random_chance(&random, 0.5))
        return;
    for (uint32_t i = 0; i < positions; i++)
        order[i] = positions - 1 - i;
    for (uint32_t i = 0; i < positions * positions; i++)
        bytes[i] = job->scale * (random_chance(&random, 0.3) ? 0 : random_unit(&random)) * 1e9;
    for (uint32_t i = 0; i < positions; i++)
        bytes[i * positions + (i + 1) % positions] += job->scale * 1e6;
    uint32_t group = program_add_group(builder, 0, order, positions);
    struct stagesim_cost cost = {.repeats = random_between(&random, 0, 2)};
    uint32_t exchanged = program_add_pairs_cost(builder, &cost, positions, bytes);
    struct stagesim_identity identity = {
        .kind = STAGESIM_OTHER, .stage = STAGESIM_NONE, .micro_batch = STAGESIM_NONE, .iteration = iteration};
    for (uint32_t position = 0; position < positions; position++)
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t seconds =
                program_add_cost(builder, &(struct stagesim_cost){.seconds = job->scale * random_below(&random, 4)});
            uint32_t before = program_add_compute(builder, position, identity, seconds);
            uint32_t id = program_add_collective(builder, position, group, STAGESIM_ALL_TO_ALL, identity, exchanged);
            program_add_wait(builder, position, id, before);
            program_add_wait(builder, position, program_add_compute(builder, position, identity, seconds), id);
        }
}

static void random_program(struct random *random, struct random_job *job, struct arena *arena)
{
    struct plan *plan = random_plan(random, job);
    struct stagesim_pipeline costs = random_pipeline(random, arena, plan->stages, job->scale);
    random_mesh(random, arena, &job->mesh, plan->workers);
    struct program_builder *builder = program_builder_create(&job->mesh);
    uint32_t repetitions = plan->iterations > 1 ? 1 : random_chance(random, 0.2) ? 2 : 1;
    struct pipeline_request request = {
        .plan = plan, .costs = &costs, .repetitions = repetitions, .blocking = job->seed % 5 == 2};
    pipeline_lower(&request, &job->mesh, builder);
    vary_costs(random, &job->mesh, builder);
    add_pair_exchange(job, builder, (plan->iterations > 1 ? plan->iterations : repetitions) - 1);
    job->program = program_finish(builder, arena);
    assignment_create(job->program, arena);
    job->program->iterations = plan->iterations > 1 ? plan->iterations : repetitions;
    job->program->overlapping = plan->iterations > 1;
    job->program->workers = plan->workers;
    job->program->pipelined = job->seed % 3 == 1;
    job->program->stages = plan->stages;
    job->program->micro_batches = plan->micro_batches / plan->iterations;
    program_builder_destroy(builder);
    plan_destroy(plan);
}

/* ---- the platform ---- */

static void find_route(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route)
{
    const struct random_job *job = platform->handle;
    const struct random_route *found = &job->routes[from * platform->host_count + to];
    *route = (struct platform_route){.bandwidth = INFINITY, .link_count = found->count, .links = found->links};
    for (uint32_t i = 0; i < found->count; i++) {
        route->latency += platform->links[found->links[i]].latency;
        route->bandwidth = fmin(route->bandwidth, platform->links[found->links[i]].bandwidth);
    }
}

/* SimGrid weighs the flows of a link by their latency: none, or all of about the same. */
static double random_latency(struct random *random, double latency)
{
    return latency * random_between(random, 1, 5);
}

static uint32_t add_link(struct random *random, struct platform *platform, struct arena *arena, double bandwidth,
                         double latency)
{
    struct platform_link *link = &platform->links[platform->link_count];
    *link =
        (struct platform_link){.name = arena_print(arena, "link-%u", platform->link_count),
                               .bandwidth = bandwidth * (random_chance(random, 0.5) ? 1 : 0.5 + random_unit(random)),
                               .latency = random_latency(random, latency)};
    return platform->link_count++;
}

/* Out of and into each node one link, to it one of each host; between hosts of a node private ones. */
static void random_links(struct random *random, struct random_job *job, bool shared, struct arena *arena)
{
    struct platform *platform = &job->platform;
    uint32_t hosts = platform->host_count, node_size = shared ? random_between(random, 2, 4) : 1;
    uint32_t *out = arena_array(arena, hosts, sizeof *out), *in = arena_array(arena, hosts, sizeof *in),
             *own = arena_array(arena, hosts, sizeof *own);
    static const double latencies[] = {0, 1e-6, 1e-3, 0.03};
    double latency = job->scale * latencies[random_below(random, 4)];
    platform->links = arena_array(arena, (size_t)hosts * hosts + 3 * hosts, sizeof *platform->links);
    job->routes = arena_array(arena, (size_t)hosts * hosts, sizeof *job->routes);
    for (uint32_t host = 0; shared && host < hosts; host++) {
        out[host] = host % node_size ? out[host - 1] : add_link(random, platform, arena, 1e9, latency);
        own[host] = add_link(random, platform, arena, 2e9, latency);
        in[host] = host % node_size ? in[host - 1] : add_link(random, platform, arena, 1e9, latency);
    }
    for (uint32_t from = 0; from < hosts; from++)
        for (uint32_t to = 0; to < hosts; to++) {
            struct random_route *route = &job->routes[from * hosts + to];
            if (from != to && shared && from / node_size != to / node_size)
                *route = (struct random_route){{own[from], out[from], in[to]}, 3};
            else if (from != to)
                *route = (struct random_route){{add_link(random, platform, arena, shared ? 4e9 : 1e9, latency)}, 1};
        }
}

static void random_platform(struct random *random, struct random_job *job, bool shared, struct arena *arena)
{
    uint32_t ranks = job->mesh.ranks;
    job->platform = (struct platform){.file = "random", .host_count = ranks, .route = find_route, .handle = job};
    job->platform.hosts = arena_array(arena, ranks, sizeof *job->platform.hosts);
    job->hosts = arena_array(arena, ranks, sizeof *job->hosts);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        job->platform.hosts[rank] =
            (struct platform_host){.name = arena_print(arena, "gpu-%u", rank), .node = "random", .speed = 1e9};
        uint32_t other = random_below(random, rank + 1);
        job->hosts[rank] = job->hosts[other];
        job->hosts[other] = rank;
    }
    if (random_chance(random, 0.2))
        job->platform.hosts[random_below(random, ranks)].speed = 1e9 / 3;
    rating_find(&job->platform);
    random_links(random, job, shared, arena);
}

/* Hosts in nodes of up to four, whatever the links. */
static void random_nodes(struct random *random, struct random_job *job, struct arena *arena)
{
    uint32_t size = random_between(random, 1, 4);
    for (uint32_t host = 0; host < job->platform.host_count; host++)
        job->platform.hosts[host].node = arena_print(arena, "node-%u", host / size);
}

/* Up to three protocols, those of the network its own where it has any. */
static void random_protocols(struct random *random, struct platform_regime *regime, double scale)
{
    static const char *const names[PLATFORM_PROTOCOLS] = {"low", "middle", "bulk"};
    for (uint32_t i = 0; i < PLATFORM_PROTOCOLS; i++)
        if (random_chance(random, 0.5))
            regime->protocols[i] = (struct platform_protocol){names[i], scale * random_below(random, 3) * 0.01,
                                                              0.1 + 3 * random_unit(random), 0.1 + random_unit(random)};
}

/* Most collectives by an algorithm of the table, auto's or a drawn one, and launched; the others as without a platform.
 */
static void random_collectives(struct random *random, struct random_job *job, struct arena *arena)
{
    static const char *const names[] = {"ring", "double-tree", "recursive-doubling", "halving-doubling",
                                        "hierarchical"};
    struct collective_policy policy = {.stepwise = random_chance(random, 0.2)};
    uint32_t algorithm = random_below(random, 2 * sizeof names / sizeof *names);
    if (algorithm < sizeof names / sizeof *names)
        policy.algorithms[STAGESIM_ALL_REDUCE] = collective_algorithm_find(names[algorithm]);
    job->platform.library.regimes[SCOPE_NODE].launch_default = job->scale * random_below(random, 3) * 0.01;
    if (random_chance(random, 0.5)) {
        random_nodes(random, job, arena);
        for (unsigned scope = 0; scope < SCOPES; scope++)
            random_protocols(random, &job->platform.library.regimes[scope], job->scale);
    }
    if (random_chance(random, 0.3)) {
        job->overlaps = true;
        job->platform.library.overlap_node = 0.9 * random_unit(random);
        job->platform.library.overlap_network = 0.9 * random_unit(random);
    }
    library_complete(&job->platform.library);
    if (random_chance(random, 0.8))
        assignment_place(job->program->assignment, &job->platform, job->hosts, &policy);
}

struct random_job *random_job_create(uint64_t seed, bool shared, struct arena *arena)
{
    struct random random = {seed};
    struct random_job *job = arena_alloc(arena, sizeof *job);
    job->seed = seed;
    static const double scales[] = {1e-4, 1, 1e4};
    job->scale = scales[random_below(&random, 3)];
    random_program(&random, job, arena);
    random_platform(&random, job, shared, arena);
    random_collectives(&random, job, arena);
    return job;
}

char *random_job_write(const struct random_job *job)
{
    const struct platform *platform = &job->platform;
    char *name = strdup("/tmp/stagesim-random-XXXXXX");
    int descriptor = mkstemp(name);
    FILE *out = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (!out)
        abort();
    fputs("<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
          "<platform version=\"4.1\"><zone id=\"random\" routing=\"Full\">\n",
          out);
    fprintf(out,
            "<prop id=\"collective_overlap_node\" value=\"%.17g\"/>\n"
            "<prop id=\"collective_overlap_network\" value=\"%.17g\"/>\n",
            platform->library.overlap_node, platform->library.overlap_network);
    for (uint32_t i = 0; i < platform->host_count; i++)
        fprintf(out, "<host id=\"%s\" speed=\"%.17gf\"><prop id=\"node\" value=\"%s\"/></host>\n",
                platform->hosts[i].name, platform->hosts[i].speed, platform->hosts[i].node);
    for (uint32_t i = 0; i < platform->link_count; i++)
        fprintf(out, "<link id=\"%s\" bandwidth=\"%.17gBps\" latency=\"%.17gs\"/>\n", platform->links[i].name,
                platform->links[i].bandwidth, platform->links[i].latency);
    for (uint32_t from = 0; from < platform->host_count; from++)
        for (uint32_t to = 0; to < platform->host_count; to++) {
            const struct random_route *route = &job->routes[from * platform->host_count + to];
            if (from == to)
                continue;
            fprintf(out, "<route src=\"gpu-%u\" dst=\"gpu-%u\" symmetrical=\"NO\">", from, to);
            for (uint32_t i = 0; i < route->count; i++)
                fprintf(out, "<link_ctn id=\"%s\"/>", platform->links[route->links[i]].name);
            fputs("</route>\n", out);
        }
    fputs("</zone></platform>\n", out);
    if (fclose(out))
        abort();
    return name;
}
