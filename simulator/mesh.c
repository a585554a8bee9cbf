/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/mesh.h"

#include "simulator/arena.h"

#include <stddef.h>
#include <string.h>

static void coordinates_to_tables(struct mesh *mesh, uint32_t rank)
{
    uint32_t position = 0, replica = 0, position_stride = 1, replica_stride = 1;
    for (unsigned i = 0; i < mesh->axis_count; i++) {
        const struct mesh_axis *axis = &mesh->axes[i];
        uint32_t coordinate = rank / axis->stride % axis->size;
        if (axis->distinct) {
            position += coordinate * position_stride;
            position_stride *= axis->size;
        } else {
            replica += coordinate * replica_stride;
            replica_stride *= axis->size;
        }
    }
    mesh->position_of[rank] = position;
    mesh->replica_of[rank] = replica;
    mesh->rank_of[(uint64_t)position * mesh->replicas + replica] = rank;
}

void mesh_finish(struct mesh *mesh, struct arena *arena)
{
    mesh->ranks = mesh->positions = mesh->replicas = 1;
    for (unsigned i = 0; i < mesh->axis_count; i++) {
        struct mesh_axis *axis = &mesh->axes[i];
        axis->stride = mesh->ranks;
        mesh->ranks *= axis->size;
        *(axis->distinct ? &mesh->positions : &mesh->replicas) *= axis->size;
    }
    mesh->rank_of = arena_array(arena, mesh->ranks, sizeof *mesh->rank_of);
    mesh->position_of = arena_array(arena, mesh->ranks, sizeof *mesh->position_of);
    mesh->replica_of = arena_array(arena, mesh->ranks, sizeof *mesh->replica_of);
    for (uint32_t rank = 0; rank < mesh->ranks; rank++)
        coordinates_to_tables(mesh, rank);
}

const struct mesh_axis *mesh_axis(const struct mesh *mesh, const char *name)
{
    for (unsigned i = 0; i < mesh->axis_count; i++)
        if (!strcmp(mesh->axes[i].name, name))
            return &mesh->axes[i];
    return NULL;
}
