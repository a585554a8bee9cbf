/* SPDX-License-Identifier: Apache-2.0 */
/* The mesh: axes whose coordinates number the ranks. A position is a coordinate along the axes on which the code
 * differs; a replica is a coordinate along the others.
 *
 * What a user calls an axis is a name: usually of one axis, of several where the name was cut into factors
 * (`mesh_cut`), or of some factors of others: the ranks that share experts are part of those along context and data, or
 * tensor as well.
 * Groups of ranks are made of axes, so that a cut gives groups along a part of a name. */
#ifndef STAGESIM_MESH_H
#define STAGESIM_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum { MESH_AXES_MAX = 16, MESH_NAMES_MAX = 12 };

struct mesh_axis {
    const char *name;
    uint32_t size, stride; /* stride: ranks between neighbours along the axis */
    bool distinct;         /* the code differs along it (pipeline) */
};

struct mesh_name {
    const char *name;
    uint32_t size; /* the product of its axes */
    uint32_t axes; /* bit i: mesh axis i */
};

struct mesh {
    unsigned axis_count;
    struct mesh_axis axes[MESH_AXES_MAX]; /* innermost (stride 1) first; those of one name follow each other */
    unsigned name_count;
    struct mesh_name names[MESH_NAMES_MAX]; /* innermost first, then those that share axes with others */
    uint32_t extra; /* ranks behind those of the axes, each a position of its own; only where all axes are distinct */
    uint32_t ranks, positions, replicas;
    uint32_t *rank_of;     /* [position * replicas + replica] */
    uint32_t *position_of; /* [rank] */
    uint32_t *replica_of;  /* [rank] */
};

/* Fills strides, counts, names and tables from the axes' names, sizes and distinct flags and from `extra`, innermost
 * axis first; memory from the arena. The product of sizes must fit 32 bits (checked by the scenario). */
void mesh_finish(struct mesh *mesh, struct arena *arena);

/* Of that many characters; NULL where there is none. */
const struct mesh_name *mesh_find(const struct mesh *mesh, const char *name, size_t length);
/* The size of a name; 1 where there is none. */
uint32_t mesh_size(const struct mesh *mesh, const char *name);
/* The product of the sizes of axes (bit i: mesh axis i). */
uint32_t mesh_product(const struct mesh *mesh, uint32_t axes);

/* Cuts so that the innermost axes of `axes` have `inner` coordinates together; returns them in *part. No rank gets
 * another number, but bits that were handed out before are no longer valid. False, and nothing is cut, where it cannot
 * be: the axes before the cut have to divide `inner`, and what is left of it the axis that is cut. */
bool mesh_cut(struct mesh *mesh, uint32_t axes, uint32_t inner, uint32_t *part);
/* A further name, borrowed, for axes that have others. */
void mesh_add_name(struct mesh *mesh, const char *name, uint32_t axes);

/* The axes of a list such as "context,data,-expert": those named, but for those behind a '-'; "expert:8" are the
 * innermost ones of a name that have 8 coordinates together. Names that are not in the mesh have no axes; distinct axes
 * are left out. False where there is no cut at such a number. */
bool mesh_select(const struct mesh *mesh, const char *list, uint32_t *axes);
/* The coordinate of a replica along axes, the innermost counting one by one. */
static inline uint32_t mesh_coordinate(const struct mesh *mesh, uint32_t axes, uint32_t replica)
{
    uint32_t coordinate = 0, stride = 1;
    for (unsigned i = 0; i < mesh->axis_count; i++) {
        if (mesh->axes[i].distinct)
            continue;
        if (axes >> i & 1) {
            coordinate += replica % mesh->axes[i].size * stride;
            stride *= mesh->axes[i].size;
        }
        replica /= mesh->axes[i].size;
    }
    return coordinate;
}

/* The coordinate of a position along the axis "pipeline": 0 where there is none. */
uint32_t mesh_worker(const struct mesh *mesh, uint32_t position);

static inline uint32_t mesh_rank(const struct mesh *mesh, uint32_t position, uint32_t replica)
{
    return mesh->rank_of[(uint64_t)position * mesh->replicas + replica];
}

#endif
