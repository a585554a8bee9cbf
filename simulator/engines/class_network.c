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
    struct class_network *networks; /* [part] */
    struct class_numbering ranks, links, flows;
    uint32_t *part_of; /* [rank] */
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
    for (size_t i = 0; i < graph->flow_count; i++) {
        const struct graph_flow *flow = &graph->flows[i];
        uint32_t class = builder->ranks.class_of[flow->from];
        if (flow->owner == UINT32_MAX && builder->ranks.first[class] == flow->from)
            add_route(builder, i, class, builder->ranks.class_of[flow->to]);
    }
}

/* The first member that is alike. */
static uint32_t like_member(const struct builder *builder, const struct graph_owner *owner, uint32_t member)
{
    const uint32_t *ranks = builder->graph->ranks, *first_of = builder->networks[owner->part].first_of;
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
    const struct program *program = graph->parts[owner->part].program;
    const struct group *group = &program->groups[owner->group];
    uint32_t size = group_size(program, group), count;
    const struct collective_flows *const *sets = assignment_all_flows(program, owner->group, &count);
    struct class_instance *instance = arena_alloc(graph->arena, sizeof *instance);
    *instance = (struct class_instance){count, arena_array(graph->arena, count + (size_t)1, sizeof *instance->sets)};
    builder->networks[owner->part].instances[owner->group][owner->instance] = instance;
    group_ranks(program, group, owner->instance, graph->ranks);
    uint32_t *like = array_zeroed(size, sizeof *like);
    for (uint32_t m = 0; m < size; m++)
        like[m] = like_member(builder, owner, m);
    size_t first = owner->first_flow;
    for (uint32_t set = 0; set < count; set++) {
        keep_set(builder, &instance->sets[set], sets[set], first, like);
        first += sets[set]->count;
    }
    free(like);
}

static void make_instances(struct builder *builder, uint32_t part)
{
    struct arena *arena = builder->graph->arena;
    const struct program *program = builder->graph->parts[part].program;
    struct class_network *network = &builder->networks[part];
    network->instances = arena_array(arena, program->group_count + (size_t)1, sizeof *network->instances);
    for (uint32_t group = 0; group < program->group_count; group++)
        network->instances[group] = arena_array(arena, group_instances(program, &program->groups[group]) + (size_t)1,
                                                sizeof **network->instances);
}

/* Of instances that are alike the first. */
static void keep_instances(struct builder *builder)
{
    struct class_graph *graph = builder->graph;
    for (uint32_t part = 0; part < graph->part_count; part++)
        make_instances(builder, part);
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
    struct platform *platform = &builder->networks->platform;
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
    struct platform *platform = &builder->networks->platform;
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
    builder->networks->platform = (struct platform){.file = graph->platform->file,
                                                    .route = route_of_pair,
                                                    .reaches = always_reaches,
                                                    .weight = weight_of_pair,
                                                    .handle = routes};
}

/* ---- parts ---- */

/* Numbers the ranks of a part by their classes. */
static void number_part(const struct builder *builder, uint32_t index)
{
    const struct class_graph *graph = builder->graph;
    const struct graph_part *part = &graph->parts[index];
    struct class_network *network = &builder->networks[index];
    uint32_t ranks = part->program->mesh->ranks;
    uint32_t *seen = array_zeroed(builder->ranks.count, sizeof *seen); /* the first of the class, and 1 */
    *network = (struct class_network){.first_of = arena_array(graph->arena, ranks, sizeof(uint32_t)),
                                      .place_of = arena_array(graph->arena, ranks, sizeof(uint32_t))};
    for (uint32_t rank = 0; rank < ranks; rank++) {
        uint32_t class = builder->ranks.class_of[part->first_rank + rank];
        if (!seen[class]) {
            seen[class] = rank + 1;
            network->count++;
        }
        network->place_of[rank] = class;
        network->first_of[rank] = seen[class] - 1;
    }
    free(seen);
}

/* The part of the first ranks of its classes; its own number where these are of several, and *mixed then. */
static uint32_t like_part(const struct builder *builder, uint32_t index, bool *mixed)
{
    const struct graph_part *part = &builder->graph->parts[index];
    const uint32_t *place_of = builder->networks[index].place_of;
    uint32_t like = builder->part_of[builder->ranks.first[place_of[0]]];
    bool one = builder->networks[like].count == builder->networks[index].count;
    for (uint32_t rank = 0; rank < part->program->mesh->ranks; rank++)
        one = one && builder->part_of[builder->ranks.first[place_of[rank]]] == like;
    *mixed |= !one;
    return one ? like : index;
}

/* Which parts are simulated for which. False: some are alike in some of their ranks only. */
static bool compare_parts(struct builder *builder)
{
    const struct class_graph *graph = builder->graph;
    bool mixed = false;
    builder->part_of = arena_array(graph->arena, graph->rank_count + (size_t)1, sizeof *builder->part_of);
    for (uint32_t i = 0; i < graph->part_count; i++) {
        for (uint32_t rank = 0; rank < graph->parts[i].program->mesh->ranks; rank++)
            builder->part_of[graph->parts[i].first_rank + rank] = i;
        number_part(builder, i);
    }
    for (uint32_t i = 0; i < graph->part_count; i++)
        builder->networks[i].like = like_part(builder, i, &mixed);
    return !mixed;
}

/* ---- all ---- */

static void number_classes(struct builder *builder)
{
    struct class_graph *graph = builder->graph;
    builder->ranks = class_graph_number(graph, 0, graph->rank_count);
    builder->links = class_graph_number(graph, class_graph_link(graph, 0), graph->platform->link_count);
    builder->flows = class_graph_number(graph, class_graph_flow(graph, 0), graph->flow_count);
}

static void forget_classes(struct builder *builder)
{
    class_numbering_finish(&builder->ranks);
    class_numbering_finish(&builder->links);
    class_numbering_finish(&builder->flows);
}

static void build(struct builder *builder)
{
    builder->side = (size_t)ceil(sqrt((double)builder->flows.count + 1));
    builder->taken = array_zeroed(builder->flows.count, sizeof *builder->taken);
    make_routes(builder);
    make_hosts(builder);
    connect_messages(builder);
    keep_instances(builder);
    make_links(builder);
    for (uint32_t i = 1; i < builder->graph->part_count; i++)
        builder->networks[i].platform = builder->networks->platform;
    free(builder->taken);
}

/* False: there are none, for a reason that is given. */
static bool find_classes(struct builder *builder)
{
    struct class_graph *graph = builder->graph;
    for (bool again = true;; again = false) {
        if (!class_graph_refine(graph))
            return false;
        number_classes(builder);
        if (compare_parts(builder))
            return true;
        forget_classes(builder);
        if (!again)
            return class_graph_refuse(graph, "jobs are alike in some of their ranks only");
        for (uint32_t i = 0; i < graph->part_count; i++)
            graph->parts[i].colour = refine_mix(graph->parts[i].colour, i);
    }
}

static bool find_again(struct builder *builder, bool even)
{
    builder->graph->even = even;
    precedence_find(builder->graph);
    forget_classes(builder);
    return find_classes(builder);
}

/* Fewer turns, fewer classes. */
static bool find_few(struct builder *builder, struct class_turns *turns)
{
    struct class_graph *graph = builder->graph;
    graph->even = !turns->most;
    bool found = class_graph_list(graph) && find_classes(builder);
    uint32_t before = found ? builder->ranks.count : 0;
    if (found && !graph->even && before > turns->most)
        found = find_again(builder, true) && (builder->ranks.count < before / 2 || find_again(builder, false));
    turns->even = graph->even && (found || !turns->most);
    return found;
}

struct class_network *class_network_create(const struct class_part *parts, uint32_t count, struct platform *platform,
                                           struct class_turns *turns, struct arena *arena, char *reason, size_t size,
                                           bool *distinct)
{
    struct class_graph graph = class_graph_begin(parts, count, platform, arena, reason, size);
    graph.latencies = true;
    struct builder builder = {.graph = &graph, .networks = arena_array(arena, count, sizeof *builder.networks)};
    bool found = find_few(&builder, turns);
    *distinct = found && builder.ranks.count == graph.rank_count;
    if (*distinct)
        class_graph_refuse(&graph, "no two ranks are alike: hosts or routes differ");
    else if (found)
        build(&builder);
    if (found)
        forget_classes(&builder);
    class_graph_finish(&graph);
    return found && !*distinct ? builder.networks : NULL;
}

uint32_t class_network_count(const struct class_part *part, struct platform *platform, struct arena *arena)
{
    char reason[256];
    struct class_graph graph = class_graph_begin(part, 1, platform, arena, reason, sizeof reason);
    uint32_t count = 0;
    if (class_graph_list(&graph) && class_graph_refine(&graph)) {
        struct class_numbering ranks = class_graph_number(&graph, 0, graph.rank_count);
        count = ranks.count;
        class_numbering_finish(&ranks);
    }
    class_graph_finish(&graph);
    return count;
}
