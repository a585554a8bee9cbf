/* SPDX-License-Identifier: Apache-2.0 */
/* Ring: every rank hands a block to its successor in each step; a reduce-scatter, an all-gather, or one after the
 * other. P. Patarasuk, X. Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, JPDC 69 (2009).
 */
#include "simulator/collectives/algorithm.h"

#include "base/arena.h"

#include <stdlib.h>

/* A broadcast and a reduction go once around the rings in small chunks, from the root or to it. */
enum { CHUNKS = 16 };

static bool is_rooted(enum stagesim_collective kind)
{
    return kind == STAGESIM_BROADCAST || kind == STAGESIM_REDUCE;
}

/* 2 when the ring is gone round twice. */
static uint32_t turns(enum stagesim_collective kind)
{
    return kind == STAGESIM_ALL_REDUCE || kind == STAGESIM_BARRIER ? 2 : 1;
}

static double seconds(const struct collective_shape *shape, enum stagesim_collective kind, double bytes,
                      const struct collective_costs *costs)
{
    if (is_rooted(kind))
        return (shape->ranks - 2.0 + CHUNKS) *
               (costs->alpha + bytes / CHUNKS * (costs->beta + (kind == STAGESIM_REDUCE ? costs->gamma : 0)));
    double steps = (double)turns(kind) * (shape->ranks - 1), block = bytes / shape->ranks;
    double reduced = kind == STAGESIM_ALL_GATHER ? 0 : block * (shape->ranks - 1);
    return steps * (costs->alpha + block * costs->beta) + reduced * costs->gamma;
}

/* Over several nodes there are as many rings as ranks of a node, each of which leaves a node through another rank, so
 * that all network interfaces share the load; each carries its part of the data. Ring j enters the first node at local
 * rank j, passes all ranks of the node, along direct links where there are any, and goes on from the last one to the
 * same local rank of the next node. */
static bool has_nodes(const struct collective_shape *shape)
{
    return shape->node_size > 1 && shape->node_size < shape->ranks;
}

static uint32_t ring_count(const struct collective_shape *shape)
{
    return has_nodes(shape) ? shape->node_size : shape->rings ? shape->rings->count : 1;
}

/* The local rank at a place behind the one where a ring enters a node. */
static uint32_t local_at(const struct collective_shape *shape, uint32_t enters, uint32_t place)
{
    return shape->rings ? shape->rings->path[enters][place] : (enters + place) % shape->node_size;
}

/* [node * node_size + ring]: the local rank where the ring enters the node; NULL without nodes. */
static uint32_t *find_entries(const struct collective_shape *shape)
{
    uint32_t size = shape->node_size;
    uint32_t *entries = has_nodes(shape) ? array_zeroed(shape->ranks, sizeof *entries) : NULL;
    for (uint32_t rank = 0; entries && rank < shape->ranks; rank++)
        entries[rank] = rank < size ? rank : local_at(shape, entries[rank - size], size - 1);
    return entries;
}

/* The rank at a place of a ring. */
static uint32_t rank_at(const struct collective_shape *shape, const uint32_t *entries, uint32_t ring, uint32_t place)
{
    if (!entries)
        return shape->rings ? shape->rings->order[ring][place] : place;
    uint32_t size = shape->node_size, node = place / size;
    return node * size + local_at(shape, entries[node * size + ring], place % size);
}

/* Every place hands the block of the place `back` behind it to the next one; rank r owns block r of each ring. */
static void add_round(const struct collective_shape *shape, const uint32_t *entries, struct collective_steps *steps,
                      uint32_t round, bool reduces, uint32_t back)
{
    uint32_t ranks = shape->ranks, rings = ring_count(shape);
    for (uint32_t ring = 0; ring < rings; ring++)
        for (uint32_t place = 0; place < ranks; place++)
            steps_add(steps, round, rank_at(shape, entries, ring, place),
                      rank_at(shape, entries, ring, (place + 1) % ranks), reduces,
                      rank_at(shape, entries, ring, (place + ranks - back) % ranks) * rings + ring, 1);
}

/* Of a broadcast from rank 0, or a reduction to it, along one ring. */
static void add_chain(const struct collective_shape *shape, const uint32_t *entries, struct collective_steps *steps,
                      uint32_t ring, bool reduces)
{
    uint32_t ranks = shape->ranks, root = 0;
    while (rank_at(shape, entries, ring, root) != 0)
        root++;
    for (uint32_t hop = 0; hop < ranks - 1; hop++)
        for (uint32_t chunk = 0; chunk < CHUNKS; chunk++)
            steps_add(steps, hop + chunk, rank_at(shape, entries, ring, (root + hop + reduces) % ranks),
                      rank_at(shape, entries, ring, (root + hop + 1 + reduces) % ranks), reduces, ring * CHUNKS + chunk,
                      1);
}

static void chains(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_steps *steps)
{
    uint32_t *entries = find_entries(shape), rings = ring_count(shape);
    steps_cut(steps, rings * CHUNKS, rings * CHUNKS);
    for (uint32_t ring = 0; ring < rings; ring++)
        add_chain(shape, entries, steps, ring, kind == STAGESIM_REDUCE);
    free(entries);
}

static void steps(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_steps *steps)
{
    if (is_rooted(kind)) {
        chains(shape, kind, steps);
        return;
    }
    uint32_t ranks = shape->ranks, blocks = ranks * ring_count(shape), round = 0;
    uint32_t *entries = find_entries(shape);
    steps_cut(steps, blocks, blocks);
    for (uint32_t step = 0; step < ranks - 1 && kind != STAGESIM_ALL_GATHER; step++, round++)
        add_round(shape, entries, steps, round, true, step + 1);
    for (uint32_t step = 0; step < ranks - 1 && kind != STAGESIM_REDUCE_SCATTER; step++, round++)
        add_round(shape, entries, steps, round, false, step);
    free(entries);
}

/* Flows between the members of a node, each of which sends `share` altogether: to the next one, or along the rings over
 * their links. */
static void within_node(const struct collective_shape *shape, uint32_t phase, uint32_t first, double share,
                        uint32_t steps, struct collective_flows *flows)
{
    uint32_t size = has_nodes(shape) ? shape->node_size : shape->ranks;
    for (uint32_t from = 0; from < size; from++)
        for (uint32_t to = 0; to < size && shape->rings; to++) {
            uint32_t rings = direct_rings_from_to(shape->rings, from, to);
            if (rings)
                collective_flows_add(flows, phase, first + from, first + to, share * rings / shape->rings->count,
                                     steps);
        }
    for (uint32_t from = 0; from < size && !shape->rings; from++)
        collective_flows_add(flows, phase, first + from, first + (from + 1) % size, share, steps);
}

/* The edge by which a ring leaves a node. */
struct crossing {
    uint32_t from, to;
};

static struct crossing crossing_of(const struct collective_shape *shape, uint32_t node, uint32_t ring)
{
    uint32_t size = shape->node_size, nodes = shape->ranks / size, rings = exits_count(shape->exits, size),
             next = (node + 1) % nodes, leaves = (ring + 2 * rings - 1 - node % rings) % rings,
             enters = next ? leaves : ring;
    return (struct crossing){node * size + exits_at(shape->exits, node, leaves),
                             next * size + exits_at(shape->exits, next, enters)};
}

/* Where interfaces are down there are fewer rings. The start-ups within nodes come first, as a flow of no bytes: a
 * block passes edges of both kinds one after the other.
 */
static void rings_over_nodes(const struct collective_shape *shape, double share, uint32_t turn,
                             struct collective_flows *flows)
{
    uint32_t size = shape->node_size, nodes = shape->ranks / size, rings = exits_count(shape->exits, size);
    collective_flows_add(flows, 0, 0, 1, 0, turn * (shape->ranks - nodes));
    for (uint32_t node = 0; node < nodes; node++)
        within_node(shape, 1, node * size, share * (size - 1) / size, 1, flows);
    for (uint32_t node = 0; node < nodes; node++)
        for (uint32_t ring = 0; ring < rings; ring++) {
            struct crossing way = crossing_of(shape, node, ring);
            collective_flows_add(flows, 1, way.from, way.to, share / rings, turn * (nodes - 1));
        }
}

/* An edge of a broadcast or a reduction; none goes back to the root, or away from it. */
static void add_edge(struct collective_flows *flows, bool reduces, uint32_t from, uint32_t to, double share,
                     uint32_t steps)
{
    if ((reduces ? from : to) != 0)
        collective_flows_add(flows, 1, from, to, share, steps);
}

/* Along each ring a chain from the root or to it, with its part of the data. */
static void chains_over_nodes(const struct collective_shape *shape, bool reduces, struct collective_flows *flows)
{
    uint32_t size = shape->node_size, nodes = shape->ranks / size, rings = exits_count(shape->exits, size);
    collective_flows_add(flows, 0, 0, 1, 0, shape->ranks - nodes);
    for (uint32_t node = 0; node < nodes; node++) {
        if (shape->rings)
            within_node(shape, 1, node * size, (size - 1.0) / size, 1, flows);
        for (uint32_t from = 0; from < size && !shape->rings; from++)
            add_edge(flows, reduces, node * size + from, node * size + (from + 1) % size, (size - 1.0) / size, 1);
    }
    for (uint32_t node = 0; node < nodes; node++)
        for (uint32_t ring = 0; ring < rings; ring++) {
            struct crossing way = crossing_of(shape, node, ring);
            add_edge(flows, reduces, way.from, way.to, 1.0 / rings, nodes - 1);
        }
}

static void flows(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_flows *flows)
{
    if (is_rooted(kind)) {
        chains_over_nodes(shape, kind == STAGESIM_REDUCE, flows);
        return;
    }
    uint32_t ranks = shape->ranks, count = turns(kind) * (ranks - 1);
    double share = (double)count / ranks;
    if (has_nodes(shape)) {
        rings_over_nodes(shape, share, turns(kind), flows);
        return;
    }
    within_node(shape, 0, 0, share, count, flows);
}

static const char *refuses(const struct collective_shape *shape, enum stagesim_collective kind)
{
    return is_rooted(kind) && !has_nodes(shape)
               ? "broadcasts and reduces over nodes of several ranks each; expected chain"
               : NULL;
}

const struct collective_algorithm algorithm_ring = {
    .name = "ring",
    .summary =
        "neighbours in rank order, or over the links between them; over several nodes one ring for each rank of a "
        "node",
    .source = "Patarasuk, Yuan 2009",
    .kinds = KIND(STAGESIM_ALL_REDUCE) | KIND(STAGESIM_REDUCE_SCATTER) | KIND(STAGESIM_ALL_GATHER) |
             KIND(STAGESIM_BARRIER) | KIND(STAGESIM_BROADCAST) | KIND(STAGESIM_REDUCE),
    .automatic = true,
    .crosses = true,
    .refuses = refuses,
    .seconds = seconds,
    .steps = steps,
    .flows = flows,
};
