/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives, delays, stragglers and several iterations, worked by hand. */
#include "analysis/figures/critical_path.h"
#include "analysis/figures/frame.h"
#include "analysis/figures/report.h"
#include "base/arena.h"
#include "simulator/collectives/assignment.h"

#include <criterion/criterion.h>

#define near(actual, expected)                                                                                         \
    cr_assert_float_eq(actual, expected, 1e-12, "%.17g is not %.17g", (double)(actual), (double)(expected))

enum { RANKS = 4, FIRST = 0, SECOND = 1, GATHER = 2, PAUSE = 3 }; /* ids: the compute stream comes first */

static void no_route(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *out)
{
    (void)platform, (void)from, (void)to;
    *out = (struct platform_route){0};
}

struct example {
    struct arena *arena;
    struct mesh mesh;
    struct timeline *timeline;
    struct platform platform;
    struct platform_host hosts[RANKS];
    uint32_t host_of[RANKS];
    struct run_description run;
};

static struct example *example_create(uint32_t replicas)
{
    struct arena *arena = arena_create();
    struct example *example = arena_alloc(arena, sizeof *example);
    example->arena = arena;
    example->mesh =
        (struct mesh){.axis_count = 2,
                      .axes = {{.name = "pipeline", .size = 1, .distinct = true}, {.name = "data", .size = replicas}}};
    mesh_finish(&example->mesh, arena);
    for (uint32_t i = 0; i < RANKS; i++) {
        example->hosts[i].name = "gpu";
        example->host_of[i] = i;
    }
    example->platform = (struct platform){.host_count = RANKS, .hosts = example->hosts, .route = no_route};
    example->run.hosts = example->host_of;
    return example;
}

static void example_destroy(struct example *example)
{
    timeline_destroy(example->timeline);
    arena_destroy(example->arena);
}

static const struct stagesim_identity plain = {
    .kind = STAGESIM_OTHER, .stage = STAGESIM_NONE, .micro_batch = STAGESIM_NONE};

/* A computation, an all-reduce of 8 bytes and a pause of 2 s after it, and a computation that waits for both. Rank 3 is
 * slow. */
static struct example *straggler_create(void)
{
    struct example *example = example_create(RANKS);
    struct program_builder *builder = program_builder_create(&example->mesh);
    uint32_t cost = program_add_cost(builder, &(struct stagesim_cost){.seconds = 1, .bytes = 8}), position = 0;
    uint32_t group = program_add_group(builder, 2, &position, 1);
    uint32_t first = program_add_compute(builder, 0, plain, cost);
    uint32_t gather = program_add_collective(builder, 0, group, STAGESIM_ALL_REDUCE, plain, cost);
    uint32_t pause = program_add_delay(builder, 0, 0, plain, cost);
    uint32_t second = program_add_compute(builder, 0, plain, cost);
    program_add_wait(builder, 0, gather, first);
    program_add_wait(builder, 0, pause, first);
    program_add_wait(builder, 0, second, pause);
    program_add_wait(builder, 0, second, gather);
    struct program *program = program_finish(builder, example->arena);
    assignment_create(program, example->arena);
    example->timeline = timeline_create(program);
    program_builder_destroy(builder);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        double late = rank == 3;
        struct moment *times = example->timeline->moments[rank];
        times[FIRST] = (struct moment){0, 0, 1 + late};
        times[GATHER] = (struct moment){1 + late, 2, 3};
        times[PAUSE] = (struct moment){1 + late, 1 + late, 3 + late};
        times[SECOND] = (struct moment){3 + late, 3 + late, 4 + late};
    }
    return example;
}

/* Ranks 0 to 2 wait for the pause and the collective alike: collective. Rank 3 waits longer for its pause. */
Test(causes, straggler)
{
    struct example *example = straggler_create();
    const struct report *report = report_create(&example->run, example->timeline, &example->platform, example->arena);
    near(report->iteration, 5);
    near(report->bubble, 11.0 / 20);
    near(report->causes[CAUSE_COLLECTIVE], 6.0 / 20);
    near(report->causes[CAUSE_DEPENDENCY], 2.0 / 20);
    near(report->causes[CAUSE_DRAIN], 3.0 / 20);
    near(report->causes[CAUSE_FILL], 0);
    near(report->bubble_min, 2.0 / 5);
    near(report->bubble_max, 3.0 / 5);
    near(report->span_max, 1 - 2.0 / 4);
    near(report->exposed, 1);
    near(report->overlapped, 0);
    near(report->sent_bytes, 4 * 2 * 3.0 / 4 * 8);
    cr_assert_eq(report->workers[0].rank, 3, "the replica that ends last");
    near(report->critical_length, 5);
    near(report->critical_compute, 3);
    near(report->critical_delay, 2);
    near(report->critical_collective, 0);
    example_destroy(example);
}

Test(causes, slack_of_a_collective)
{
    struct example *example = straggler_create();
    double **slack = slack_create(frame_create(example->timeline, example->arena));
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        near(slack[rank][FIRST], rank == 3 ? 0 : 1);
        near(slack[rank][GATHER], 1);
        near(slack[rank][PAUSE], rank == 3 ? 0 : 1);
        near(slack[rank][SECOND], rank == 3 ? 0 : 1);
    }
    slack_destroy(slack);
    example_destroy(example);
}

/* Without the pause the collective decides, and the path goes through the member that came last. */
Test(causes, path_through_a_collective)
{
    struct example *example = straggler_create();
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct moment *times = example->timeline->moments[rank];
        times[PAUSE] = (struct moment){times[FIRST].end, times[FIRST].end, times[FIRST].end};
        times[SECOND] = (struct moment){3, 3, rank == 1 ? 6 : 4};
    }
    const struct report *report = report_create(&example->run, example->timeline, &example->platform, example->arena);
    near(report->critical_length, 6);
    near(report->critical_compute, 2 + 3);
    near(report->critical_collective, 1);
    const struct critical_path *path =
        critical_path_create(frame_create(example->timeline, example->arena), example->arena);
    cr_assert_eq(path->step_count, 3);
    cr_assert_eq(path->steps[0].entry, 3);
    cr_assert_eq(path->steps[1].entry, 1);
    cr_assert_eq(path->steps[1].id, GATHER);
    near(report->causes[CAUSE_COLLECTIVE], (2 + 2 + 2 + 1) / 4.0 / 6);
    near(report->causes[CAUSE_DRAIN], (2 + 0 + 2 + 2) / 4.0 / 6);
    example_destroy(example);
}

/* After its last computation a rank waits in the collective, then drains. */
Test(causes, collective_after_the_last_computation)
{
    struct example *example = straggler_create();
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct moment *times = example->timeline->moments[rank];
        times[FIRST] = (struct moment){0, 0, 1};
        times[SECOND] = (struct moment){1, 1, 2};
        times[PAUSE] = (struct moment){8, 8, 10};
        times[GATHER] = (struct moment){3, 5, 7};
    }
    const struct report *report = report_create(&example->run, example->timeline, &example->platform, example->arena);
    near(report->iteration, 10);
    near(report->causes[CAUSE_COLLECTIVE], 0.4);
    near(report->causes[CAUSE_DRAIN], 0.4);
    near(report->exposed, 2);
    example_destroy(example);
}

/* Computations of 1 s each; start times by iteration, two a iteration. */
static struct example *iterations_create(bool overlapping, uint32_t iterations, const double *starts, double gap)
{
    struct example *example = example_create(1);
    struct program_builder *builder = program_builder_create(&example->mesh);
    uint32_t cost = program_add_cost(builder, &(struct stagesim_cost){.seconds = 1});
    for (uint32_t i = 0; i < 2 * iterations; i++) {
        struct stagesim_identity identity = plain;
        identity.iteration = i / 2;
        program_add_compute(builder, 0, identity, cost);
    }
    struct program *program = program_finish(builder, example->arena);
    assignment_create(program, example->arena);
    program->iterations = iterations;
    program->overlapping = overlapping;
    example->timeline = timeline_create(program);
    program_builder_destroy(builder);
    for (uint32_t i = 0; i < 2 * iterations; i++) {
        double start = starts[i / 2] + (i % 2) * (1 + gap);
        example->timeline->moments[0][i] = (struct moment){start, start, start + 1};
    }
    return example;
}

/* Lengths 3, 3, 3; the first does not count and the pauses between iterations belong to none. */
Test(causes, several_iterations)
{
    static const double starts[] = {0, 10, 20};
    struct example *example = iterations_create(false, 3, starts, 1);
    const struct report *report = report_create(&example->run, example->timeline, &example->platform, example->arena);
    near(report->iteration, 3);
    near(report->makespan, 23);
    near(report->bubble, 1.0 / 3);
    near(report->causes[CAUSE_DEPENDENCY], 1.0 / 3);
    near(report->workers[0].busy, 2);
    near(report->workers[0].span, 3);
    near(report->critical_length, 3);
    example_destroy(example);
}

/* Ends at 2, 6, 10, 13: the last iteration comes early since nothing follows it, the one before counts. The rank is
 * watched from 7 to 11, where it computes from 8 to 10. */
Test(causes, overlapping_iterations)
{
    static const double starts[] = {0, 4, 8, 11};
    struct example *example = iterations_create(true, 4, starts, 0);
    const struct report *report = report_create(&example->run, example->timeline, &example->platform, example->arena);
    cr_assert(report->steady_state);
    near(report->iteration, 4);
    near(report->makespan, 13);
    near(report->bubble, 0.5);
    near(report->causes[CAUSE_DEPENDENCY], 0.5);
    near(report->critical_length, 4);
    example_destroy(example);
}
