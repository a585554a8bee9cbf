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

enum { RANKS_CHECKED = 33, RANKS_TIMED = 64 };

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

/* ---- closed forms ---- */

static const struct collective_costs costs = {3e-6, 1e-9, 2e-10, 1e-6, 2e-10};

static double log2_up(uint32_t ranks)
{
    return ceil(log2(ranks));
}

/* All-reduce, reduce-scatter or all-gather by a ring. */
static double ring_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    double p = shape->ranks;
    double turns = kind == STAGESIM_ALL_REDUCE || kind == STAGESIM_BARRIER ? 2 : 1,
           reduces = kind != STAGESIM_ALL_GATHER;
    return turns * (p - 1) * costs.alpha + turns * (p - 1) / p * S * costs.beta +
           reduces * (p - 1) / p * S * costs.gamma;
}

static double halving_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    uint32_t p = shape->ranks;
    double log = floor(log2(p)), q = pow(2, log), data = (q - 1) / q * S;
    double spare = p > q ? 2 * (costs.alpha + S * costs.beta) + S * costs.gamma : 0;
    if (kind == STAGESIM_ALL_REDUCE)
        return 2 * log * costs.alpha + 2 * data * costs.beta + data * costs.gamma + spare;
    return log * costs.alpha + data * (costs.beta + (kind == STAGESIM_REDUCE_SCATTER ? costs.gamma : 0));
}

static double hierarchical_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    double g = shape->node_size, k = shape->ranks / g, turns = kind == STAGESIM_ALL_REDUCE ? 2 : 1;
    double moved = turns * ((g - 1) / g * S * costs.node_beta + (k - 1) / k * (S / g) * costs.beta);
    double reduced = kind == STAGESIM_ALL_GATHER ? 0 : ((g - 1) / g * S + (k - 1) / k * S / g) * costs.gamma;
    return moved + reduced + turns * ((g - 1) * costs.node_alpha + (k - 1) * costs.alpha);
}

static double bruck_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    (void)kind;
    uint32_t p = shape->ranks;
    double sum = 0; /* for powers of two: log2 p (alpha + S/2 beta) */
    for (uint32_t bit = 1; bit < p; bit *= 2) {
        uint32_t moved = 0;
        for (uint32_t distance = 0; distance < p; distance++)
            moved += (distance & bit) != 0;
        sum += costs.alpha + S * moved / p * costs.beta;
    }
    return sum;
}

/* Equal dimensions only: all parts are in step. NaN otherwise. */
static double torus_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    (void)kind;
    double X = 0, count = 0, left = S;
    for (int i = 0; i < TORUS_DIMENSIONS; i++) {
        double size = shape->dimensions[i];
        if (size > 1 && X > 0 && size != X)
            return NAN;
        X = size > 1 ? size : X;
        count += size > 1;
    }
    double sum = 0;
    left /= 2 * count;
    for (int i = 0; i < count; i++, left /= X)
        sum += 2 * ((X - 1) * costs.alpha + (X - 1) / X * left * costs.beta) + (X - 1) / X * left * costs.gamma;
    return sum;
}

static double recursive_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    uint32_t p = shape->ranks;
    double down = floor(log2(p)), whole = costs.alpha + S * costs.beta;
    if (kind == STAGESIM_ALL_GATHER)
        return log2_up(p) * costs.alpha + (p - 1.0) / p * S * costs.beta;
    return down * (whole + S * costs.gamma) + (log2_up(p) > down ? 2 * whole + S * costs.gamma : 0);
}

static double tree_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    (void)kind;
    return shape->ranks < 4 ? NAN : 2 * log2_up(shape->ranks) * costs.alpha + 2 * S * costs.beta;
}

static double binomial_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    return log2_up(shape->ranks) * (costs.alpha + S * (costs.beta + (kind == STAGESIM_REDUCE ? costs.gamma : 0)));
}

static double chain_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    return (shape->ranks - 2 + 16) *
           (costs.alpha + S / 16 * (costs.beta + (kind == STAGESIM_REDUCE ? costs.gamma : 0)));
}

static double pairs_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    (void)kind;
    return (shape->ranks - 1) * (costs.alpha + S / shape->ranks * costs.beta);
}

/* One message: send-receive, and a switch that adds and multiplies. */
static double once_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    (void)kind, (void)shape;
    return costs.alpha + S * costs.beta;
}

/* Within nodes S + S/g pass each port, between them each of the two trees has half of S/g. */
static double switch_tree_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    (void)kind;
    double g = shape->node_size, k = shape->ranks / g;
    double load = fmin(k / 2, 2); /* a node's part in both trees: 1, 3/2, 2 */
    return costs.node_alpha + 2 * log2_up((uint32_t)k) * costs.alpha +
           fmax((1 + 1 / g) * S * costs.node_beta, load * S / g * costs.beta);
}

static double bruck_gather_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    (void)kind;
    return log2_up(shape->ranks) * costs.alpha + (shape->ranks - 1.0) / shape->ranks * S * costs.beta;
}

/* What each algorithm is held to, for ranks with one port each. A formula that is NaN: none for this shape. */
struct reference {
    const char *algorithm;
    uint32_t kinds;
    double (*seconds)(enum stagesim_collective kind, const struct collective_shape *shape, double S);
};

static const struct reference references[] = {
    {"ring", ~0u, ring_formula},
    {"double-tree", ~0u, tree_formula},
    {"in-network", ~0u, once_formula},
    {"switch-tree", ~0u, switch_tree_formula},
    {"torus", ~0u, torus_formula},
    {"recursive-doubling", ~0u, recursive_formula},
    {"halving-doubling", ~0u, halving_formula},
    {"hierarchical", ~0u, hierarchical_formula},
    {"chain", ~0u, chain_formula},
    {"binomial", ~0u, binomial_formula},
    {"direct", KIND(STAGESIM_ALL_TO_ALL), pairs_formula},
    {"direct", KIND(STAGESIM_SEND_RECEIVE), once_formula},
    {"pairwise", ~0u, pairs_formula},
    {"bruck", KIND(STAGESIM_ALL_GATHER), bruck_gather_formula},
    {"bruck", KIND(STAGESIM_ALL_TO_ALL), bruck_formula},
};

enum { REFERENCES = sizeof references / sizeof *references };

/* An algorithm without one is a failure. */
static double formula(const struct collective_algorithm *algorithm, const struct collective_shape *shape,
                      enum stagesim_collective kind, double S)
{
    const struct reference *found = NULL;
    for (size_t i = 0; i < REFERENCES; i++)
        if (!strcmp(references[i].algorithm, algorithm->name) && references[i].kinds & KIND(kind))
            found = &references[i];
    cr_assert(found, "%s has no reference for %s: write its formula into this test", algorithm->name,
              collective_name(kind));
    return found->seconds(kind, shape, S);
}

Test(collectives, references_are_of_algorithms)
{
    for (size_t i = 0; i < REFERENCES; i++)
        cr_assert(collective_algorithm_find(references[i].algorithm), "%s", references[i].algorithm);
}

static void uniform_edge(void *user, uint32_t from, uint32_t to, double *alpha, double *beta)
{
    const struct collective_shape *shape = user;
    bool inside = shape->node_size && from / shape->node_size == to / shape->node_size;
    *alpha = inside ? costs.node_alpha : costs.alpha;
    *beta = inside ? costs.node_beta : costs.beta;
}

static double evaluate(const struct collective_algorithm *algorithm, const struct collective_shape *shape,
                       enum stagesim_collective kind, double bytes)
{
    struct collective_steps steps = {0};
    double ends[RANKS_TIMED];
    struct collective_shape copy = *shape;
    if (algorithm != &algorithm_hierarchical)
        copy.node_size = 0;
    algorithm->steps(&copy, kind, &steps);
    steps_sort(&steps);
    double end = steps_evaluate(&steps, shape->ranks, bytes, &(struct steps_network){uniform_edge, &copy, costs.gamma},
                                NULL, ends);
    steps_finish(&steps);
    return end;
}

static void check_times(const struct collective_algorithm *algorithm, const struct collective_shape *shape,
                        enum stagesim_collective kind)
{
    static const double sizes[] = {8, 1e8};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double S = sizes[i], seconds = algorithm->seconds(shape, kind, S, &costs),
               expected = formula(algorithm, shape, kind, S);
        cr_assert(isnan(expected) || fabs(seconds - expected) <= 1e-9 * expected,
                  "%s %s, %u ranks, %g B: closed form %g, formula %g", algorithm->name, collective_name(kind),
                  shape->ranks, S, seconds, expected);
        /* The tree's closed form is that of small chunks; transfers all at once share a port; a switch is no rank. */
        if (algorithm == &algorithm_double_tree)
            seconds = (2 * log2_up(shape->ranks) + 16 - 1) * (costs.alpha + S / 32 * (costs.beta + costs.gamma));
        if (algorithm == &algorithm_in_network || algorithm == &algorithm_switch_tree ||
            (algorithm == &algorithm_direct && kind == STAGESIM_ALL_TO_ALL))
            continue;
        double evaluated = evaluate(algorithm, shape, kind, S);
        double tolerance = algorithm == &algorithm_double_tree
                               ? 2 * log2_up(shape->ranks) * S / 32 * costs.gamma + 16 * S / 32 * costs.gamma
                               : 0;
        cr_assert(fabs(evaluated - seconds) <= 1e-6 * seconds + tolerance,
                  "%s %s, %u ranks, %g B: closed form %g, transfers %g", algorithm->name, collective_name(kind),
                  shape->ranks, S, seconds, evaluated);
    }
}

Test(collectives, closed_forms)
{
    for (uint32_t ranks = 2; ranks <= RANKS_TIMED; ranks++)
        shapes_for_each(ranks, check_times);
}

/* ---- members that arrive at different times ---- */

Test(collectives, late_members)
{
    struct collective_shape shape = {.ranks = 3};
    struct collective_steps steps = {0};
    double ends[3];
    algorithm_chain.steps(&shape, STAGESIM_BROADCAST, &steps);
    steps_sort(&steps);
    struct steps_network network = {uniform_edge, &shape, 0};
    /* Two chunks are at rank 1 when rank 2 comes; then 16 chunks go to rank 2, the others following one behind. */
    double chunk = costs.alpha + 1e6 / 16 * costs.beta;
    double last = steps_evaluate(&steps, 3, 1e6, &network, (double[]){0, 0, 1}, ends);
    cr_assert_float_eq(last, 1 + 16 * chunk, 1e-12);
    cr_assert_float_eq(ends[0], 1 + 15 * chunk, 1e-12);
    /* All wait for rank 0. */
    last = steps_evaluate(&steps, 3, 1e6, &network, (double[]){2, 0, 0}, ends);
    cr_assert_float_eq(last, 2 + 17 * chunk, 1e-12);
    steps_finish(&steps);
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
