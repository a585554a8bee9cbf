/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/engines/class_network.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "simulator/collectives/assignment.h"
#include "simulator/engines/class_graph.h"
#include "simulator/engines/precedence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the network of classes ---- */

struct pair_route {
    uint64_t pair; /* from << 32 | to, and 1: 0 is none */
    double latency, weight;
    size_t first;
    uint32_t count;
};

struct routes {
    struct pair_route *table;
    size_t places;
    uint32_t *links;
    size_t link_count, link_capacity;
};

struct builder {
    struct class_graph *graph;
    struct class_network *network;
    struct class_numbering ranks, links, flows;
    struct routes *routes;
    size_t kept, side; /* flows of collectives so far; their ends lie on a square of that side */
    bool *taken;       /* [class of flows] */
};

static struct pair_route *find_pair(const struct routes *routes, uint32_t from, uint32_t to)
{
    uint64_t pair = ((uint64_t)from << 32 | to) + 1;
    size_t place = (size_t)refine_mix(0, pair) & (routes->places - 1);
    while (routes->table[place].pair && routes->table[place].pair != pair)
        place = (place + 1) & (routes->places - 1);
    routes->table[place].pair = pair;
    return &routes->table[place];
}

static void route_of_pair(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route)
{
    const struct routes *routes = platform->handle;
    const struct pair_route *found = find_pair(routes, from, to);
    *route = (struct platform_route){found->latency, INFINITY, found->count, &routes->links[found->first]};
    for (uint32_t i = 0; i < found->count; i++)
        route->bandwidth = fmin(route->bandwidth, platform->links[route->links[i]].bandwidth);
}

static double weight_of_pair(const struct platform *platform, uint32_t from, uint32_t to)
{
    return find_pair(platform->handle, from, to)->weight;
}

static bool always_reaches(struct platform *platform, uint32_t from, uint32_t to)
{
    (void)platform, (void)from, (void)to;
    return true;
}

/* A flow of the class crosses one link of that class as often as any other of its flows does; all together load each
 * link of the class with so many. */
static void list_links(struct builder *builder, const struct graph_flow *flow, uint32_t class, struct pair_route *route)
{
    struct routes *routes = builder->routes;
    const uint32_t *own = &builder->graph->links[flow->first_link];
    route->first = routes->link_count;
    for (uint32_t i = 0; i < flow->link_count; i++) {
        uint32_t kind = builder->links.class_of[own[i]], crossed = 0;
        bool before = false;
        for (uint32_t k = 0; k < flow->link_count; k++) {
            crossed += builder->links.class_of[own[k]] == kind;
            before |= k < i && builder->links.class_of[own[k]] == kind;
        }
        uint32_t times = (uint32_t)((uint64_t)builder->flows.size[class] * crossed / builder->links.size[kind]);
        if (before)
            continue;
        routes->links =
            array_grow(routes->links, &routes->link_capacity, routes->link_count + times, sizeof *routes->links);
        for (uint32_t k = 0; k < times; k++)
            routes->links[routes->link_count++] = kind;
    }
    route->count = (uint32_t)(routes->link_count - route->first);
}

static void add_route(struct builder *builder, size_t number, uint32_t from, uint32_t to)
{
    const struct graph_flow *flow = &builder->graph->flows[number];
    struct pair_route *route = find_pair(builder->routes, from, to);
    if (route->weight > 0)
        return; /* another stream of messages to the same rank */
    route->latency = flow->latency;
    route->weight = 1;
    if (flow->owner != UINT32_MAX) {
        const struct graph_owner *owner = &builder->graph->owners[flow->owner];
        route->weight = precedence_weight(owner->turn, owner->turns);
    }
    list_links(builder, flow, builder->flows.class_of[number], route);
}

static void connect_messages(struct builder *builder)
{
    const struct class_graph *graph = builder->graph;
    for (size_t i = 0; i < graph->message_count; i++) {
        const struct graph_flow *flow = &graph->flows[i];
        if (builder->network->first_of[flow->from] == flow->from)
            add_route(builder, i, builder->ranks.class_of[flow->from], builder->ranks.class_of[flow->to]);
    }
}

/* The first member that is alike. */
static uint32_t like_member(const struct builder *builder, uint32_t member)
{
    const uint32_t *ranks = builder->graph->ranks, *first_of = builder->network->first_of;
    for (uint32_t m = 0; m < member; m++)
        if (first_of[ranks[m]] == first_of[ranks[member]])
            return m;
    return member;
}

static void keep_flow(struct builder *builder, struct class_flows *set, size_t number, size_t index,
                      const uint32_t *like)
{
    struct collective_phase_flow flow = collective_flow_at(set->all, index);
    size_t kept = set->flows.count++;
    set->number[kept] = index;
    set->from[kept] = builder->ranks.count + (uint32_t)(builder->kept % builder->side);
    set->to[kept] = builder->ranks.count + (uint32_t)(builder->side + builder->kept / builder->side);
    builder->kept++;
    add_route(builder, number, set->from[kept], set->to[kept]);
    set->flows.items[kept] = (struct collective_phase_flow){
        .from = like[flow.from], .to = like[flow.to], .phase = flow.phase, .steps = flow.steps, .share = flow.share};
    set->flows.phases = flow.phase + 1;
    set->flows.total += flow.share;
}

static void keep_set(struct builder *builder, struct class_flows *set, const struct collective_flows *all,
                     size_t first_flow, const uint32_t *like)
{
    struct arena *arena = builder->graph->arena;
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        count += !builder->taken[builder->flows.class_of[first_flow + i]];
    *set = (struct class_flows){.all = all,
                                .flows = {.items = arena_array(arena, count + 1, sizeof *set->flows.items),
                                          .start = all->start,
                                          .ends_apart = all->ends_apart},
                                .number = arena_array(arena, count + 1, sizeof *set->number),
                                .from = arena_array(arena, count + 1, sizeof *set->from),
                                .to = arena_array(arena, count + 1, sizeof *set->to)};
    for (size_t i = 0; i < all->count; i++) {
        uint32_t class = builder->flows.class_of[first_flow + i];
        if (builder->taken[class])
            continue;
        builder->taken[class] = true;
        keep_flow(builder, set, first_flow + i, i, like);
    }
}

static void keep_instance(struct builder *builder, const struct graph_owner *owner)
{
    struct class_graph *graph = builder->graph;
    const struct program *program = graph->program;
    const struct group *group = &program->groups[owner->group];
    uint32_t size = group_size(program, group), count;
    const struct collective_flows *const *sets = assignment_all_flows(program, owner->group, &count);
    struct class_instance *instance = arena_alloc(graph->arena, sizeof *instance);
    *instance = (struct class_instance){count, arena_array(graph->arena, count + (size_t)1, sizeof *instance->sets)};
    builder->network->instances[owner->group][owner->instance] = instance;
    group_ranks(program, group, owner->instance, graph->ranks);
    uint32_t *like = array_zeroed(size, sizeof *like);
    for (uint32_t m = 0; m < size; m++)
        like[m] = like_member(builder, m);
    size_t first = owner->first_flow;
    for (uint32_t set = 0; set < count; set++) {
        keep_set(builder, &instance->sets[set], sets[set], first, like);
        first += sets[set]->count;
    }
    free(like);
}

/* Of instances that are alike the first. */
static void keep_instances(struct builder *builder)
{
    struct class_graph *graph = builder->graph;
    const struct program *program = graph->program;
    builder->network->instances =
        arena_array(graph->arena, program->group_count + (size_t)1, sizeof *builder->network->instances);
    for (uint32_t group = 0; group < program->group_count; group++)
        builder->network->instances[group] =
            arena_array(graph->arena, group_instances(program, &program->groups[group]) + (size_t)1,
                        sizeof **builder->network->instances);
    struct class_numbering owners = class_graph_number(graph, class_graph_owner(graph, 0), graph->owner_count);
    for (size_t i = 0; i < graph->owner_count; i++)
        if (owners.first[owners.class_of[i]] == i)
            keep_instance(builder, &graph->owners[i]);
    class_numbering_finish(&owners);
}

/* ---- its hosts and links ---- */

static void make_hosts(struct builder *builder)
{
    struct class_graph *graph = builder->graph;
    struct platform *platform = &builder->network->platform;
    platform->host_count = builder->ranks.count + 2 * (uint32_t)builder->side;
    platform->hosts = arena_array(graph->arena, platform->host_count + (size_t)1, sizeof *platform->hosts);
    for (uint32_t i = 0; i < platform->host_count; i++) {
        bool rank = i < builder->ranks.count;
        uint32_t first = rank ? builder->ranks.first[i] : 0;
        platform->hosts[i] = (struct platform_host){
            .name = arena_print(graph->arena, "class %u", i),
            .node = "",
            .speed = rank ? graph->platform->hosts[graph->hosts[first]].speed : 1,
        };
    }
}

static void make_links(struct builder *builder)
{
    struct class_graph *graph = builder->graph;
    struct platform *platform = &builder->network->platform;
    platform->link_count = builder->links.count;
    platform->links = arena_array(graph->arena, platform->link_count + (size_t)1, sizeof *platform->links);
    for (uint32_t i = 0; i < platform->link_count; i++) {
        platform->links[i] = graph->platform->links[builder->links.first[i]];
        platform->links[i].name = arena_print(graph->arena, "links %u", i);
    }
}

/* Room for all routes that there can be. */
static void make_routes(struct builder *builder)
{
    struct class_graph *graph = builder->graph;
    struct routes *routes = arena_alloc(graph->arena, sizeof *routes);
    routes->places = 64;
    while (routes->places < 4 * ((size_t)builder->flows.count + 1))
        routes->places *= 2;
    routes->table = arena_array(graph->arena, routes->places, sizeof *routes->table);
    builder->routes = routes;
    builder->network->platform = (struct platform){.file = graph->platform->file,
                                                   .route = route_of_pair,
                                                   .reaches = always_reaches,
                                                   .weight = weight_of_pair,
                                                   .handle = routes};
}

static struct class_network *build(struct class_graph *graph)
{
    uint32_t ranks = graph->program->mesh->ranks;
    struct class_network *network = arena_alloc(graph->arena, sizeof *network);
    struct builder builder = {.graph = graph,
                              .network = network,
                              .ranks = class_graph_number(graph, 0, ranks),
                              .links =
                                  class_graph_number(graph, class_graph_link(graph, 0), graph->platform->link_count),
                              .flows = class_graph_number(graph, class_graph_flow(graph, 0), graph->flow_count)};
    *network = (struct class_network){.first_of = arena_array(graph->arena, ranks, sizeof(uint32_t)),
                                      .place_of = arena_array(graph->arena, ranks, sizeof(uint32_t)),
                                      .count = builder.ranks.count};
    for (uint32_t rank = 0; rank < ranks; rank++) {
        network->place_of[rank] = builder.ranks.class_of[rank];
        network->first_of[rank] = builder.ranks.first[builder.ranks.class_of[rank]];
    }
    builder.side = (size_t)ceil(sqrt((double)builder.flows.count + 1));
    builder.taken = array_zeroed(builder.flows.count, sizeof *builder.taken);
    make_routes(&builder);
    make_hosts(&builder);
    connect_messages(&builder);
    keep_instances(&builder);
    make_links(&builder);
    uint32_t *links = arena_array(graph->arena, builder.routes->link_count + 1, sizeof *links);
    if (builder.routes->link_count)
        memcpy(links, builder.routes->links, builder.routes->link_count * sizeof *links);
    free(builder.routes->links);
    builder.routes->links = links;
    free(builder.taken);
    class_numbering_finish(&builder.ranks);
    class_numbering_finish(&builder.links);
    class_numbering_finish(&builder.flows);
    return network;
}

struct class_network *class_network_create(const struct program *program, struct platform *platform,
                                           const uint32_t *hosts, struct arena *arena, char *reason, size_t size,
                                           bool *distinct)
{
    struct class_graph graph = class_graph_begin(program, platform, hosts, arena, reason, size);
    graph.latencies = true;
    struct class_network *network = NULL;
    if (class_graph_refine(&graph))
        network = build(&graph);
    *distinct = network && network->count == program->mesh->ranks;
    if (*distinct) {
        class_graph_refuse(&graph, "no two ranks are alike: hosts or routes differ");
        network = NULL;
    }
    class_graph_finish(&graph);
    return network;
}

uint32_t class_network_count(const struct program *program, struct platform *platform, const uint32_t *hosts,
                             struct arena *arena)
{
    char reason[256];
    struct class_graph graph = class_graph_begin(program, platform, hosts, arena, reason, sizeof reason);
    uint32_t count = 0;
    if (class_graph_refine(&graph)) {
        struct class_numbering ranks = class_graph_number(&graph, 0, program->mesh->ranks);
        count = ranks.count;
        class_numbering_finish(&ranks);
    }
    class_graph_finish(&graph);
    return count;
}
