/* SPDX-License-Identifier: Apache-2.0 */
/* The mesh: named axes whose coordinates number the ranks. A position is a coordinate along the axes on which the code
 * differs; a replica is a coordinate along the others. */
#ifndef STAGESIM_MESH_H
#define STAGESIM_MESH_H

#include <stdbool.h>
#include <stdint.h>

struct arena;

enum { MESH_AXES_MAX = 8 };

struct mesh_axis {
    const char *name;
    uint32_t size, stride; /* stride: ranks between neighbours along the axis */
    bool distinct;         /* the code differs along it (pipeline) */
};

struct mesh {
    unsigned axis_count;
    struct mesh_axis axes[MESH_AXES_MAX]; /* innermost (stride 1) first */
    uint32_t ranks, positions, replicas;
    uint32_t *rank_of;     /* [position * replicas + replica] */
    uint32_t *position_of; /* [rank] */
    uint32_t *replica_of;  /* [rank] */
};

/* Fills strides, counts and tables from names, sizes and distinct flags, innermost axis first; memory from the arena. The
 * product of sizes must fit 32 bits (checked by the scenario). */
void mesh_finish(struct mesh *mesh, struct arena *arena);

/* The axis of that name, or NULL. */
const struct mesh_axis *mesh_axis(const struct mesh *mesh, const char *name);

static inline uint32_t mesh_rank(const struct mesh *mesh, uint32_t position, uint32_t replica)
{
    return mesh->rank_of[(uint64_t)position * mesh->replicas + replica];
}

#endif
