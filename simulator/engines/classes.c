/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/engines/classes.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "simulator/collectives/assignment.h"
#include "simulator/engines/overlap.h"
#include "simulator/engines/refine.h"
#include "simulator/program/stream_route.h"

#include <stdlib.h>

/* What an edge of the graph stands for. */
enum edge { EDGE_SENDS = 1, EDGE_RECEIVES, EDGE_MEMBER, EDGE_INSTANCE, EDGE_FLOW_OUT, EDGE_FLOW_IN };

struct finder {
    const struct program *program;
    struct platform *platform;
    const uint32_t *hosts;
    struct refine refine;
    bool overlaps, latencies;
    /* Links of a route are numbered in the order in which they are met. */
    uint32_t *met_in, *number_of; /* [link] */
    uint32_t epoch, met;
    uint32_t *ranks; /* scratch: of an instance */
};

/* ---- ranks ---- */

uint64_t classes_rank_colour(const struct program *program, const struct platform *platform, const uint32_t *hosts,
                             uint32_t rank)
{
    const struct mesh *mesh = program->mesh;
    uint64_t colour = refine_mix(1, mesh->position_of[rank]);
    colour = refine_mix_number(colour, platform->hosts[hosts[rank]].speed);
    for (uint32_t i = 0; i < program->variation_count; i++) {
        const struct variation *variation = &program->variations[i];
        uint32_t coordinate = mesh_coordinate(mesh, variation->axes, mesh->replica_of[rank]);
        colour = refine_mix_number(colour, variation->factors[coordinate]);
    }
    return colour;
}

static uint64_t mix_latency(const struct finder *finder, uint64_t hash, double latency)
{
    return finder->latencies ? classes_mix_latency(hash, latency) : hash;
}

static void add_messages(struct finder *finder, uint32_t rank)
{
    const struct mesh *mesh = finder->program->mesh;
    const struct position *position = &finder->program->positions[mesh->position_of[rank]];
    for (uint32_t i = 0; i < position->stream_count; i++) {
        const struct stream *stream = &position->streams[i];
        if (stream->type != OPERATION_SEND)
            continue;
        uint32_t peer = mesh_rank(mesh, stream->peer, mesh->replica_of[rank]);
        struct platform_route route;
        stream_route(finder->program, finder->platform, finder->hosts, rank, stream, &route);
        uint64_t label = refine_mix_number(mix_latency(finder, i, route.latency), route.bandwidth);
        refine_add_pair(&finder->refine, rank, peer, refine_mix(EDGE_SENDS, label), refine_mix(EDGE_RECEIVES, label));
    }
}

/* ---- collectives ---- */

static void forget_links(struct finder *finder)
{
    finder->epoch++;
    finder->met = 0;
}

static uint64_t mix_link(struct finder *finder, uint64_t hash, uint32_t link)
{
    const struct platform_link *description = &finder->platform->links[link];
    if (finder->met_in[link] != finder->epoch) {
        finder->met_in[link] = finder->epoch;
        finder->number_of[link] = finder->met++;
        hash = refine_mix_number(refine_mix(hash, description->sharing), description->bandwidth);
    }
    return refine_mix(hash, finder->number_of[link]);
}

static uint64_t mix_route(struct finder *finder, uint64_t hash, uint32_t from, uint32_t to, bool shares)
{
    struct platform_route route;
    finder->platform->route(finder->platform, finder->hosts[from], finder->hosts[to], &route);
    hash = refine_mix_number(mix_latency(finder, hash, route.latency), route.bandwidth);
    hash = refine_mix(hash, platform_scope_of(finder->platform, finder->hosts[from], finder->hosts[to]));
    for (uint32_t i = 0; shares && i < route.link_count; i++)
        hash = mix_link(finder, hash, route.links[i]);
    return hash;
}

/* Where members begin by and by, who waits for whom. */
static void add_partners(struct finder *finder, const struct collective_flows *flows,
                         const struct collective_phase_flow *flow, uint64_t label)
{
    uint32_t from = finder->ranks[flow->from], to = finder->ranks[flow->to];
    label = refine_mix(label, flow->phase);
    if (finder->overlaps || flows->ends_apart)
        label = refine_mix_number(mix_route(finder, label, from, to, false), flow->share * flow->steps);
    refine_add_pair(&finder->refine, from, to, refine_mix(EDGE_FLOW_OUT, label), refine_mix(EDGE_FLOW_IN, label));
}

/* How long flows take on the instance's hosts follows from what is mixed in here. A link is shared by the flows of one
 * phase only where they begin together, and otherwise by those of one collective. */
static uint64_t mix_flows(struct finder *finder, uint64_t hash, const struct collective_flows *flows)
{
    forget_links(finder);
    for (size_t i = 0, end = 0; i < flows->count; i++) {
        struct collective_phase_flow flow = collective_flow_at(flows, i);
        if (i == end && flows->start == START_TOGETHER)
            forget_links(finder);
        end = i == end ? collective_phase_end(flows, i) : end;
        hash = mix_route(finder, hash, finder->ranks[flow.from], finder->ranks[flow.to], flow.share > 0);
    }
    return hash;
}

/* Of an all-to-all everybody waits for everybody. */
static void add_all_partners(struct finder *finder, const struct collective_flows *flows, uint64_t label)
{
    if (flows->start == START_TOGETHER || flows->all_to_all)
        return;
    for (size_t i = 0; i < flows->count; i++)
        add_partners(finder, flows, &flows->items[i], label);
}

static void add_instance(struct finder *finder, uint32_t group, uint32_t number)
{
    const struct program *program = finder->program;
    const struct group *description = &program->groups[group];
    uint32_t size = group_size(program, description), count;
    const struct collective_flows *const *sets = assignment_all_flows(program, group, &count);
    bool ordered = false, apart = false;
    group_ranks(program, description, number, finder->ranks);
    uint64_t colour = refine_mix(2, group);
    colour = refine_mix_number(colour, overlap_share(finder->platform, finder->hosts, finder->ranks, size));
    for (uint32_t set = 0; set < count; set++) {
        if (group_instances(program, description) > 1) /* otherwise there is nothing to compare */
            colour = mix_flows(finder, colour, sets[set]);
        add_all_partners(finder, sets[set], refine_mix(group, set));
        ordered |= sets[set]->start != START_TOGETHER;
        apart |= sets[set]->ends_apart;
    }
    uint32_t node = refine_add_node(&finder->refine, colour);
    for (uint32_t m = 0; m < size; m++)
        refine_add_pair(&finder->refine, node, finder->ranks[m], refine_mix(EDGE_MEMBER, ordered ? m : 0),
                        refine_mix(EDGE_INSTANCE, apart ? m : 0));
}

/* ---- the partition ---- */

static void add_all(struct finder *finder)
{
    const struct program *program = finder->program;
    for (uint32_t rank = 0; rank < program->mesh->ranks; rank++)
        refine_add_node(&finder->refine, classes_rank_colour(program, finder->platform, finder->hosts, rank));
    for (uint32_t rank = 0; rank < program->mesh->ranks; rank++)
        add_messages(finder, rank);
    for (uint32_t group = 0; group < program->group_count; group++)
        for (uint32_t i = 0;
             program->groups[group].collective_count && group_size(program, &program->groups[group]) > 1 &&
             i < group_instances(program, &program->groups[group]);
             i++)
            add_instance(finder, group, i);
}

struct coloured {
    uint64_t colour;
    uint32_t rank;
};

static int by_colour(const void *left, const void *right)
{
    const struct coloured *a = left, *b = right;
    if (a->colour != b->colour)
        return a->colour < b->colour ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Returns the number of classes. */
static uint32_t list_first(const struct refine *refine, uint32_t ranks, uint32_t *first_of)
{
    struct coloured *sorted = array_zeroed(ranks, sizeof *sorted);
    uint32_t count = 0;
    for (uint32_t rank = 0; rank < ranks; rank++)
        sorted[rank] = (struct coloured){refine->colours[rank], rank};
    qsort(sorted, ranks, sizeof *sorted, by_colour);
    for (uint32_t i = 0, first = 0; i < ranks; i++) {
        if (i == 0 || sorted[i].colour != sorted[first].colour) {
            first = i;
            count++;
        }
        first_of[sorted[i].rank] = sorted[first].rank;
    }
    free(sorted);
    return count;
}

static uint32_t partition(struct finder *finder, uint32_t *first_of)
{
    finder->refine = (struct refine){0};
    add_all(finder);
    uint32_t ranks = finder->program->mesh->ranks, count = ranks;
    if (refine_run(&finder->refine))
        count = list_first(&finder->refine, ranks, first_of);
    else
        for (uint32_t rank = 0; rank < ranks; rank++)
            first_of[rank] = rank;
    refine_destroy(&finder->refine);
    return count;
}

struct classes classes_without_contention(const struct program *program, struct platform *platform,
                                          const uint32_t *hosts, bool latencies, struct arena *arena)
{
    uint32_t ranks = program->mesh->ranks;
    struct finder finder = {.program = program,
                            .platform = platform,
                            .hosts = hosts,
                            .overlaps = platform->library.overlap_node > 0 || platform->library.overlap_network > 0,
                            .latencies = latencies,
                            .met_in = array_zeroed(platform->link_count, sizeof *finder.met_in),
                            .number_of = array_zeroed(platform->link_count, sizeof *finder.number_of),
                            .ranks = array_zeroed(ranks, sizeof *finder.ranks)};
    struct classes classes = {.first_of = arena_array(arena, ranks, sizeof *classes.first_of)};
    classes.count = partition(&finder, classes.first_of);
    free(finder.met_in);
    free(finder.number_of);
    free(finder.ranks);
    return classes;
}
