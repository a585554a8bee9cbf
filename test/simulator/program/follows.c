/* SPDX-License-Identifier: Apache-2.0 */
/* Two ranks that compute, and perhaps reduce together before the iteration ends: whether the next iteration is like the
 * one whose times are given. */
#include "simulator/program/follows.h"

#include "base/arena.h"

#include <criterion/criterion.h>

enum { RANKS = 2 };

static const struct stagesim_identity plain = {
    .kind = STAGESIM_OTHER, .stage = STAGESIM_NONE, .micro_batch = STAGESIM_NONE};

struct example {
    struct arena *arena;
    struct mesh mesh;
};

static void setup(struct example *example)
{
    *example =
        (struct example){.arena = arena_create(),
                         .mesh = {.axis_count = 1, .axes = {{.name = "pipeline", .size = RANKS, .distinct = true}}}};
    mesh_finish(&example->mesh, example->arena);
}

/* `reduces`: at the end of each iteration; `awaits`: the next one waits for that. `more`: computations of the second
 * iteration beyond the one. */
static struct program *build(struct example *example, uint32_t iterations, bool reduces, bool awaits, uint32_t more)
{
    struct program_builder *builder = program_builder_create(&example->mesh);
    const uint32_t positions[RANKS] = {0, 1};
    uint32_t group = program_add_group(builder, 0, positions, RANKS);
    uint32_t cost = program_add_cost(builder, &(struct stagesim_cost){.seconds = 1, .bytes = 1});
    for (uint32_t position = 0; position < RANKS; position++) {
        uint32_t reduced = UINT32_MAX;
        for (uint32_t i = 0; i < iterations; i++) {
            struct stagesim_identity identity = plain;
            identity.iteration = i;
            uint32_t computed = program_add_compute(builder, position, identity, cost);
            if (awaits && reduced != UINT32_MAX)
                program_add_wait(builder, position, computed, reduced);
            for (uint32_t k = 0; i && k < more; k++)
                computed = program_add_compute(builder, position, identity, cost);
            if (!reduces)
                continue;
            reduced = program_add_collective(builder, position, group, STAGESIM_ALL_REDUCE, identity, cost);
            program_add_wait(builder, position, reduced, computed);
        }
    }
    struct program *program = program_finish(builder, example->arena);
    program_builder_destroy(builder);
    return program;
}

/* Rank i computes until computed[i]; both have reduced at `reduced`. */
static enum follows ask(struct example *example, bool reduces, const double *computed, double reduced,
                        const struct program *twice)
{
    struct timeline *timeline = timeline_create(build(example, 1, reduces, false, 0));
    for (uint32_t entry = 0; entry < RANKS; entry++) {
        const struct position *position = &timeline->program->positions[entry];
        for (uint32_t id = 0; id < position->operation_count; id++) {
            bool computes = position->streams[position->operations[id].stream].type == OPERATION_COMPUTE;
            timeline->moments[entry][id] = (struct moment){.start = computes ? 0 : computed[entry],
                                                           .data_start = computes ? 0 : computed[entry],
                                                           .end = computes ? computed[entry] : reduced};
        }
    }
    enum follows found = follows(timeline, twice);
    timeline_destroy(timeline);
    return found;
}

Test(follows, ranks_that_end_together_are_alike)
{
    struct example example;
    setup(&example);
    cr_assert_eq(ask(&example, false, (const double[]){2, 2}, 0, NULL), FOLLOWS_ALIKE);
    cr_assert_eq(ask(&example, false, (const double[]){2 - 1e-6, 2}, 0, NULL), FOLLOWS_ALIKE, "10^-6 is nothing");
    arena_destroy(example.arena);
}

Test(follows, a_rank_that_ends_early_runs_ahead)
{
    struct example example;
    setup(&example);
    cr_assert_eq(ask(&example, false, (const double[]){1, 2}, 0, NULL), FOLLOWS_OTHERWISE);
    cr_assert_eq(ask(&example, false, (const double[]){2, 1}, 0, NULL), FOLLOWS_OTHERWISE);
    arena_destroy(example.arena);
}

/* Computing ends early on both ranks, and only the program says whether that of the next iteration waits. */
Test(follows, what_waits_for_the_end_does_not)
{
    const double computed[] = {1, 2};
    struct example example;
    setup(&example);
    cr_assert_eq(ask(&example, true, computed, 3, NULL), FOLLOWS_PERHAPS);
    cr_assert_eq(ask(&example, true, computed, 3, build(&example, 2, true, true, 0)), FOLLOWS_ALIKE);
    cr_assert_eq(ask(&example, true, computed, 3, build(&example, 2, true, false, 0)), FOLLOWS_OTHERWISE);
    cr_assert_eq(ask(&example, true, computed, 3, build(&example, 2, true, true, 1)), FOLLOWS_OTHERWISE,
                 "the second iteration has more operations");
    arena_destroy(example.arena);
}
