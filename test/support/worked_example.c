/* SPDX-License-Identifier: Apache-2.0 */
#include "test/support/worked_example.h"

#include "simulator/collectives/assignment.h"

#include <stdlib.h>

static struct stagesim_identity identity(enum stagesim_kind kind, uint32_t stage, uint32_t micro_batch)
{
    return (struct stagesim_identity){.kind = kind, .stage = stage, .micro_batch = micro_batch, .layer = STAGESIM_NONE};
}

/* Ids in the finished program: the compute stream F0 F1 B0 B1 (worker 0) or F0 B0 F1 B1 (worker 1) comes first. */
static void build(struct worked_example *example, double bytes)
{
    struct program_builder *builder = program_builder_create(&example->mesh);
    uint32_t forward = program_add_cost(builder, &(struct stagesim_cost){.seconds = 1, .memory = 10, .stash = 1});
    uint32_t backward = program_add_cost(builder, &(struct stagesim_cost){.seconds = 2, .memory = -10, .stash = -1});
    uint32_t message = program_add_cost(builder, &(struct stagesim_cost){.bytes = bytes});
    uint32_t f[2][2], b[2][2], send, receive;
    for (uint32_t m = 0; m < 2; m++)
        f[0][m] = program_add_compute(builder, 0, identity(STAGESIM_FORWARD, 0, m), forward);
    for (uint32_t m = 0; m < 2; m++) {
        b[0][m] = program_add_compute(builder, 0, identity(STAGESIM_BACKWARD, 0, m), backward);
        f[1][m] = program_add_compute(builder, 1, identity(STAGESIM_FORWARD, 1, m), forward);
        b[1][m] = program_add_compute(builder, 1, identity(STAGESIM_BACKWARD, 1, m), backward);
    }
    for (uint32_t m = 0; m < 2; m++) {
        program_add_message(builder, 0, 1, identity(STAGESIM_ACTIVATION, 0, m), message, &send, &receive);
        program_add_wait(builder, 0, send, f[0][m]);
        program_add_wait(builder, 1, f[1][m], receive);
        program_add_message(builder, 1, 0, identity(STAGESIM_GRADIENT, 1, m), message, &send, &receive);
        program_add_wait(builder, 1, send, b[1][m]);
        program_add_wait(builder, 0, b[0][m], receive);
    }
    struct stagesim_static_memory held = {.parameters = 100, .buffers = 1};
    program_set_memory(builder, 0, &held);
    program_set_memory(builder, 1, &held);
    example->program = program_finish(builder, example->arena);
    assignment_create(example->program, example->arena);
    program_builder_destroy(builder);
    example->program->workers = example->program->stages = example->program->micro_batches = 2;
}

static void fill_rank(struct worked_example *example, uint32_t rank)
{
    static const struct moment worker_0[] = {{0, 0, 1},       {1, 1, 2},      {4.2, 4.2, 6.2},
                                             {7.2, 7.2, 9.2}, {1, 1, 1.1},    {2, 2, 2.1}, /* send: activations */
                                             {0, 4.1, 4.2},   {4.2, 7.1, 7.2}};            /* receive: gradients */
    static const struct moment worker_1[] = {{1.1, 1.1, 2.1}, {2.1, 2.1, 4.1}, {4.1, 4.1, 5.1},
                                             {5.1, 5.1, 7.1}, {0, 1, 1.1},     {1.1, 2, 2.1}, /* receive: activations */
                                             {4.1, 4.1, 4.2}, {7.1, 7.1, 7.2}};               /* send: gradients */
    const struct moment *times = example->mesh.position_of[rank] == 0 ? worker_0 : worker_1;
    for (uint32_t id = 0; id < 8; id++)
        example->timeline->moments[rank][id] = times[id];
}

/* Link 2r leads from the worker 0 of a replica to its worker 1, link 2r + 1 back. */
static void route(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *out)
{
    static uint32_t link;
    (void)platform;
    link = from / 2 * 2 + (from > to);
    *out = (struct platform_route){.latency = 0.1, .bandwidth = 1e9, .link_count = 1, .links = &link};
}

static void build_platform(struct worked_example *example)
{
    uint32_t ranks = example->mesh.ranks;
    struct platform *platform = &example->platform;
    *platform = (struct platform){.file = "pair.xml", .host_count = ranks, .link_count = ranks, .route = route};
    platform->hosts = arena_array(example->arena, ranks, sizeof *platform->hosts);
    platform->links = arena_array(example->arena, ranks, sizeof *platform->links);
    uint32_t *hosts = arena_array(example->arena, ranks, sizeof *hosts);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        hosts[rank] = rank;
        platform->hosts[rank] = (struct platform_host){.name = arena_print(example->arena, "gpu-%u", rank),
                                                       .node = arena_print(example->arena, "node-%u", rank / 2),
                                                       .speed = 1e9,
                                                       .memory = 120};
        platform->links[rank] =
            (struct platform_link){arena_print(example->arena, "link-%u", rank), 1e9, 0.1, LINK_SHARED};
    }
    example->run = (struct run_description){.scenario_file = "worked.yaml",
                                            .scenario_name = "worked",
                                            .platform_file = "pair.xml",
                                            .workload = "stages",
                                            .schedule = "1f1b",
                                            .engine = "analytic",
                                            .hosts = hosts};
}

struct worked_example *worked_example_create(uint32_t replicas, double bytes)
{
    struct arena *arena = arena_create();
    struct worked_example *example = arena_alloc(arena, sizeof *example);
    example->arena = arena;
    example->mesh =
        (struct mesh){.axis_count = 2,
                      .axes = {{.name = "pipeline", .size = 2, .distinct = true}, {.name = "data", .size = replicas}}};
    mesh_finish(&example->mesh, arena);
    build(example, bytes);
    example->timeline = timeline_create(example->program);
    for (uint32_t rank = 0; rank < example->mesh.ranks; rank++)
        fill_rank(example, rank);
    example->timeline->activities = example->mesh.replicas * 12;
    build_platform(example);
    return example;
}

void worked_example_destroy(struct worked_example *example)
{
    if (!example)
        return;
    timeline_destroy(example->timeline);
    arena_destroy(example->arena);
}
