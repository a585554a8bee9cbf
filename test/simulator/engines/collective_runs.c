/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives inside runs: members that arrive at different times, groups that share a link, computing that a
 * collective slows down. */
#include "analysis/figures/report.h"
#include "base/arena.h"
#include "simulator/collectives/assignment.h"
#include "simulator/engines/engine.h"
#include "simulator/engines/simgrid/bridge.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define near(actual, expected)                                                                                         \
    cr_assert(fabs((actual) - (expected)) <= 1e-6 * fabs(expected), "%s is %.12g, not %.12g", #actual,                 \
              (double)(actual), (double)(expected))

static const double bandwidth = 1e9, latency = 1e-3, most_bytes = 1e9;
enum { NODES = 2, RANKS = 4 };

static const struct stagesim_identity plain = {
    .kind = STAGESIM_OTHER, .stage = STAGESIM_NONE, .micro_batch = STAGESIM_NONE};

struct example {
    struct arena *arena;
    struct mesh mesh;
    struct program_builder *builder;
    struct program *program;
    struct platform *platform;
    uint32_t hosts[RANKS];
    struct collective_policy policy;
};

/* Two nodes of two hosts. Hosts of a node have private links to each other; between nodes all share one link of full
 * duplex. The properties stand in the outermost zone. */
static char *platform_write(const char *properties)
{
    char *name = strdup("/tmp/stagesim-nodes-XXXXXX");
    FILE *out = fdopen(mkstemp(name), "w");
    fprintf(out,
            "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform "
            "version=\"4.1\">"
            "<zone id=\"all\" routing=\"Full\">%s\n",
            properties);
    for (int node = 0; node < NODES; node++)
        fprintf(out,
                "<zone id=\"node-%d\" routing=\"Full\"><host id=\"gpu-%d\" speed=\"1Gf\"/><host id=\"gpu-%d\" "
                "speed=\"1Gf\"/>"
                "<router id=\"port-%d\"/><link id=\"in-%d\" bandwidth=\"%gBps\" latency=\"%gs\" "
                "sharing_policy=\"SPLITDUPLEX\"/>"
                "<link id=\"out-%d\" bandwidth=\"1PBps\" latency=\"0s\" sharing_policy=\"FATPIPE\"/>"
                "<route src=\"gpu-%d\" dst=\"gpu-%d\"><link_ctn id=\"in-%d\" direction=\"UP\"/></route>"
                "<route src=\"gpu-%d\" dst=\"port-%d\"><link_ctn id=\"out-%d\"/></route>"
                "<route src=\"gpu-%d\" dst=\"port-%d\"><link_ctn id=\"out-%d\"/></route></zone>\n",
                node, 2 * node, 2 * node + 1, node, node, bandwidth, latency, node, 2 * node, 2 * node + 1, node,
                2 * node, node, node, 2 * node + 1, node, node);
    fprintf(out,
            "<link id=\"wire\" bandwidth=\"%gBps\" latency=\"%gs\" sharing_policy=\"SPLITDUPLEX\"/>"
            "<zoneRoute src=\"node-0\" dst=\"node-1\" gw_src=\"port-0\" gw_dst=\"port-1\"><link_ctn id=\"wire\" "
            "direction=\"UP\"/>"
            "</zoneRoute></zone></platform>\n",
            bandwidth, latency);
    fclose(out);
    return name;
}

/* positions x replicas ranks, replicas along the axis `data`, rank numbers of a position's replicas side by side. */
static struct example *example_create(uint32_t positions, uint32_t replicas)
{
    struct arena *arena = arena_create();
    struct example *example = arena_alloc(arena, sizeof *example);
    example->arena = arena;
    example->mesh = (struct mesh){
        .axis_count = 2,
        .axes = {{.name = "data", .size = replicas}, {.name = "pipeline", .size = positions, .distinct = true}}};
    mesh_finish(&example->mesh, arena);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        example->hosts[rank] = rank;
    example->builder = program_builder_create(&example->mesh);
    example->policy.algorithms[STAGESIM_ALL_REDUCE] = &algorithm_ring;
    return example;
}

static uint32_t compute(struct example *example, uint32_t position, double seconds)
{
    return program_add_compute(example->builder, position, plain,
                               program_add_cost(example->builder, &(struct stagesim_cost){.seconds = seconds}));
}

static uint32_t all_reduce(struct example *example, uint32_t position, uint32_t group, double bytes, uint32_t after)
{
    uint32_t cost = program_add_cost(example->builder, &(struct stagesim_cost){.bytes = bytes});
    uint32_t id = program_add_collective(example->builder, position, group, STAGESIM_ALL_REDUCE, plain, cost);
    program_add_wait(example->builder, position, id, after);
    return id;
}

static void finish(struct example *example, const char *properties)
{
    struct fault fault = {""};
    char *file = platform_write(properties);
    example->program = program_finish(example->builder, example->arena);
    assignment_create(example->program, example->arena);
    program_builder_destroy(example->builder);
    example->platform = bridge_configure(NULL, 0, &fault) ? bridge_load(file, example->arena, &fault) : NULL;
    cr_assert(example->platform, "%s", fault.text);
    unlink(file);
    free(file);
    assignment_place(example->program->assignment, example->platform, example->hosts, &example->policy);
}

static struct timeline *run(struct example *example, const struct engine *engine)
{
    struct fault fault = {""};
    struct timeline *timeline = timeline_create(example->program);
    struct engine_job job = {
        .program = example->program, .platform = example->platform, .hosts = example->hosts, .timeline = timeline};
    cr_assert(engine->run(&job, &fault), "%s", fault.text);
    return timeline;
}

/* ---- members that arrive at different times ---- */

/* Position i computes for i + 1 seconds, then all reduce, then all compute for a second. */
static void add_arrivals(struct example *example)
{
    const uint32_t positions[RANKS] = {0, 1, 2, 3};
    uint32_t group = program_add_group(example->builder, 0, positions, RANKS);
    for (uint32_t position = 0; position < RANKS; position++) {
        uint32_t reduced = all_reduce(example, position, group, most_bytes, compute(example, position, position + 1));
        program_add_wait(example->builder, position, compute(example, position, 1), reduced);
    }
}

static void check_arrivals(struct example *example, const struct engine *engine)
{
    struct timeline *timeline = run(example, engine);
    const struct moment *last = &timeline_rank(timeline, RANKS - 1)[2];
    double reduced = last->end - last->data_start;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        const struct moment *times = timeline_rank(timeline, rank);
        near(times[2].start, rank + 1.0);
        near(times[2].data_start, 4.0);
        near(times[2].end, 4 + reduced);
        near(times[1].start, 4 + reduced);
    }
    struct run_description description = {.hosts = example->hosts};
    const struct report *report = report_create(&description, timeline, example->platform, example->arena);
    /* Ranks wait 3, 2, 1 and 0 seconds for the last one, then all for the data. */
    near(report->causes[CAUSE_COLLECTIVE], ((3 + 2 + 1) / 4.0 + reduced) / (5 + reduced));
    cr_assert_float_eq(report->bubble, report->causes[CAUSE_COLLECTIVE], 1e-9);
    for (uint32_t i = 0; i < report->worker_count; i++)
        near(report->workers[i].causes[CAUSE_COLLECTIVE], (3.0 - i + reduced) / (5 + reduced));
    timeline_destroy(timeline);
}

Test(collective_runs, late_members_on_simgrid)
{
    struct example *example = example_create(RANKS, 1);
    add_arrivals(example);
    finish(example, "");
    check_arrivals(example, &engine_simgrid);
    arena_destroy(example->arena);
}

Test(collective_runs, late_members_without_contention)
{
    struct example *example = example_create(RANKS, 1);
    add_arrivals(example);
    finish(example, "");
    check_arrivals(example, &engine_analytic);
    arena_destroy(example->arena);
}

/* ---- groups that share a link ---- */

/* Position i is on both nodes: its group of two reduces over the wire. Seconds of the slower of `groups`. */
static double reduce_over_wire(uint32_t groups)
{
    struct example *example = example_create(2, 2);
    for (uint32_t position = 0; position < 2; position++) {
        uint32_t group = program_add_group(example->builder, 1, &position, 1), before = compute(example, position, 1);
        if (position < groups)
            all_reduce(example, position, group, most_bytes, before);
    }
    /* Ranks 0 and 1 hold position 0, 2 and 3 position 1. */
    const uint32_t hosts[RANKS] = {0, 2, 1, 3};
    memcpy(example->hosts, hosts, sizeof hosts);
    finish(example, "");
    struct timeline *timeline = run(example, &engine_simgrid);
    double seconds = 0;
    for (uint32_t rank = 0; rank < 2 * groups; rank++) {
        const struct moment *times = timeline_rank(timeline, rank);
        seconds = fmax(seconds, times[1].end - times[1].data_start);
    }
    timeline_destroy(timeline);
    arena_destroy(example->arena);
    return seconds;
}

Test(collective_runs, one_group_has_the_wire)
{
    near(reduce_over_wire(1), 2 * latency + most_bytes / bandwidth);
}

Test(collective_runs, two_groups_share_the_wire)
{
    double seconds = reduce_over_wire(2);
    cr_assert(fabs(seconds - (2 * latency + 2 * most_bytes / bandwidth)) <= 1e-3 * seconds, "two groups take %g s",
              seconds);
}

/* ---- computing that a collective slows down ---- */

/* When a computation of `seconds` ends that begins with an all-reduce of ranks 0 and 1, in the same node. */
static double compute_beside(double seconds, double bytes, const char *properties, const struct engine *engine,
                             double *reduced)
{
    struct example *example = example_create(2, 2);
    uint32_t position = 0, group = program_add_group(example->builder, 1, &position, 1);
    for (position = 0; position < 2; position++) {
        uint32_t before = compute(example, position, 1);
        if (position == 0)
            all_reduce(example, 0, group, bytes, before);
        compute(example, position, seconds);
    }
    finish(example, properties);
    struct timeline *timeline = run(example, engine);
    const struct moment *times = timeline_rank(timeline, 0), *other = timeline_rank(timeline, 2);
    near(other[1].end - other[1].start, seconds); /* a rank without a collective */
    *reduced = times[2].end - times[2].data_start;
    double end = times[1].end - times[1].start;
    timeline_destroy(timeline);
    arena_destroy(example->arena);
    return end;
}

static const char takes_share[] = "<prop id=\"collective_overlap_node\" value=\"0.15\"/>";

Test(collective_runs, a_long_collective_slows_all_of_a_computation)
{
    double reduced;
    near(compute_beside(0.5, most_bytes, takes_share, &engine_simgrid, &reduced), 0.5 / 0.85);
    cr_assert(reduced > 0.6);
}

Test(collective_runs, a_short_collective_slows_a_part)
{
    double reduced, end = compute_beside(3, most_bytes, takes_share, &engine_simgrid, &reduced);
    near(reduced, 2 * latency + most_bytes / bandwidth);
    near(end, 3 + 0.15 * reduced);
}

Test(collective_runs, a_collective_over_nodes_takes_its_own_share)
{
    double reduced;
    near(compute_beside(3, most_bytes, "<prop id=\"collective_overlap_network\" value=\"0.5\"/>", &engine_simgrid,
                        &reduced),
         3.0);
}

Test(collective_runs, nothing_is_taken_unless_the_platform_says_so)
{
    double reduced;
    near(compute_beside(3, most_bytes, "", &engine_simgrid, &reduced), 3.0);
}

Test(collective_runs, a_long_collective_slows_all_of_a_computation_without_contention)
{
    double reduced;
    near(compute_beside(0.5, most_bytes, takes_share, &engine_analytic, &reduced), 0.5 / 0.85);
}

Test(collective_runs, a_short_collective_slows_a_part_without_contention)
{
    double reduced, end = compute_beside(3, most_bytes, takes_share, &engine_analytic, &reduced);
    near(end, 3 + 0.15 * reduced);
}

Test(collective_runs, a_collective_over_nodes_takes_its_own_share_without_contention)
{
    double reduced;
    near(compute_beside(3, most_bytes, "<prop id=\"collective_overlap_network\" value=\"0.5\"/>", &engine_analytic,
                        &reduced),
         3.0);
}

/* A position of its own computes for `first` seconds, reduces with position 0 for a second, computes for `second`
 * beside it, and reduces once more. */
static void add_partner(struct example *example, uint32_t position, double first, double second)
{
    const uint32_t members[] = {0, position};
    uint32_t group = program_add_group(example->builder, 0, members, 2);
    double bytes = (1 - 2 * latency) * bandwidth;
    for (int i = 0; i < 2; i++) {
        uint32_t cost = program_add_cost(example->builder, &(struct stagesim_cost){.bytes = bytes});
        all_reduce(example, position, group, bytes, compute(example, position, i ? second : first));
        program_add_collective(example->builder, 0, group, STAGESIM_ALL_REDUCE, plain, cost);
    }
}

/* Collectives within the node take 0.6, over nodes 0.5, both 0.9. Position 1 computes until 1, reduces until 2, has
 * done 0.4 of its next 2 s then, which end at 3.6, and reduces until 4.6. Position 2 computes until 1.5, reduces
 * until 2.5, has done 0.5 of 3 s, which end at 5, and reduces until 6. Position 0 has done, by 1: 1; 1.5: 1.2;
 * 2: 1.25; 2.5: 1.5; 3.6: 2.6; 4.6: 3; 5: 3.4; 6: 3.9. */
static void check_several(const struct engine *engine)
{
    struct example *example = example_create(RANKS, 1);
    add_partner(example, 1, 1, 2);
    add_partner(example, 2, 1.5, 3);
    compute(example, 0, 1.1);
    compute(example, 0, 0.15);
    compute(example, 0, 8.75);
    compute(example, 3, 1);
    finish(
        example,
        "<prop id=\"collective_overlap_node\" value=\"0.6\"/><prop id=\"collective_overlap_network\" value=\"0.5\"/>");
    struct timeline *timeline = run(example, engine);
    const struct moment *times = timeline_rank(timeline, 0), *inside = timeline_rank(timeline, 1),
                        *outside = timeline_rank(timeline, 2);
    near(inside[1].end, 3.6);
    near(inside[3].data_start, 3.6);
    near(inside[3].end, 4.6);
    near(outside[1].end, 5.0);
    near(outside[3].data_start, 5.0);
    near(outside[3].end, 6.0);
    near(times[0].end, 1.25);
    near(times[1].end, 2.0);
    near(times[2].end, 12.1);
    near(timeline_rank(timeline, 3)[0].end, 1.0);
    timeline_destroy(timeline);
    arena_destroy(example->arena);
}

Test(collective_runs, several_collectives_slow_several_computations_on_simgrid)
{
    check_several(&engine_simgrid);
}

Test(collective_runs, several_collectives_slow_several_computations_without_contention)
{
    check_several(&engine_analytic);
}
