/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/engines/class_graph.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "simulator/collectives/assignment.h"
#include "simulator/engines/class_part.h"
#include "simulator/engines/classes.h"
#include "simulator/engines/fold_links.h"
#include "simulator/engines/overlap.h"
#include "simulator/engines/precedence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More flows than this are not looked at one by one. */
enum { FLOWS_MAX = 1 << 22 };

enum edge { EDGE_FROM = 1, EDGE_TO, EDGE_STARTS, EDGE_ARRIVES, EDGE_CROSSES, EDGE_CARRIES, EDGE_OF, EDGE_HAS, EDGE_IN };

bool class_graph_refuse(struct class_graph *graph, const char *reason)
{
    snprintf(graph->reason, graph->reason_size, "%s", reason);
    return false;
}

/* ---- flows and their routes ---- */

/* Adds a flow of which all but its links is known. */
static void add_flow(struct class_graph *graph, struct graph_flow flow)
{
    struct platform_route route;
    uint32_t from = graph->hosts[flow.from], to = graph->hosts[flow.to];
    graph->platform->route(graph->platform, from, to, &route);
    graph->flows = bulk_grow(graph->flows, &graph->flow_capacity, graph->flow_count + 1, sizeof *graph->flows);
    graph->links =
        bulk_grow(graph->links, &graph->link_capacity, graph->link_count + route.link_count, sizeof *graph->links);
    if (route.link_count)
        memcpy(&graph->links[graph->link_count], route.links, route.link_count * sizeof *route.links);
    if (graph->latencies)
        flow.colour = classes_mix_latency(flow.colour, route.latency);
    flow.colour = refine_mix(flow.colour, platform_scope_of(graph->platform, from, to));
    flow.link_count = route.link_count;
    flow.first_link = graph->link_count;
    flow.latency = route.latency;
    graph->flows[graph->flow_count++] = flow;
    graph->link_count += route.link_count;
}

static void list_messages(struct class_graph *graph, const struct graph_part *part)
{
    const struct mesh *mesh = part->program->mesh;
    for (uint32_t rank = 0; rank < mesh->ranks; rank++) {
        const struct position *position = &part->program->positions[mesh->position_of[rank]];
        for (uint32_t i = 0; i < position->stream_count; i++)
            if (position->streams[i].type == OPERATION_SEND)
                add_flow(graph, (struct graph_flow){.from = part->first_rank + rank,
                                                    .to = part->first_rank + mesh_rank(mesh, position->streams[i].peer,
                                                                                       mesh->replica_of[rank]),
                                                    .owner = UINT32_MAX,
                                                    .colour = refine_mix(1, i)});
    }
}

static void list_set(struct class_graph *graph, const struct graph_part *part, const struct collective_flows *flows,
                     uint64_t colour)
{
    for (size_t i = 0; i < flows->count; i++) {
        struct collective_phase_flow flow = collective_flow_at(flows, i);
        uint64_t own = refine_mix(refine_mix(colour, flow.phase), flow.steps);
        own = flows->start == START_CHAIN ? refine_mix(own, i) : own;
        add_flow(graph, (struct graph_flow){.from = part->first_rank + graph->ranks[flow.from],
                                            .to = part->first_rank + graph->ranks[flow.to],
                                            .owner = (uint32_t)graph->owner_count - 1,
                                            .colour = refine_mix_number(own, flow.share),
                                            .together = flows->start == START_TOGETHER && !flows->ends_apart});
    }
}

static bool list_instance(struct class_graph *graph, uint32_t part, uint32_t group, uint32_t number)
{
    uint32_t count;
    const struct program *program = graph->parts[part].program;
    const struct collective_flows *const *sets = assignment_all_flows(program, group, &count);
    size_t flows = 0;
    for (uint32_t set = 0; set < count; set++)
        flows += sets[set]->count;
    if (graph->flow_count + flows > FLOWS_MAX)
        return class_graph_refuse(graph, "collectives have too many flows to look for equal ones");
    group_ranks(program, &program->groups[group], number, graph->ranks);
    graph->owners = bulk_grow(graph->owners, &graph->owner_capacity, graph->owner_count + 1, sizeof *graph->owners);
    graph->owners[graph->owner_count++] = (struct graph_owner){
        .part = part, .group = group, .instance = number, .first_flow = graph->flow_count, .flow_count = flows};
    for (uint32_t set = 0; set < count; set++)
        list_set(graph, &graph->parts[part], sets[set], refine_mix(refine_mix(2, group), set));
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

static bool list_groups(struct class_graph *graph, uint32_t part)
{
    const struct program *program = graph->parts[part].program;
    for (uint32_t group = 0; group < program->group_count; group++) {
        if (!program->groups[group].collective_count)
            continue;
        if (goes_by_members(program, group))
            return class_graph_refuse(graph, "members of a collective go on one by one");
        for (uint32_t i = 0; i < group_instances(program, &program->groups[group]); i++)
            if (!list_instance(graph, part, group, i))
                return false;
    }
    return true;
}

static bool list_parts(struct class_graph *graph)
{
    for (uint32_t i = 0; i < graph->part_count; i++) {
        struct graph_part *part = &graph->parts[i];
        part->first_flow = graph->flow_count;
        list_messages(graph, part);
        if (!list_groups(graph, i))
            return false;
        part->flow_count = graph->flow_count - part->first_flow;
    }
    return true;
}

/* ---- links that can bind ---- */

static bool drop_roomy(struct class_graph *graph)
{
    struct fold_links links;
    fold_links_init(&links, graph->platform);
    for (size_t i = 0; i < graph->flow_count; i++) {
        const struct graph_flow *flow = &graph->flows[i];
        struct platform_route route = {.link_count = flow->link_count, .links = &graph->links[flow->first_link]};
        fold_links_add(&links, &route, SLICE_NONE);
    }
    fold_links_finish(&links);
    bool known = true;
    for (size_t i = 0; i < graph->flow_count; i++) {
        struct graph_flow *flow = &graph->flows[i];
        uint32_t *own = &graph->links[flow->first_link], kept = 0;
        for (uint32_t k = 0; k < flow->link_count; k++) {
            known = known && graph->platform->links[own[k]].sharing != LINK_OTHER;
            if (!links.roomy[own[k]])
                own[kept++] = own[k];
        }
        flow->link_count = kept;
    }
    fold_links_destroy(&links);
    return known || class_graph_refuse(graph, "routes cross links that are neither shared nor fat pipes");
}

/* ---- the graph: ranks, links, flows, instances ---- */

uint32_t class_graph_link(const struct class_graph *graph, uint32_t link)
{
    return graph->rank_count + link;
}

uint32_t class_graph_flow(const struct class_graph *graph, size_t flow)
{
    return graph->rank_count + graph->platform->link_count + (uint32_t)flow;
}

uint32_t class_graph_owner(const struct class_graph *graph, size_t owner)
{
    return class_graph_flow(graph, graph->flow_count) + (uint32_t)owner;
}

static void add_ranks(struct class_graph *graph, const struct graph_part *part)
{
    for (uint32_t rank = 0; rank < part->program->mesh->ranks; rank++)
        refine_add_node(&graph->refine,
                        refine_mix(part->colour, classes_rank_colour(part->program, graph->platform,
                                                                     graph->hosts + part->first_rank, rank)));
}

static void add_owner(struct class_graph *graph, const struct graph_owner *owner)
{
    const struct graph_part *part = &graph->parts[owner->part];
    const struct group *group = &part->program->groups[owner->group];
    uint32_t size = group_size(part->program, group);
    group_ranks(part->program, group, owner->instance, graph->ranks);
    double share = overlap_share(graph->platform, graph->hosts + part->first_rank, graph->ranks, size);
    uint64_t colour = refine_mix(refine_mix(5, owner->group), owner->turn);
    uint32_t node = refine_add_node(&graph->refine, refine_mix_number(colour, share));
    for (uint32_t m = 0; m < size; m++)
        refine_add_pair(&graph->refine, node, part->first_rank + graph->ranks[m], EDGE_HAS, EDGE_IN);
}

static void add_nodes(struct class_graph *graph)
{
    for (uint32_t i = 0; i < graph->part_count; i++)
        add_ranks(graph, &graph->parts[i]);
    for (uint32_t link = 0; link < graph->platform->link_count; link++)
        refine_add_node(&graph->refine, refine_mix_number(refine_mix(3, graph->platform->links[link].sharing),
                                                          graph->platform->links[link].bandwidth));
    for (size_t i = 0; i < graph->flow_count; i++)
        refine_add_node(&graph->refine, refine_mix(4, graph->flows[i].colour));
    for (size_t i = 0; i < graph->owner_count; i++)
        add_owner(graph, &graph->owners[i]);
}

/* Flows that begin and end together depend on their instance, and ranks on it, whoever has which of them. */
static void add_edges(struct class_graph *graph)
{
    struct refine *refine = &graph->refine;
    for (size_t i = 0; i < graph->flow_count; i++) {
        const struct graph_flow *flow = &graph->flows[i];
        uint32_t node = class_graph_flow(graph, i);
        if (!flow->together) {
            refine_add_pair(refine, node, flow->from, EDGE_FROM, EDGE_STARTS);
            refine_add_pair(refine, node, flow->to, EDGE_TO, EDGE_ARRIVES);
        }
        if (flow->owner != UINT32_MAX)
            refine_add_pair(refine, node, class_graph_owner(graph, flow->owner), EDGE_OF, EDGE_OF);
        for (uint32_t k = 0; k < flow->link_count; k++)
            refine_add_pair(refine, node, class_graph_link(graph, graph->links[flow->first_link + k]), EDGE_CROSSES,
                            EDGE_CARRIES);
    }
}

bool class_graph_list(struct class_graph *graph)
{
    if (!list_parts(graph) || !drop_roomy(graph))
        return false;
    precedence_find(graph);
    if (graph->part_count > 1)
        precedence_find_parts(graph);
    return true;
}

bool class_graph_refine(struct class_graph *graph)
{
    refine_destroy(&graph->refine);
    graph->refine = (struct refine){0};
    add_nodes(graph);
    add_edges(graph);
    return refine_run(&graph->refine) ||
           class_graph_refuse(graph, "differences travel along too many ranks to look for equal ones");
}

struct class_graph class_graph_begin(const struct class_part *parts, uint32_t count, struct platform *platform,
                                     struct arena *arena, char *reason, size_t size)
{
    struct class_graph graph = {.parts = array_zeroed(count, sizeof *graph.parts),
                                .part_count = count,
                                .platform = platform,
                                .arena = arena,
                                .reason_size = size};
    uint32_t most = 0;
    graph.reason = reason;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t ranks = parts[i].program->mesh->ranks;
        graph.parts[i] = (struct graph_part){.program = parts[i].program,
                                             .first_rank = graph.rank_count,
                                             .colour = count > 1 ? class_part_colour(&parts[i], platform) : 0};
        graph.rank_count += ranks;
        most = ranks > most ? ranks : most;
    }
    graph.hosts = array_zeroed(graph.rank_count, sizeof *graph.hosts);
    graph.ranks = array_zeroed(most, sizeof *graph.ranks);
    for (uint32_t i = 0; i < count; i++)
        memcpy(graph.hosts + graph.parts[i].first_rank, parts[i].hosts,
               parts[i].program->mesh->ranks * sizeof *graph.hosts);
    return graph;
}

void class_graph_finish(struct class_graph *graph)
{
    refine_destroy(&graph->refine);
    bulk_free(graph->flows, graph->flow_capacity * sizeof *graph->flows);
    bulk_free(graph->links, graph->link_capacity * sizeof *graph->links);
    bulk_free(graph->owners, graph->owner_capacity * sizeof *graph->owners);
    free(graph->parts);
    free(graph->hosts);
    free(graph->ranks);
}

/* ---- classes ---- */

struct class_numbering class_graph_number(const struct class_graph *graph, uint32_t first, size_t count)
{
    const uint64_t *colours = &graph->refine.colours[first];
    size_t places = 16;
    while (places < 2 * count)
        places *= 2;
    uint32_t *table = array_zeroed(places, sizeof *table); /* class, counted from 1 */
    struct class_numbering numbering = {.class_of = array_zeroed(count, sizeof(uint32_t)),
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

void class_numbering_finish(struct class_numbering *numbering)
{
    free(numbering->class_of);
    free(numbering->size);
    free(numbering->first);
}
