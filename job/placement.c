/* SPDX-License-Identifier: Apache-2.0 */
#include "job/placement.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

/* Hosts with interfaces of one kind. */
struct kind {
    const char *nic;
    uint32_t count, taken;
    uint32_t *hosts; /* in the platform's order */
};

struct kinds {
    uint32_t count;
    struct kind *items; /* in the order of their first hosts */
};

static const char *nic_of(const struct platform *platform, uint32_t host)
{
    return platform->hosts[host].nic ? platform->hosts[host].nic : "";
}

static struct kind *find_kind(struct kinds *kinds, const char *nic)
{
    for (uint32_t i = 0; i < kinds->count; i++)
        if (strcmp(kinds->items[i].nic, nic) == 0)
            return &kinds->items[i];
    return NULL;
}

static void list_kinds(struct kinds *kinds, const struct platform *platform, struct arena *arena)
{
    size_t capacity = 0;
    struct kind *items = NULL;
    for (uint32_t host = 0; host < platform->host_count; host++) {
        struct kind *kind = find_kind(kinds, nic_of(platform, host));
        if (!kind) {
            kinds->items = items = array_grow(items, &capacity, kinds->count + 1, sizeof *items);
            kind = &items[kinds->count++];
            *kind = (struct kind){.nic = nic_of(platform, host)};
        }
        kind->count++;
    }
    for (uint32_t i = 0; i < kinds->count; i++) {
        items[i].hosts = arena_array(arena, items[i].count, sizeof *items[i].hosts);
        items[i].count = 0;
    }
    for (uint32_t host = 0; host < platform->host_count; host++) {
        struct kind *kind = find_kind(kinds, nic_of(platform, host));
        kind->hosts[kind->count++] = host;
    }
}

/* "16 with InfiniBand, 8 with RoCE". */
static const char *describe_kinds(const struct kinds *kinds, struct arena *arena)
{
    const char *text = "";
    for (uint32_t i = 0; i < kinds->count; i++)
        text = arena_print(arena, "%s%s%u %s%s", text, i ? ", " : "", kinds->items[i].count,
                           *kinds->items[i].nic ? "with " : "without nic", kinds->items[i].nic);
    return text;
}

/* Ranks on hosts of one kind: those of a worker, or of a position where the pipeline has but one worker. */
struct together {
    uint32_t worker, workers, ranks;
};

/* Takes hosts of the first kind that has room for all. */
static bool place_together(const struct mesh *mesh, const struct together *set, struct kinds *kinds, uint32_t *hosts)
{
    struct kind *kind = kinds->items, *end = kinds->items + kinds->count;
    while (kind < end && kind->count - kind->taken < set->ranks)
        kind++;
    if (kind == end)
        return false;
    uint32_t first = set->workers > 1 ? 0 : set->worker, last = set->workers > 1 ? mesh->positions : set->worker + 1;
    for (uint32_t position = first; position < last; position++)
        for (uint32_t replica = 0; replica < mesh->replicas; replica++)
            if (set->workers == 1 || mesh_worker(mesh, position) == set->worker)
                hosts[mesh_rank(mesh, position, replica)] = kind->hosts[kind->taken++];
    return true;
}

static bool place_by_nic(const struct scenario *scenario, const struct platform *platform, uint32_t *hosts,
                         struct diag *diag)
{
    const struct mesh *mesh = &scenario->mesh;
    struct arena *arena = arena_create();
    struct kinds kinds = {0};
    list_kinds(&kinds, platform, arena);
    uint32_t sets = scenario->workers > 1 ? scenario->workers : mesh->positions;
    struct together set = {.workers = scenario->workers, .ranks = mesh->ranks / sets};
    bool placed = true;
    for (; set.worker < sets && placed; set.worker++)
        placed = place_together(mesh, &set, &kinds, hosts);
    if (!placed)
        diag_error(diag, scenario_place(scenario, "placement"),
                   "nic-aware wants the %u ranks of each of %u pipeline workers on hosts of one kind of network "
                   "interface, but the "
                   "platform has %s; expected a pipeline that divides into those",
                   set.ranks, sets, describe_kinds(&kinds, arena));
    free(kinds.items);
    arena_destroy(arena);
    return placed;
}

bool placement_fill(const struct scenario *scenario, const struct platform *platform, uint32_t *hosts,
                    struct diag *diag)
{
    if (scenario->placement == PLACEMENT_NIC_AWARE)
        return place_by_nic(scenario, platform, hosts, diag);
    for (uint32_t rank = 0; rank < scenario->mesh.ranks; rank++)
        hosts[rank] = rank;
    return true;
}

bool placement_is_order(const struct scenario *scenario, const uint32_t *hosts)
{
    uint32_t rank = 0;
    while (rank < scenario->mesh.ranks && hosts[rank] == rank)
        rank++;
    return rank == scenario->mesh.ranks;
}
