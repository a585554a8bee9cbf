/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/program/mesh.h"

#include "base/arena.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Of the first `count` ranks, which differ in axes before this one, makes those with all of its coordinates. */
static void spread(struct mesh *mesh, const struct mesh_axis *axis, uint32_t count, uint32_t positions,
                   uint32_t replicas)
{
    for (uint32_t coordinate = 1; coordinate < axis->size; coordinate++) {
        uint32_t position = axis->distinct ? coordinate * positions : 0;
        uint32_t replica = axis->distinct ? 0 : coordinate * replicas, first = coordinate * count;
        for (uint32_t rank = 0; rank < count; rank++) {
            mesh->position_of[first + rank] = mesh->position_of[rank] + position;
            mesh->replica_of[first + rank] = mesh->replica_of[rank] + replica;
        }
    }
}

static void fill_tables(struct mesh *mesh)
{
    uint32_t count = 1, positions = 1, replicas = 1;
    mesh->position_of[0] = mesh->replica_of[0] = 0;
    for (unsigned i = 0; i < mesh->axis_count; i++) {
        const struct mesh_axis *axis = &mesh->axes[i];
        spread(mesh, axis, count, positions, replicas);
        count *= axis->size;
        *(axis->distinct ? &positions : &replicas) *= axis->size;
    }
    for (uint32_t rank = 0; rank < count; rank++)
        mesh->rank_of[(uint64_t)mesh->position_of[rank] * mesh->replicas + mesh->replica_of[rank]] = rank;
}

void mesh_add_name(struct mesh *mesh, const char *name, uint32_t axes)
{
    assert(mesh->name_count < MESH_NAMES_MAX);
    mesh->names[mesh->name_count++] = (struct mesh_name){name, mesh_product(mesh, axes), axes};
}

void mesh_finish(struct mesh *mesh, struct arena *arena)
{
    mesh->ranks = mesh->positions = mesh->replicas = 1;
    mesh->name_count = 0;
    for (unsigned i = 0; i < mesh->axis_count; i++) {
        struct mesh_axis *axis = &mesh->axes[i];
        axis->stride = mesh->ranks;
        mesh->ranks *= axis->size;
        *(axis->distinct ? &mesh->positions : &mesh->replicas) *= axis->size;
        mesh_add_name(mesh, axis->name, 1u << i);
    }
    assert(!mesh->extra || mesh->replicas == 1);
    uint32_t regular = mesh->ranks;
    mesh->ranks += mesh->extra;
    mesh->positions += mesh->extra;
    mesh->rank_of = arena_array(arena, mesh->ranks, sizeof *mesh->rank_of);
    mesh->position_of = arena_array(arena, mesh->ranks, sizeof *mesh->position_of);
    mesh->replica_of = arena_array(arena, mesh->ranks, sizeof *mesh->replica_of);
    fill_tables(mesh);
    for (uint32_t rank = regular; rank < mesh->ranks; rank++) {
        uint32_t position = mesh->positions - mesh->ranks + rank;
        mesh->rank_of[position] = rank;
        mesh->position_of[rank] = position;
        mesh->replica_of[rank] = 0;
    }
}

/* ---- names ---- */

const struct mesh_name *mesh_find(const struct mesh *mesh, const char *name, size_t length)
{
    for (unsigned i = 0; i < mesh->name_count; i++)
        if (strlen(mesh->names[i].name) == length && !strncmp(mesh->names[i].name, name, length))
            return &mesh->names[i];
    return NULL;
}

uint32_t mesh_size(const struct mesh *mesh, const char *name)
{
    const struct mesh_name *found = mesh_find(mesh, name, strlen(name));
    return found ? found->size : 1;
}

uint32_t mesh_product(const struct mesh *mesh, uint32_t axes)
{
    uint32_t product = 1;
    for (unsigned i = 0; i < mesh->axis_count; i++)
        product *= axes >> i & 1 ? mesh->axes[i].size : 1;
    return product;
}

/* ---- cuts ---- */

/* The innermost of `axes` that have at most `inner` coordinates together, which they divide; *left is the rest of
 * `inner`, and *next the axis that it would have to come from. */
static uint32_t whole_axes(const struct mesh *mesh, uint32_t axes, uint32_t inner, uint32_t *left, unsigned *next)
{
    uint32_t part = 0;
    *left = inner;
    for (*next = 0; *next < mesh->axis_count; ++*next) {
        if (!(axes >> *next & 1))
            continue;
        if (*left == 1 || *left % mesh->axes[*next].size)
            break;
        *left /= mesh->axes[*next].size;
        part |= 1u << *next;
    }
    return part;
}

/* Makes room for an axis behind one that is cut in two. */
static uint32_t with_new_axis(uint32_t axes, unsigned cut)
{
    uint32_t kept = axes & ((2u << cut) - 1), above = axes & ~((2u << cut) - 1);
    return kept | above << 1 | (axes >> cut & 1) << (cut + 1);
}

bool mesh_cut(struct mesh *mesh, uint32_t axes, uint32_t inner, uint32_t *part)
{
    uint32_t left;
    unsigned cut;
    uint32_t whole = whole_axes(mesh, axes, inner, &left, &cut);
    if (left > 1) {
        if (cut == mesh->axis_count || mesh->axes[cut].size % left || mesh->axis_count == MESH_AXES_MAX)
            return false;
        memmove(&mesh->axes[cut + 1], &mesh->axes[cut], (mesh->axis_count - cut) * sizeof *mesh->axes);
        mesh->axis_count++;
        mesh->axes[cut].size = left;
        mesh->axes[cut + 1].size /= left;
        mesh->axes[cut + 1].stride *= left;
        for (unsigned i = 0; i < mesh->name_count; i++)
            mesh->names[i].axes = with_new_axis(mesh->names[i].axes, cut);
        whole |= 1u << cut; /* whole axes lie below the one that is cut */
    }
    *part = whole;
    return true;
}

/* ---- lists ---- */

/* One entry of a list, without its sign. */
static bool select_entry(const struct mesh *mesh, const char *entry, size_t length, uint32_t *axes)
{
    const char *colon = memchr(entry, ':', length);
    const struct mesh_name *name = mesh_find(mesh, entry, colon ? (size_t)(colon - entry) : length);
    *axes = name ? name->axes : 0;
    if (!colon)
        return true;
    uint32_t left;
    unsigned next;
    *axes = whole_axes(mesh, *axes, (uint32_t)strtoul(colon + 1, NULL, 10), &left, &next);
    return left == 1;
}

bool mesh_select(const struct mesh *mesh, const char *list, uint32_t *axes)
{
    uint32_t with = 0, without = 0;
    while (*list) {
        bool minus = *list == '-';
        size_t length = strcspn(list, ",");
        uint32_t entry;
        if (!select_entry(mesh, list + minus, length - minus, &entry))
            return false;
        *(minus ? &without : &with) |= entry;
        list += length + (list[length] == ',');
    }
    *axes = with & ~without;
    for (unsigned i = 0; i < mesh->axis_count; i++)
        if (mesh->axes[i].distinct)
            *axes &= ~(1u << i);
    return true;
}

uint32_t mesh_worker(const struct mesh *mesh, uint32_t position)
{
    for (unsigned i = 0; i < mesh->axis_count; i++) {
        const struct mesh_axis *axis = &mesh->axes[i];
        if (!axis->distinct)
            continue;
        if (!strcmp(axis->name, "pipeline"))
            return position % axis->size;
        position /= axis->size;
    }
    return 0;
}
