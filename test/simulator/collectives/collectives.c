/* SPDX-License-Identifier: Apache-2.0 */
/* Every algorithm: where each rank's contribution goes, and times against the formulas of the literature, written down
 * here once more. */
#include "base/arena.h"
#include "platforms/library.h"
#include "simulator/collectives/algorithm.h"
#include "simulator/collectives/communicator.h"
#include "simulator/program/program.h"
#include "test/support/shapes.h"
#include "test/support/steps_evaluate.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_CHECKED = 33 };

/* ---- contributions ---- */

/* sets[rank * blocks + block]: the ranks whose contribution is in what `rank` has of a block. Rank `ranks` is the
 * switch. */
static uint64_t initial(const struct collective_shape *shape, enum stagesim_collective kind, uint32_t blocks,
                        uint32_t rank, uint32_t block)
{
    uint32_t ranks = shape->ranks;
    bool has = rank < ranks;
    if (kind == STAGESIM_ALL_GATHER || kind == STAGESIM_ALL_TO_ALL || kind == STAGESIM_SEND_RECEIVE)
        has = has && block / (blocks / ranks) == rank;
    else if (kind == STAGESIM_BROADCAST)
        has = has && rank == 0;
    return has ? 1ull << rank : 0;
}

/* What it has to have in the end; 0: anything. */
static uint64_t wanted(const struct collective_shape *shape, enum stagesim_collective kind, uint32_t blocks,
                       uint32_t rank, uint32_t block)
{
    uint32_t ranks = shape->ranks, owner = block / (blocks / ranks > 0 ? blocks / ranks : 1);
    uint64_t all = (1ull << ranks) - 1;
    switch (kind) {
    case STAGESIM_ALL_REDUCE:
    case STAGESIM_BARRIER:
        return all;
    case STAGESIM_REDUCE_SCATTER:
        return owner == rank ? all : 0;
    case STAGESIM_ALL_GATHER:
        return 1ull << owner;
    case STAGESIM_ALL_TO_ALL:
        return block % ranks == rank ? 1ull << owner : 0;
    case STAGESIM_SEND_RECEIVE:
        return (owner + 1) % ranks == rank ? 1ull << owner : 0;
    case STAGESIM_BROADCAST:
        return 1;
    default:
        return rank == 0 ? all : 0;
    }
}

static void carry(const struct collective_steps *steps, const struct collective_transfer *transfer,
                  const uint64_t *before, uint64_t *sets, const char *name)
{
    for (size_t piece = transfer->first; piece < transfer->first + transfer->pieces; piece++)
        for (uint32_t i = 0; i < steps->pieces[piece].count; i++) {
            uint32_t block = steps->pieces[piece].first + i;
            uint64_t sent = before[(size_t)transfer->from * steps->blocks + block];
            uint64_t *kept = &sets[(size_t)transfer->to * steps->blocks + block];
            cr_assert(sent, "%s: round %u sends a block that rank %u does not have", name, transfer->round,
                      transfer->from);
            cr_assert(!transfer->reduces || !(*kept & sent), "%s: round %u adds a contribution twice", name,
                      transfer->round);
            *kept = transfer->reduces ? *kept | sent : sent;
        }
}

static void check_contributions(const struct collective_algorithm *algorithm, const struct collective_shape *shape,
                                enum stagesim_collective kind)
{
    struct collective_steps steps = {0};
    algorithm->steps(shape, kind, &steps);
    steps_sort(&steps);
    size_t count = (size_t)(shape->ranks + 1) * steps.blocks;
    uint64_t *sets = calloc(count, sizeof *sets), *before = calloc(count, sizeof *before);
    for (size_t i = 0; i < count; i++)
        sets[i] = initial(shape, kind, steps.blocks, (uint32_t)(i / steps.blocks), (uint32_t)(i % steps.blocks));
    for (size_t i = 0; i < steps.count;) {
        memcpy(before, sets, count * sizeof *sets);
        for (uint32_t round = steps.transfers[i].round; i < steps.count && steps.transfers[i].round == round; i++)
            carry(&steps, &steps.transfers[i], before, sets, algorithm->name);
    }
    for (size_t i = 0; i < (size_t)shape->ranks * steps.blocks; i++) {
        uint64_t want = wanted(shape, kind, steps.blocks, (uint32_t)(i / steps.blocks), (uint32_t)(i % steps.blocks));
        cr_assert(!want || sets[i] == want, "%s %s, %u ranks: rank %zu has %llx of block %zu, not %llx",
                  algorithm->name, collective_name(kind), shape->ranks, i / steps.blocks, (unsigned long long)sets[i],
                  i % steps.blocks, (unsigned long long)want);
    }
    free(sets);
    free(before);
    steps_finish(&steps);
}

Test(collectives, every_rank_ends_with_every_contribution)
{
    for (uint32_t ranks = 2; ranks <= RANKS_CHECKED; ranks++)
        shapes_for_each(ranks, check_contributions);
}

/* Over nodes whose four GPUs are all joined, rings go along the links. */
Test(collectives, rings_along_links_over_nodes)
{
    uint32_t links[16];
    struct direct_rings rings;
    for (uint32_t i = 0; i < 16; i++)
        links[i] = i % 5 ? 2 : 0;
    direct_rings_search(links, 4, &rings);
    direct_rings_find_paths(links, &rings);
    for (uint32_t ranks = 8; ranks <= 32; ranks += 4) {
        const struct collective_shape shape = {.ranks = ranks, .node_size = 4, .rings = &rings};
        check_contributions(&algorithm_ring, &shape, STAGESIM_ALL_REDUCE);
        check_contributions(&algorithm_ring, &shape, STAGESIM_REDUCE_SCATTER);
        check_contributions(&algorithm_ring, &shape, STAGESIM_ALL_GATHER);
    }
}

/* ---- flows and steps ---- */

/* What goes from each rank to each other one is the same in flows and steps. */
static void check_bytes(const struct collective_algorithm *algorithm, const struct collective_shape *shape,
                        enum stagesim_collective kind)
{
    if (algorithm == &algorithm_in_network || algorithm == &algorithm_switch_tree)
        return; /* the switch sends as well */
    struct collective_steps steps = {0};
    struct collective_flows flows;
    algorithm->steps(shape, kind, &steps);
    collective_flows_init(&flows, algorithm, shape, kind, false);
    double sum = 0, sent[RANKS_CHECKED][RANKS_CHECKED] = {{0}};
    for (size_t i = 0; i < steps.count; i++) {
        sum += steps_bytes(&steps, &steps.transfers[i], 1);
        sent[steps.transfers[i].from][steps.transfers[i].to] += steps_bytes(&steps, &steps.transfers[i], 1);
    }
    cr_assert(fabs(sum - flows.total) <= 1e-9 * sum, "%s %s, %u ranks: %g, %g", algorithm->name, collective_name(kind),
              shape->ranks, sum, flows.total);
    for (size_t i = 0; i < flows.count; i++)
        sent[collective_flow_at(&flows, i).from][collective_flow_at(&flows, i).to] -=
            collective_flow_at(&flows, i).share;
    for (uint32_t rank = 0; rank < shape->ranks; rank++)
        for (uint32_t to = 0; to < shape->ranks; to++)
            cr_assert(fabs(sent[rank][to]) <= 1e-9 * sum,
                      "%s %s, %u ranks, %u a node: rank %u sends %g more to %u in steps", algorithm->name,
                      collective_name(kind), shape->ranks, shape->node_size, rank, sent[rank][to], to);
    collective_flows_finish(&flows);
    steps_finish(&steps);
}

Test(collectives, flows_send_what_steps_send)
{
    for (uint32_t ranks = 2; ranks <= RANKS_CHECKED; ranks++)
        shapes_for_each(ranks, check_bytes);
}

/* ---- ranks spread over nodes ---- */

enum { RANKS_SPREAD = 10 };

static void no_route(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route)
{
    (void)platform, (void)from, (void)to;
    *route = (struct platform_route){.latency = 1, .bandwidth = 1};
}

/* The shape of ranks of which `begins` says, a bit for each rank, where another node begins. */
static struct collective_shape spread_shape(uint32_t ranks, uint32_t begins, struct arena *arena)
{
    struct platform platform = {
        .host_count = ranks, .hosts = arena_array(arena, ranks, sizeof *platform.hosts), .route = no_route};
    uint32_t hosts[RANKS_SPREAD], node = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        node += begins >> rank & 1;
        platform.hosts[rank].node = arena_print(arena, "node-%u", node);
        hosts[rank] = rank;
    }
    return communicator_shape_of(&platform, hosts, ranks);
}

/* Ranks of each node; 0: not equally many. */
static uint32_t equal_size(uint32_t ranks, uint32_t begins)
{
    uint32_t size = 0, first = 0;
    for (uint32_t rank = 1; rank <= ranks; rank++) {
        if (rank < ranks && !(begins >> rank & 1))
            continue;
        if (size && size != rank - first)
            return 0;
        size = rank - first;
        first = rank;
    }
    return size;
}

/* All ways of cutting up to ten ranks into nodes, of equally many ranks or not. */
Test(collectives, ranks_spread_over_nodes)
{
    uint32_t equal = 0, unequal = 0;
    struct arena *arena = arena_create();
    for (uint32_t ranks = 2; ranks <= RANKS_SPREAD; ranks++)
        for (uint32_t begins = 0; begins < 1u << ranks; begins += 2) {
            struct collective_shape shape = spread_shape(ranks, begins, arena);
            uint32_t size = equal_size(ranks, begins);
            bool several = size > 1 && size < ranks;
            equal += several;
            unequal += size == 0;
            cr_assert_eq(shape.node_size, size, "%u ranks, nodes begin at %x: %u a node", ranks, begins,
                         shape.node_size);
            for (int kind = 0; kind < STAGESIM_COLLECTIVES; kind++)
                for (const struct collective_algorithm *const *each = collective_algorithms; *each; each++) {
                    const char *refusal = collective_algorithm_refuses(*each, &shape, (enum stagesim_collective)kind);
                    bool there = (*each)->kinds >> kind & 1;
                    cr_assert(*each != &algorithm_double_tree || !there || !refusal,
                              "double-tree wants no certain nodes");
                    cr_assert(*each != &algorithm_hierarchical || !there || !refusal == several,
                              "%u ranks, nodes begin at %x: %s", ranks, begins, refusal ? refusal : "hierarchical");
                    if (refusal)
                        continue;
                    check_contributions(*each, &shape, (enum stagesim_collective)kind);
                    check_bytes(*each, &shape, (enum stagesim_collective)kind);
                }
        }
    cr_assert(equal >= 8 && unequal > 900, "%u ways with equal nodes, %u with others", equal, unequal);
    arena_destroy(arena);
}

/* A transfer between nodes joins ranks of equal place, in the trees and in the hierarchical ones. */
static void check_places(const struct collective_algorithm *algorithm, const struct collective_shape *shape,
                         enum stagesim_collective kind)
{
    uint32_t size = shape->node_size;
    if (size < 2 || (algorithm != &algorithm_double_tree && algorithm != &algorithm_hierarchical))
        return;
    struct collective_steps steps = {0};
    algorithm->steps(shape, kind, &steps);
    uint64_t across = 0;
    for (size_t i = 0; i < steps.count; i++) {
        const struct collective_transfer *transfer = &steps.transfers[i];
        bool leaves = transfer->from / size != transfer->to / size;
        across += leaves;
        cr_assert(!leaves || transfer->from % size == transfer->to % size, "%s: %u to %u, %u a node", algorithm->name,
                  transfer->from, transfer->to, size);
    }
    cr_assert(across > 0 && across < steps.count, "%s: %llu of %zu transfers leave a node", algorithm->name,
              (unsigned long long)across, steps.count);
    steps_finish(&steps);
}

Test(collectives, equal_places_across_nodes)
{
    for (uint32_t ranks = 2; ranks <= RANKS_CHECKED; ranks++)
        shapes_for_each(ranks, check_places);
}
