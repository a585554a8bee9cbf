/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts of mesh axes, lists of them, and the groups that they give, held to coordinates that are counted by hand. */
#include "base/arena.h"
#include "simulator/program/program.h"

#include <criterion/criterion.h>

static struct arena *arena;
static struct mesh mesh;

/* tensor 2 x context 3 x pipeline 2 x data 4, tensor innermost. */
static void setup(void)
{
    arena = arena_create();
    mesh = (struct mesh){.axis_count = 4,
                         .axes = {{.name = "tensor", .size = 2},
                                  {.name = "context", .size = 3},
                                  {.name = "pipeline", .size = 2, .distinct = true},
                                  {.name = "data", .size = 4}}};
    mesh_finish(&mesh, arena);
}

static void finish(void)
{
    arena_destroy(arena);
}

TestSuite(mesh, .init = setup, .fini = finish);

static uint32_t rank_at(uint32_t tensor, uint32_t context, uint32_t worker, uint32_t data)
{
    return tensor + 2 * (context + 3 * (worker + 2 * data));
}

static uint32_t selected(const char *list)
{
    uint32_t axes;
    cr_assert(mesh_select(&mesh, list, &axes), "%s", list);
    return axes;
}

Test(mesh, names_and_sizes)
{
    cr_assert(mesh.ranks == 48 && mesh.positions == 2 && mesh.replicas == 24);
    cr_assert(mesh_size(&mesh, "context") == 3 && mesh_size(&mesh, "data") == 4 && mesh_size(&mesh, "expert") == 1);
    cr_assert_eq(selected("tensor,data"), 9);
    cr_assert_eq(selected("tensor,pipeline,nothing"), 1); /* the code differs along pipeline */
    cr_assert_eq(selected("context,data,-context"), 8);
    uint32_t axes;
    cr_assert_not(mesh_select(&mesh, "data:2", &axes));
}

Test(mesh, a_cut_keeps_ranks)
{
    uint32_t part, before[48];
    for (uint32_t rank = 0; rank < 48; rank++)
        before[rank] = mesh.replica_of[rank];
    cr_assert(mesh_cut(&mesh, selected("context,data"), 6, &part));
    mesh_add_name(&mesh, "expert", part);
    cr_assert(mesh.axis_count == 5 && mesh_size(&mesh, "data") == 4 && mesh_size(&mesh, "expert") == 6);
    cr_assert(mesh.axes[3].size == 2 && mesh.axes[3].stride == 12 && mesh.axes[4].size == 2 &&
              mesh.axes[4].stride == 24);
    for (uint32_t rank = 0; rank < 48; rank++) {
        cr_assert_eq(mesh.replica_of[rank], before[rank]);
        uint32_t context = rank / 2 % 3, data = rank / 12;
        cr_assert_eq(mesh_coordinate(&mesh, selected("expert"), mesh.replica_of[rank]), context + 3 * (data % 2));
        cr_assert_eq(mesh_coordinate(&mesh, selected("data"), mesh.replica_of[rank]), data);
    }
}

Test(mesh, cuts_that_do_not_divide)
{
    uint32_t part;
    cr_assert_not(mesh_cut(&mesh, selected("context,data"), 2, &part));
    cr_assert_not(mesh_cut(&mesh, selected("context,data"), 9, &part));
    cr_assert_not(mesh_cut(&mesh, selected("context,data"), 24, &part));
    cr_assert_eq(mesh.axis_count, 4);
    cr_assert(mesh_cut(&mesh, selected("context,data"), 12, &part) && part == selected("context,data") &&
              mesh.axis_count == 4);
    cr_assert(mesh_cut(&mesh, selected("context,data"), 1, &part) && part == 0 && mesh.axis_count == 4);
}

Test(mesh, groups_along_parts)
{
    uint32_t part, ranks[4], worker = 1;
    cr_assert(mesh_cut(&mesh, selected("context,data"), 6, &part));
    mesh_add_name(&mesh, "expert", part);
    struct program_builder *builder = program_builder_create(&mesh);
    program_add_group(builder, selected("context,data,-expert"), &worker, 1);
    program_add_group(builder, selected("expert,-expert:3"), &worker, 1);
    struct program *program = program_finish(builder, arena);
    program_builder_destroy(builder);
    /* The same experts: every second along data. */
    const struct group *same = &program->groups[0];
    cr_assert(group_size(program, same) == 2 && group_instances(program, same) == 12);
    group_ranks(program, same, group_instance_of(program, same, mesh.replica_of[rank_at(1, 2, 1, 3)]), ranks);
    cr_assert(ranks[0] == rank_at(1, 2, 1, 1) && ranks[1] == rank_at(1, 2, 1, 3));
    /* The part of the experts that lies along data. */
    const struct group *outer = &program->groups[1];
    group_ranks(program, outer, group_instance_of(program, outer, mesh.replica_of[rank_at(0, 1, 1, 2)]), ranks);
    cr_assert(ranks[0] == rank_at(0, 1, 1, 2) && ranks[1] == rank_at(0, 1, 1, 3));
}

Test(mesh, costs_that_vary)
{
    static const double factors[] = {0.5, 1, 1.5};
    struct program_builder *builder = program_builder_create(&mesh);
    uint32_t plain = program_add_cost(builder, &(struct stagesim_cost){.seconds = 1});
    uint32_t varying = program_add_cost(builder, &(struct stagesim_cost){.seconds = 1});
    program_vary_cost(builder, varying, program_add_variation(builder, selected("context"), factors));
    program_add_compute(builder, 0, (struct stagesim_identity){.kind = STAGESIM_OTHER}, plain);
    program_add_compute(builder, 0, (struct stagesim_identity){.kind = STAGESIM_OTHER}, varying);
    struct program *program = program_finish(builder, arena);
    program_builder_destroy(builder);
    const struct operation *operations = program->positions[0].operations;
    for (uint32_t rank = 0; rank < 48; rank++) {
        cr_assert_eq(operation_factor(program, &operations[0], mesh.replica_of[rank]), 1);
        cr_assert_eq(operation_factor(program, &operations[1], mesh.replica_of[rank]), factors[rank / 2 % 3]);
    }
}

/* Two servers behind three workers that are no replicas of each other. */
Test(mesh, extra_ranks)
{
    struct mesh served = {
        .axis_count = 2,
        .axes = {{.name = "pipeline", .size = 1, .distinct = true}, {.name = "data", .size = 3, .distinct = true}},
        .extra = 2};
    mesh_finish(&served, arena);
    cr_assert(served.ranks == 5 && served.positions == 5 && served.replicas == 1 && mesh_size(&served, "data") == 3);
    for (uint32_t rank = 0; rank < 5; rank++)
        cr_assert(served.position_of[rank] == rank && served.replica_of[rank] == 0 &&
                  mesh_rank(&served, rank, 0) == rank);
}
