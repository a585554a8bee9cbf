/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/engines/class_store.h"

#include "base/arena.h"
#include "simulator/collectives/assignment.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT = 8 };

struct known_classes {
    uint64_t key;
    uint32_t ranks;
    struct classes classes; /* first_of NULL: none yet; in memory of its own */
};

struct class_store {
    const struct platform *platform;
    struct known_classes known[KEPT];
    unsigned next; /* the oldest */
};

struct class_store *class_store_create(void)
{
    return array_zeroed(1, sizeof(struct class_store));
}

void class_store_destroy(struct class_store *store)
{
    for (unsigned i = 0; store && i < KEPT; i++)
        free(store->known[i].classes.first_of);
    free(store);
}

/* ---- what classes follow from ---- */

static uint64_t mix_mesh(uint64_t hash, const struct mesh *mesh, const uint32_t *hosts)
{
    for (unsigned i = 0; i < mesh->axis_count; i++) {
        const struct mesh_axis *axis = &mesh->axes[i];
        hash = refine_mix(refine_mix(refine_mix(hash, axis->size), axis->stride), axis->distinct);
    }
    hash = refine_mix(refine_mix(refine_mix(hash, mesh->extra), mesh->ranks), mesh->positions);
    for (uint32_t rank = 0; rank < mesh->ranks; rank++)
        hash = refine_mix(hash, hosts[rank]);
    return hash;
}

static uint64_t mix_variations(uint64_t hash, const struct program *program)
{
    for (uint32_t i = 0; i < program->variation_count; i++) {
        const struct variation *variation = &program->variations[i];
        hash = refine_mix(hash, variation->axes);
        for (uint32_t k = 0; k < mesh_product(program->mesh, variation->axes); k++)
            hash = refine_mix_number(hash, variation->factors[k]);
    }
    return refine_mix(hash, program->variation_count);
}

static uint64_t mix_messages(uint64_t hash, const struct program *program)
{
    for (uint32_t index = 0; index < program->mesh->positions; index++) {
        const struct position *position = &program->positions[index];
        for (uint32_t i = 0; i < position->stream_count; i++)
            if (position->streams[i].type == OPERATION_SEND)
                hash =
                    refine_mix(refine_mix(refine_mix(hash, i), position->streams[i].peer), position->streams[i].kind);
        hash = refine_mix(hash, UINT32_MAX);
    }
    return hash;
}

static uint64_t mix_flows(uint64_t hash, const struct collective_flows *flows)
{
    hash = refine_mix(refine_mix(refine_mix(hash, flows->count), flows->start), flows->ends_apart);
    hash = refine_mix(hash, flows->all_to_all);
    for (size_t i = 0; !flows->all_to_all && i < flows->count; i++) {
        const struct collective_phase_flow *flow = &flows->items[i];
        hash = refine_mix(refine_mix(refine_mix(hash, flow->from), flow->to), flow->phase);
        hash = refine_mix_number(refine_mix(hash, flow->steps), flow->share);
    }
    return hash;
}

static uint64_t mix_groups(uint64_t hash, const struct program *program)
{
    for (uint32_t i = 0; i < program->group_count; i++) {
        const struct group *group = &program->groups[i];
        uint32_t count = 0;
        const struct collective_flows *const *sets = NULL;
        hash = refine_mix(refine_mix(hash, group->axes), group->position_count);
        for (uint32_t k = 0; k < group->position_count; k++)
            hash = refine_mix(hash, group->positions[k]);
        if (group->collective_count && group_size(program, group) > 1)
            sets = assignment_all_flows(program, i, &count);
        hash = refine_mix(refine_mix(hash, group->collective_count > 0), count);
        for (uint32_t k = 0; k < count; k++)
            hash = mix_flows(hash, sets[k]);
    }
    return hash;
}

static uint64_t key_of(const struct program *program, const uint32_t *hosts)
{
    uint64_t hash = mix_mesh(3, program->mesh, hosts);
    return mix_groups(mix_messages(mix_variations(hash, program), program), program);
}

/* ---- looking up ---- */

static struct classes copy(const struct classes *classes, uint32_t ranks, uint32_t *first_of)
{
    memcpy(first_of, classes->first_of, ranks * sizeof *first_of);
    return (struct classes){first_of, classes->count};
}

struct classes class_store_find(struct class_store *store, const struct program *program, struct platform *platform,
                                const uint32_t *hosts, struct arena *arena)
{
    uint32_t ranks = program->mesh->ranks;
    if (!store || (store->platform && store->platform != platform))
        return classes_without_contention(program, platform, hosts, true, arena);
    store->platform = platform;
    uint64_t key = key_of(program, hosts);
    for (unsigned i = 0; i < KEPT; i++) {
        const struct known_classes *known = &store->known[i];
        if (known->classes.first_of && known->key == key && known->ranks == ranks)
            return copy(&known->classes, ranks, arena_array(arena, ranks, sizeof(uint32_t)));
    }
    struct classes classes = classes_without_contention(program, platform, hosts, true, arena);
    struct known_classes *known = &store->known[store->next++ % KEPT];
    free(known->classes.first_of);
    *known =
        (struct known_classes){key, ranks, copy(&classes, ranks, array_zeroed(ranks, sizeof *known->classes.first_of))};
    return classes;
}
