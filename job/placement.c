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

static bool place_workers(const struct mesh *mesh, struct kinds *kinds, uint32_t *hosts)
{
    uint32_t current = 0;
    for (uint32_t position = 0; position < mesh->positions; position++) {
        while (current < kinds->count && kinds->items[current].count - kinds->items[current].taken < mesh->replicas)
            current++;
        if (current == kinds->count)
            return false;
        struct kind *kind = &kinds->items[current];
        for (uint32_t replica = 0; replica < mesh->replicas; replica++)
            hosts[mesh_rank(mesh, position, replica)] = kind->hosts[kind->taken++];
    }
    return true;
}

static bool place_by_nic(const struct scenario *scenario, const struct platform *platform, uint32_t *hosts,
                         struct diag *diag)
{
    const struct mesh *mesh = &scenario->mesh;
    struct arena *arena = arena_create();
    struct kinds kinds = {0};
    list_kinds(&kinds, platform, arena);
    bool placed = place_workers(mesh, &kinds, hosts);
    if (!placed)
        diag_error(diag, scenario_place(scenario, "placement"),
                   "nic-aware wants the %u ranks of each of %u pipeline workers on hosts of one kind of network "
                   "interface, but the "
                   "platform has %s; expected a pipeline that divides into those",
                   mesh->replicas, mesh->positions, describe_kinds(&kinds, arena));
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
