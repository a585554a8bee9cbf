/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the instances of a group wait for each other between its collectives, on programs where it is plain. */
#include "simulator/engines/leads.h"

#include "base/arena.h"

#include <criterion/criterion.h>

enum { TENSOR = 1, CONTEXT = 2, DATA = 4 };

struct bench {
    struct arena *arena;
    struct mesh mesh;
    struct program_builder *builder;
    uint32_t cost, data, tensor, context;
};

static const struct stagesim_identity plain = {
    .kind = STAGESIM_FORWARD, .micro_batch = STAGESIM_NONE, .layer = STAGESIM_NONE};

static struct bench *bench_create(void)
{
    static const uint32_t position = 0;
    struct arena *arena = arena_create();
    struct bench *bench = arena_alloc(arena, sizeof *bench);
    bench->arena = arena;
    bench->mesh = (struct mesh){.axis_count = 4,
                                .axes = {{.name = "tensor", .size = 2},
                                         {.name = "context", .size = 2},
                                         {.name = "data", .size = 2},
                                         {.name = "pipeline", .size = 1, .distinct = true}}};
    mesh_finish(&bench->mesh, arena);
    bench->builder = program_builder_create(&bench->mesh);
    bench->cost = program_add_cost(bench->builder, &(struct stagesim_cost){.seconds = 1, .bytes = 8});
    bench->data = program_add_group(bench->builder, DATA, &position, 1);
    bench->tensor = program_add_group(bench->builder, TENSOR, &position, 1);
    bench->context = program_add_group(bench->builder, CONTEXT, &position, 1);
    return bench;
}

/* A collective behind an operation, or behind nothing but those of its group before it. */
static uint32_t behind(struct bench *bench, uint32_t group, uint32_t awaited)
{
    uint32_t id = program_add_collective(bench->builder, 0, group, STAGESIM_ALL_REDUCE, plain, bench->cost);
    if (awaited != STAGESIM_NONE)
        program_add_wait(bench->builder, 0, id, awaited);
    return id;
}

static bool data_waits(struct bench *bench)
{
    const struct program *program = program_finish(bench->builder, bench->arena);
    bool waits = group_waits(program, bench->data);
    program_builder_destroy(bench->builder);
    arena_destroy(bench->arena);
    return waits;
}

Test(leads, one_collective_leads_nobody)
{
    struct bench *bench = bench_create();
    behind(bench, bench->data, STAGESIM_NONE);
    cr_assert(data_waits(bench));
}

Test(leads, buckets_one_after_the_other_may)
{
    struct bench *bench = bench_create();
    behind(bench, bench->data, STAGESIM_NONE);
    behind(bench, bench->data, STAGESIM_NONE);
    cr_assert_not(data_waits(bench));
}

/* All axes that the group lacks are waited along, one after the other. */
Test(leads, a_path_along_all_other_axes_holds_together)
{
    struct bench *bench = bench_create();
    uint32_t first = behind(bench, bench->data, STAGESIM_NONE), tensor = behind(bench, bench->tensor, first);
    behind(bench, bench->data, behind(bench, bench->context, tensor));
    cr_assert(data_waits(bench));
}

Test(leads, one_of_two_axes_does_not)
{
    struct bench *bench = bench_create();
    uint32_t first = behind(bench, bench->data, STAGESIM_NONE);
    behind(bench, bench->data, behind(bench, bench->tensor, first));
    cr_assert_not(data_waits(bench));
}

/* Each axis on a path of its own: (0, 0) never waits for (1, 1). */
Test(leads, two_paths_do_not)
{
    struct bench *bench = bench_create();
    uint32_t first = behind(bench, bench->data, STAGESIM_NONE);
    uint32_t tensor = behind(bench, bench->tensor, first), context = behind(bench, bench->context, first);
    program_add_wait(bench->builder, 0, behind(bench, bench->data, tensor), context);
    cr_assert_not(data_waits(bench));
}

/* Buckets that leave while others are computed: the second waits for a tensor collective, which waits for no bucket. */
Test(leads, what_waits_for_no_bucket_does_not)
{
    struct bench *bench = bench_create();
    uint32_t context = behind(bench, bench->context, behind(bench, bench->tensor, STAGESIM_NONE));
    behind(bench, bench->data, context);
    context = behind(bench, bench->context, behind(bench, bench->tensor, context));
    behind(bench, bench->data, context);
    cr_assert_not(data_waits(bench));
}

/* The same with the next iteration behind the last bucket: two buckets an iteration are apart. */
Test(leads, every_pair_counts)
{
    struct bench *bench = bench_create();
    uint32_t first = behind(bench, bench->data, STAGESIM_NONE);
    uint32_t second = behind(bench, bench->data, behind(bench, bench->context, behind(bench, bench->tensor, first)));
    behind(bench, bench->data, second);
    cr_assert_not(data_waits(bench));
}
