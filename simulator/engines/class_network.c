/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/engines/class_network.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "simulator/collectives/assignment.h"
#include "simulator/engines/classes.h"
#include "simulator/engines/fold_links.h"
#include "simulator/engines/overlap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More flows than this are not looked at one by one. */
enum { FLOWS_MAX = 1 << 22 };

enum edge { EDGE_FROM = 1, EDGE_TO, EDGE_STARTS, EDGE_ARRIVES, EDGE_CROSSES, EDGE_CARRIES, EDGE_OF, EDGE_HAS, EDGE_IN };

/* A message stream of a rank, or a flow of an instance of a group. */
struct flow {
    uint32_t from, to; /* ranks */
    uint32_t owner;    /* number of the instance among all, UINT32_MAX: a message */
    uint32_t link_count;
    size_t first_link; /* into links; those that can bind */
    double latency;
    uint64_t colour;
};

struct owner {
    uint32_t group, instance;
    size_t first_flow, flow_count; /* of all sets, one after the other */
};

struct finder {
    const struct program *program;
    struct platform *platform;
    const uint32_t *hosts;
    struct arena *arena;
    struct flow *flows;
    size_t flow_count, flow_capacity;
    uint32_t *links;
    size_t link_count, link_capacity;
    struct owner *owners;
    size_t owner_count, owner_capacity;
    size_t message_count; /* of the flows, they come first */
    struct refine refine;
    uint32_t *ranks; /* scratch: of an instance */
    char *reason;
    size_t reason_size;
    bool latencies; /* routes that differ in one are not alike */
};

static bool refuse(struct finder *finder, const char *reason)
{
    snprintf(finder->reason, finder->reason_size, "%s", reason);
    return false;
}

/* ---- flows and their routes ---- */

static void add_flow(struct finder *finder, uint32_t from, uint32_t to, uint32_t owner, uint64_t colour)
{
    struct platform_route route;
    finder->platform->route(finder->platform, finder->hosts[from], finder->hosts[to], &route);
    finder->flows = bulk_grow(finder->flows, &finder->flow_capacity, finder->flow_count + 1, sizeof *finder->flows);
    finder->links =
        bulk_grow(finder->links, &finder->link_capacity, finder->link_count + route.link_count, sizeof *finder->links);
    if (route.link_count)
        memcpy(&finder->links[finder->link_count], route.links, route.link_count * sizeof *route.links);
    if (finder->latencies)
        colour = classes_mix_latency(colour, route.latency);
    colour = refine_mix(colour, platform_scope_of(finder->platform, finder->hosts[from], finder->hosts[to]));
    finder->flows[finder->flow_count++] = (struct flow){.from = from,
                                                        .to = to,
                                                        .owner = owner,
                                                        .link_count = route.link_count,
                                                        .first_link = finder->link_count,
                                                        .latency = route.latency,
                                                        .colour = colour};
    finder->link_count += route.link_count;
}

static void list_messages(struct finder *finder)
{
    const struct mesh *mesh = finder->program->mesh;
    for (uint32_t rank = 0; rank < mesh->ranks; rank++) {
        const struct position *position = &finder->program->positions[mesh->position_of[rank]];
        for (uint32_t i = 0; i < position->stream_count; i++)
            if (position->streams[i].type == OPERATION_SEND)
                add_flow(finder, rank, mesh_rank(mesh, position->streams[i].peer, mesh->replica_of[rank]), UINT32_MAX,
                         refine_mix(1, i));
    }
    finder->message_count = finder->flow_count;
}

static void list_set(struct finder *finder, const struct collective_flows *flows, uint64_t colour)
{
    for (size_t i = 0; i < flows->count; i++) {
        struct collective_phase_flow flow = collective_flow_at(flows, i);
        uint64_t own = refine_mix(refine_mix(colour, flow.phase), flow.steps);
        own = flows->start == START_CHAIN ? refine_mix(own, i) : own;
        add_flow(finder, finder->ranks[flow.from], finder->ranks[flow.to], (uint32_t)finder->owner_count - 1,
                 refine_mix_number(own, flow.share));
    }
}

static bool list_instance(struct finder *finder, uint32_t group, uint32_t number)
{
    uint32_t count;
    const struct collective_flows *const *sets = assignment_all_flows(finder->program, group, &count);
    size_t flows = 0;
    for (uint32_t set = 0; set < count; set++)
        flows += sets[set]->count;
    if (finder->flow_count + flows > FLOWS_MAX)
        return refuse(finder, "collectives have too many flows to look for equal ones");
    group_ranks(finder->program, &finder->program->groups[group], number, finder->ranks);
    finder->owners =
        bulk_grow(finder->owners, &finder->owner_capacity, finder->owner_count + 1, sizeof *finder->owners);
    finder->owners[finder->owner_count++] = (struct owner){group, number, finder->flow_count, flows};
    for (uint32_t set = 0; set < count; set++)
        list_set(finder, sets[set], refine_mix(refine_mix(2, group), set));
    return true;
}

static bool goes_by_members(const struct program *program, uint32_t group)
{
    uint32_t count;
    const struct collective_flows *const *sets = assignment_all_flows(program, group, &count);
    for (uint32_t set = 0; set < count; set++)
        if (collective_goes_by_members(sets[set]))
            return true;
    return false;
}

static bool list_groups(struct finder *finder)
{
    const struct program *program = finder->program;
    for (uint32_t group = 0; group < program->group_count; group++) {
        if (!program->groups[group].collective_count)
            continue;
        if (goes_by_members(program, group))
            return refuse(finder, "members of a collective go on one by one");
        for (uint32_t i = 0; i < group_instances(program, &program->groups[group]); i++)
            if (!list_instance(finder, group, i))
                return false;
    }
    return true;
}

/* ---- links that can bind ---- */

static bool drop_roomy(struct finder *finder)
{
    struct fold_links links;
    fold_links_init(&links, finder->platform);
    for (size_t i = 0; i < finder->flow_count; i++) {
        const struct flow *flow = &finder->flows[i];
        struct platform_route route = {.link_count = flow->link_count, .links = &finder->links[flow->first_link]};
        fold_links_add(&links, &route, SLICE_NONE);
    }
    fold_links_finish(&links);
    bool known = true;
    for (size_t i = 0; i < finder->flow_count; i++) {
        struct flow *flow = &finder->flows[i];
        uint32_t *own = &finder->links[flow->first_link], kept = 0;
        for (uint32_t k = 0; k < flow->link_count; k++) {
            known = known && finder->platform->links[own[k]].sharing != LINK_OTHER;
            if (!links.roomy[own[k]])
                own[kept++] = own[k];
        }
        flow->link_count = kept;
    }
    fold_links_destroy(&links);
    return known || refuse(finder, "routes cross links that are neither shared nor fat pipes");
}

/* ---- the graph: ranks, links, flows, instances ---- */

static uint32_t link_node(const struct finder *finder, uint32_t link)
{
    return finder->program->mesh->ranks + link;
}

static uint32_t flow_node(const struct finder *finder, size_t flow)
{
    return finder->program->mesh->ranks + finder->platform->link_count + (uint32_t)flow;
}

static uint32_t owner_node(const struct finder *finder, size_t owner)
{
    return flow_node(finder, finder->flow_count) + (uint32_t)owner;
}

static void add_nodes(struct finder *finder)
{
    struct refine *refine = &finder->refine;
    for (uint32_t rank = 0; rank < finder->program->mesh->ranks; rank++)
        refine_add_node(refine, classes_rank_colour(finder->program, finder->platform, finder->hosts, rank));
    for (uint32_t link = 0; link < finder->platform->link_count; link++)
        refine_add_node(refine, refine_mix_number(refine_mix(3, finder->platform->links[link].sharing),
                                                  finder->platform->links[link].bandwidth));
    for (size_t i = 0; i < finder->flow_count; i++)
        refine_add_node(refine, refine_mix(4, finder->flows[i].colour));
    for (size_t i = 0; i < finder->owner_count; i++) {
        const struct owner *owner = &finder->owners[i];
        const struct group *group = &finder->program->groups[owner->group];
        group_ranks(finder->program, group, owner->instance, finder->ranks);
        double share =
            overlap_share(finder->platform, finder->hosts, finder->ranks, group_size(finder->program, group));
        uint32_t node = refine_add_node(refine, refine_mix_number(refine_mix(5, owner->group), share));
        for (uint32_t m = 0; m < group_size(finder->program, group); m++)
            refine_add_pair(refine, node, finder->ranks[m], EDGE_HAS, EDGE_IN);
    }
}

static void add_edges(struct finder *finder)
{
    struct refine *refine = &finder->refine;
    for (size_t i = 0; i < finder->flow_count; i++) {
        const struct flow *flow = &finder->flows[i];
        uint32_t node = flow_node(finder, i);
        refine_add_pair(refine, node, flow->from, EDGE_FROM, EDGE_STARTS);
        refine_add_pair(refine, node, flow->to, EDGE_TO, EDGE_ARRIVES);
        if (flow->owner != UINT32_MAX)
            refine_add_pair(refine, node, owner_node(finder, flow->owner), EDGE_OF, EDGE_OF);
        for (uint32_t k = 0; k < flow->link_count; k++)
            refine_add_pair(refine, node, link_node(finder, finder->links[flow->first_link + k]), EDGE_CROSSES,
                            EDGE_CARRIES);
    }
}

/* ---- classes ---- */

/* Classes of nodes that follow each other, numbered as they come. */
struct numbering {
    uint32_t *class_of, *size, *first; /* [node], [class], [class] */
    uint32_t count;
};

static struct numbering number_classes(const struct finder *finder, uint32_t first, size_t count)
{
    const uint64_t *colours = &finder->refine.colours[first];
    size_t places = 16;
    while (places < 2 * count)
        places *= 2;
    uint32_t *table = array_zeroed(places, sizeof *table); /* class, counted from 1 */
    struct numbering numbering = {.class_of = array_zeroed(count, sizeof(uint32_t)),
                                  .size = array_zeroed(count, sizeof(uint32_t)),
                                  .first = array_zeroed(count, sizeof(uint32_t))};
    for (size_t i = 0; i < count; i++) {
        size_t place = (size_t)colours[i] & (places - 1);
        while (table[place] && colours[numbering.first[table[place] - 1]] != colours[i])
            place = (place + 1) & (places - 1);
        if (!table[place]) {
            numbering.first[numbering.count] = (uint32_t)i;
            table[place] = ++numbering.count;
        }
        numbering.class_of[i] = table[place] - 1;
        numbering.size[table[place] - 1]++;
    }
    free(table);
    return numbering;
}

static void numbering_free(struct numbering *numbering)
{
    free(numbering->class_of);
    free(numbering->size);
    free(numbering->first);
}

/* ---- the network of classes ---- */

struct pair_route {
    uint64_t pair; /* from << 32 | to, and 1: 0 is none */
    double latency;
    size_t first;
    uint32_t count;
};

struct routes {
    struct pair_route *table;
    size_t places, count;
    uint32_t *links;
    size_t link_count, link_capacity;
};

struct builder {
    struct finder *finder;
    struct class_network *network;
    struct numbering ranks, links, flows;
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

static bool always_reaches(struct platform *platform, uint32_t from, uint32_t to)
{
    (void)platform, (void)from, (void)to;
    return true;
}

/* Every route begins with a link of its own, which is never full: SimGrid looks at the first link of a flow to find out
 * what changes when it begins, and overlooks the others if another flow has begun there at the same moment.
 *
 * A flow of the class crosses one link of that class as often as any other of its flows does; all together load each
 * link of the class with so many. */
static void list_links(struct builder *builder, const struct flow *flow, uint32_t class, struct pair_route *route)
{
    struct routes *routes = builder->routes;
    const uint32_t *own = &builder->finder->links[flow->first_link];
    route->first = routes->link_count;
    routes->links = array_grow(routes->links, &routes->link_capacity, routes->link_count + 1, sizeof *routes->links);
    routes->links[routes->link_count++] = builder->links.count + (uint32_t)routes->count++;
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
    const struct flow *flow = &builder->finder->flows[number];
    struct pair_route *route = find_pair(builder->routes, from, to);
    if (route->count)
        return; /* another stream of messages to the same rank */
    route->latency = flow->latency;
    list_links(builder, flow, builder->flows.class_of[number], route);
}

static void connect_messages(struct builder *builder)
{
    const struct finder *finder = builder->finder;
    for (size_t i = 0; i < finder->message_count; i++) {
        const struct flow *flow = &finder->flows[i];
        if (builder->network->first_of[flow->from] == flow->from)
            add_route(builder, i, builder->ranks.class_of[flow->from], builder->ranks.class_of[flow->to]);
    }
}

/* The first member that is alike. */
static uint32_t like_member(const struct builder *builder, uint32_t member)
{
    const uint32_t *ranks = builder->finder->ranks, *first_of = builder->network->first_of;
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
    struct arena *arena = builder->finder->arena;
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

static void keep_instance(struct builder *builder, const struct owner *owner)
{
    struct finder *finder = builder->finder;
    const struct program *program = finder->program;
    const struct group *group = &program->groups[owner->group];
    uint32_t size = group_size(program, group), count;
    const struct collective_flows *const *sets = assignment_all_flows(program, owner->group, &count);
    struct class_instance *instance = arena_alloc(finder->arena, sizeof *instance);
    *instance = (struct class_instance){count, arena_array(finder->arena, count + (size_t)1, sizeof *instance->sets)};
    builder->network->instances[owner->group][owner->instance] = instance;
    group_ranks(program, group, owner->instance, finder->ranks);
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
    struct finder *finder = builder->finder;
    const struct program *program = finder->program;
    builder->network->instances =
        arena_array(finder->arena, program->group_count + (size_t)1, sizeof *builder->network->instances);
    for (uint32_t group = 0; group < program->group_count; group++)
        builder->network->instances[group] =
            arena_array(finder->arena, group_instances(program, &program->groups[group]) + (size_t)1,
                        sizeof **builder->network->instances);
    struct numbering owners = number_classes(finder, owner_node(finder, 0), finder->owner_count);
    for (size_t i = 0; i < finder->owner_count; i++)
        if (owners.first[owners.class_of[i]] == i)
            keep_instance(builder, &finder->owners[i]);
    numbering_free(&owners);
}

/* ---- its hosts and links ---- */

static void make_hosts(struct builder *builder)
{
    struct finder *finder = builder->finder;
    struct platform *platform = &builder->network->platform;
    platform->host_count = builder->ranks.count + 2 * (uint32_t)builder->side;
    platform->hosts = arena_array(finder->arena, platform->host_count + (size_t)1, sizeof *platform->hosts);
    for (uint32_t i = 0; i < platform->host_count; i++) {
        bool rank = i < builder->ranks.count;
        uint32_t first = rank ? builder->ranks.first[i] : 0;
        platform->hosts[i] = (struct platform_host){
            .name = arena_print(finder->arena, "class %u", i),
            .node = "",
            .speed = rank ? finder->platform->hosts[finder->hosts[first]].speed : 1,
        };
    }
}

/* First those of classes, then the first ones of routes. */
static void make_links(struct builder *builder)
{
    struct finder *finder = builder->finder;
    struct platform *platform = &builder->network->platform;
    uint32_t classes = builder->links.count;
    platform->link_count = classes + (uint32_t)builder->routes->count;
    platform->links = arena_array(finder->arena, platform->link_count + (size_t)1, sizeof *platform->links);
    double fastest = 1;
    for (uint32_t i = 0; i < classes; i++) {
        platform->links[i] = finder->platform->links[builder->links.first[i]];
        fastest = fmax(fastest, platform->links[i].bandwidth);
    }
    for (uint32_t i = 0; i < platform->link_count; i++) {
        if (i >= classes)
            platform->links[i] = (struct platform_link){.bandwidth = 1e3 * fastest, .sharing = LINK_SHARED};
        platform->links[i].name = arena_print(finder->arena, "links %u", i);
    }
}

/* Room for all routes that there can be. */
static void make_routes(struct builder *builder)
{
    struct finder *finder = builder->finder;
    struct routes *routes = arena_alloc(finder->arena, sizeof *routes);
    routes->places = 64;
    while (routes->places < 4 * ((size_t)builder->flows.count + 1))
        routes->places *= 2;
    routes->table = arena_array(finder->arena, routes->places, sizeof *routes->table);
    builder->routes = routes;
    builder->network->platform = (struct platform){
        .file = finder->platform->file, .route = route_of_pair, .reaches = always_reaches, .handle = routes};
}

static struct class_network *build(struct finder *finder)
{
    uint32_t ranks = finder->program->mesh->ranks;
    struct class_network *network = arena_alloc(finder->arena, sizeof *network);
    struct builder builder = {.finder = finder,
                              .network = network,
                              .ranks = number_classes(finder, 0, ranks),
                              .links = number_classes(finder, link_node(finder, 0), finder->platform->link_count),
                              .flows = number_classes(finder, flow_node(finder, 0), finder->flow_count)};
    *network = (struct class_network){.first_of = arena_array(finder->arena, ranks, sizeof(uint32_t)),
                                      .place_of = arena_array(finder->arena, ranks, sizeof(uint32_t)),
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
    uint32_t *links = arena_array(finder->arena, builder.routes->link_count + 1, sizeof *links);
    if (builder.routes->link_count)
        memcpy(links, builder.routes->links, builder.routes->link_count * sizeof *links);
    free(builder.routes->links);
    builder.routes->links = links;
    free(builder.taken);
    numbering_free(&builder.ranks);
    numbering_free(&builder.links);
    numbering_free(&builder.flows);
    return network;
}

static void finder_destroy(struct finder *finder)
{
    refine_destroy(&finder->refine);
    bulk_free(finder->flows, finder->flow_capacity * sizeof *finder->flows);
    bulk_free(finder->links, finder->link_capacity * sizeof *finder->links);
    bulk_free(finder->owners, finder->owner_capacity * sizeof *finder->owners);
    free(finder->ranks);
}

/* The coarsest partition of the graph; false: there is none, for a reason that is given. */
static bool refine(struct finder *finder)
{
    list_messages(finder);
    if (!list_groups(finder) || !drop_roomy(finder))
        return false;
    add_nodes(finder);
    add_edges(finder);
    return refine_run(&finder->refine) ||
           refuse(finder, "differences travel along too many ranks to look for equal ones");
}

struct class_network *class_network_create(const struct program *program, struct platform *platform,
                                           const uint32_t *hosts, struct arena *arena, char *reason, size_t size,
                                           bool *distinct)
{
    struct finder finder = {.program = program,
                            .platform = platform,
                            .hosts = hosts,
                            .arena = arena,
                            .ranks = array_zeroed(program->mesh->ranks, sizeof(uint32_t)),
                            .reason_size = size,
                            .latencies = true};
    finder.reason = reason;
    struct class_network *network = NULL;
    if (refine(&finder))
        network = build(&finder);
    *distinct = network && network->count == program->mesh->ranks;
    if (*distinct) {
        refuse(&finder, "no two ranks are alike: hosts or routes differ");
        network = NULL;
    }
    finder_destroy(&finder);
    return network;
}

uint32_t class_network_count(const struct program *program, struct platform *platform, const uint32_t *hosts,
                             struct arena *arena)
{
    char reason[256];
    struct finder finder = {.program = program,
                            .platform = platform,
                            .hosts = hosts,
                            .arena = arena,
                            .ranks = array_zeroed(program->mesh->ranks, sizeof(uint32_t)),
                            .reason = reason,
                            .reason_size = sizeof reason};
    uint32_t count = 0;
    if (refine(&finder)) {
        struct numbering ranks = number_classes(&finder, 0, program->mesh->ranks);
        count = ranks.count;
        numbering_free(&ranks);
    }
    finder_destroy(&finder);
    return count;
}
