/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/engines/stand_ins.h"

#include "base/arena.h"
#include "simulator/engines/class_graph.h"
#include "simulator/engines/precedence.h"

#include <string.h>

/* Behind the platform. */
struct places {
    struct platform *base;
    uint32_t *own; /* [host - hosts of the base] */
    double *weight;
};

static uint32_t own_host(const struct places *places, uint32_t host)
{
    return host < places->base->host_count ? host : places->own[host - places->base->host_count];
}

static void find_route(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route)
{
    const struct places *places = platform->handle;
    places->base->route(places->base, own_host(places, from), own_host(places, to), route);
}

static bool reaches(struct platform *platform, uint32_t from, uint32_t to)
{
    const struct places *places = platform->handle;
    return places->base->reaches(places->base, own_host(places, from), own_host(places, to));
}

static double weight_of(const struct platform *platform, uint32_t from, uint32_t to)
{
    const struct places *places = platform->handle;
    (void)to;
    return from < places->base->host_count ? 1 : places->weight[from - places->base->host_count];
}

static void add_members(const struct class_graph *graph, struct stand_ins *stand_ins, struct places *places,
                        const struct graph_owner *owner)
{
    const struct graph_part *part = &graph->parts[owner->part];
    const struct group *group = &part->program->groups[owner->group];
    uint32_t size = group_size(part->program, group);
    group_ranks(part->program, group, owner->instance, graph->ranks);
    stand_ins[owner->part].first[owner->group][owner->instance] = stand_ins->platform.host_count;
    for (uint32_t m = 0; m < size; m++) {
        uint32_t host = stand_ins->platform.host_count++, place = host - places->base->host_count;
        places->own[place] = graph->hosts[part->first_rank + graph->ranks[m]];
        places->weight[place] = precedence_weight(owner->turn, owner->turns);
        stand_ins->platform.hosts[host] = places->base->hosts[places->own[place]];
    }
}

/* SimGrid may have hosts and links of the old names, where it has read the platform itself. */
static void rename_all(struct platform *platform, struct arena *arena)
{
    struct platform_link *links = arena_array(arena, platform->link_count + (size_t)1, sizeof *links);
    for (uint32_t i = 0; i < platform->host_count; i++) {
        platform->hosts[i].name = arena_print(arena, "place %u", i);
        platform->hosts[i].handle = NULL;
    }
    for (uint32_t i = 0; i < platform->link_count; i++) {
        links[i] = platform->links[i];
        if (strcmp(links[i].name, PLATFORM_LOOPBACK) != 0)
            links[i].name = arena_print(arena, "link %u", i);
    }
    platform->links = links;
}

/* Room for the first members of a part's groups. */
static uint32_t **make_first(const struct program *program, struct arena *arena)
{
    uint32_t **first = arena_array(arena, program->group_count + (size_t)1, sizeof *first);
    for (uint32_t group = 0; group < program->group_count; group++)
        first[group] =
            arena_array(arena, group_instances(program, &program->groups[group]) + (size_t)1, sizeof **first);
    return first;
}

static struct stand_ins *stand_in(const struct class_graph *graph, size_t members)
{
    struct arena *arena = graph->arena;
    struct stand_ins *stand_ins = arena_array(arena, graph->part_count, sizeof *stand_ins);
    struct places *places = arena_alloc(arena, sizeof *places);
    uint32_t hosts = graph->platform->host_count;
    *places = (struct places){graph->platform, arena_array(arena, members + 1, sizeof *places->own),
                              arena_array(arena, members + 1, sizeof *places->weight)};
    stand_ins->platform = *graph->platform;
    stand_ins->platform.hosts = arena_array(arena, hosts + members + 1, sizeof *stand_ins->platform.hosts);
    memcpy(stand_ins->platform.hosts, graph->platform->hosts, hosts * sizeof *graph->platform->hosts);
    stand_ins->platform.route = find_route;
    stand_ins->platform.reaches = reaches;
    stand_ins->platform.weight = weight_of;
    stand_ins->platform.handle = places;
    for (uint32_t i = 0; i < graph->part_count; i++)
        stand_ins[i].first = make_first(graph->parts[i].program, arena);
    for (size_t i = 0; i < graph->owner_count; i++)
        if (graph->owners[i].turns > 1)
            add_members(graph, stand_ins, places, &graph->owners[i]);
    rename_all(&stand_ins->platform, arena);
    for (uint32_t i = 1; i < graph->part_count; i++)
        stand_ins[i].platform = stand_ins->platform;
    return stand_ins;
}

static bool has_known_links(const struct platform *platform)
{
    for (uint32_t i = 0; i < platform->link_count; i++)
        if (platform->links[i].sharing == LINK_OTHER)
            return false;
    return true;
}

struct stand_ins *stand_ins_create(const struct class_part *parts, uint32_t count, struct platform *platform, bool even,
                                   struct arena *arena)
{
    char reason[256];
    struct class_graph graph = class_graph_begin(parts, count, platform, arena, reason, sizeof reason);
    size_t members = 0;
    graph.even = even;
    if (!class_graph_list(&graph))
        graph.owner_count = 0;
    for (size_t i = 0; i < graph.owner_count; i++) {
        const struct program *program = parts[graph.owners[i].part].program;
        if (graph.owners[i].turns > 1)
            members += group_size(program, &program->groups[graph.owners[i].group]);
    }
    struct stand_ins *stand_ins = has_known_links(platform) ? stand_in(&graph, members) : NULL;
    class_graph_finish(&graph);
    return stand_ins;
}
