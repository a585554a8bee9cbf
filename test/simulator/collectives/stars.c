/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives on stars, where each rank has one port of full duplex, and on nodes of stars: what flows take in steady
 * state, which protocol and algorithm are chosen, and what a library adds, against formulas. */
#include "base/arena.h"
#include "platforms/library.h"
#include "simulator/collectives/algorithm.h"
#include "simulator/collectives/communicator.h"
#include "simulator/program/program.h"
#include "test/support/shapes.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_CHECKED = 33, RANKS_TIMED = 64 };

static const struct collective_costs costs = {3e-6, 1e-9, 2e-10, 1e-6, 2e-10};

/* ---- flows on a star: each rank has one port of full duplex ---- */

/* Links: 2 m up, 2 m + 1 down of member m. Nodes of `node_size` members have wide ports inside, narrow ones outside. */
struct star {
    struct platform platform;
    uint32_t links[4];
    uint32_t node_size;
};

static void star_route(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route)
{
    struct star *star = (struct star *)platform;
    bool inside = star->node_size && from / star->node_size == to / star->node_size;
    uint32_t base = inside ? 2 * platform->host_count : 0;
    star->links[0] = base + 2 * from;
    star->links[1] = base + 2 * to + 1;
    *route = (struct platform_route){inside ? costs.node_alpha : costs.alpha,
                                     1 / (inside ? costs.node_beta : costs.beta), 2, star->links};
}

static struct star *star_create(uint32_t ranks, uint32_t node_size, struct arena *arena)
{
    struct star *star = arena_alloc(arena, sizeof *star);
    star->node_size = node_size;
    star->platform.host_count = ranks;
    star->platform.link_count = 4 * ranks;
    star->platform.hosts = arena_array(arena, ranks, sizeof *star->platform.hosts);
    star->platform.links = arena_array(arena, 4 * (size_t)ranks, sizeof *star->platform.links);
    for (uint32_t rank = 0; rank < ranks; rank++)
        star->platform.hosts[rank].node = arena_print(arena, "node-%u", node_size ? rank / node_size : 0);
    for (uint32_t link = 0; link < 4 * ranks; link++)
        star->platform.links[link].bandwidth = 1 / (link < 2 * ranks ? costs.beta : costs.node_beta);
    star->platform.route = star_route;
    return star;
}

static void check_flows(const struct collective_algorithm *algorithm, const struct collective_shape *shape,
                        enum stagesim_collective kind)
{
    if (algorithm == &algorithm_torus || algorithm == &algorithm_switch_tree ||
        (algorithm != &algorithm_hierarchical && shape->node_size))
        return; /* a torus is no star; formulas of one level are about equal links */
    struct arena *arena = arena_create();
    struct star *star = star_create(shape->ranks, shape->node_size, arena);
    star->platform.library.in_network = shape->reduces ? PLATFORM_REDUCES_IN_CLUSTER : PLATFORM_REDUCES_NOWHERE;
    uint32_t *hosts = arena_array(arena, shape->ranks, sizeof *hosts);
    for (uint32_t rank = 0; rank < shape->ranks; rank++)
        hosts[rank] = rank;
    struct communicator *communicator = communicator_create(&star->platform, hosts, shape->ranks, arena);
    struct collective_costs dry = costs;
    dry.gamma = 0;
    shape = communicator_shape(communicator); /* they are all in a node */
    for (double bytes = 0; bytes < 1e10; bytes = bytes * 1000 + 1) {
        double expected = algorithm->seconds(shape, kind, bytes, &dry);
        if (algorithm == &algorithm_chain) /* small chunks */
            expected = (shape->ranks - 1) * costs.alpha + bytes * costs.beta;
        struct collective_choice choice = communicator_choose(communicator, kind, algorithm, bytes);
        cr_assert(choice.algorithm == algorithm && fabs(choice.seconds - expected) <= 1e-9 * expected,
                  "%s %s, %u ranks, %g B: closed form %g, flows %g", algorithm->name, collective_name(kind),
                  shape->ranks, bytes, expected, choice.seconds);
    }
    arena_destroy(arena);
}

Test(collectives, flows_on_a_star)
{
    for (uint32_t ranks = 2; ranks <= RANKS_TIMED; ranks++)
        shapes_for_each(ranks, check_flows);
}

/* ---- what the library takes at least, and switches in nodes ---- */

static double star_seconds(struct star *star, enum stagesim_collective kind,
                           const struct collective_algorithm *algorithm, double bytes, struct arena *arena)
{
    uint32_t *hosts = arena_array(arena, star->platform.host_count, sizeof *hosts);
    for (uint32_t rank = 0; rank < star->platform.host_count; rank++)
        hosts[rank] = rank;
    struct communicator *communicator = communicator_create(&star->platform, hosts, star->platform.host_count, arena);
    struct collective_choice choice = communicator_choose(communicator, kind, algorithm, bytes);
    cr_assert_eq(choice.algorithm, algorithm);
    return choice.seconds;
}

Test(collectives, limits_of_the_library)
{
    struct arena *arena = arena_create();
    struct star *star = star_create(4, 0, arena);
    star->platform.library.copy_rate = 1e8; /* a quarter of 1 GB in 2.5 s; the links take 0.75 s */
    cr_assert_float_eq(star_seconds(star, STAGESIM_ALL_TO_ALL, &algorithm_direct, 1e9, arena), 2.5, 1e-3);
    cr_assert_float_eq(star_seconds(star, STAGESIM_ALL_GATHER, &algorithm_ring, 1e9, arena), 2.5, 1e-3);
    star->platform.library.copy_rate = 1e9;
    cr_assert_float_eq(star_seconds(star, STAGESIM_ALL_TO_ALL, &algorithm_direct, 1e9, arena), 0.75, 1e-3);
    star->platform.library.direct_efficiency[SCOPE_NODE] = 0.5;
    cr_assert_float_eq(star_seconds(star, STAGESIM_ALL_TO_ALL, &algorithm_direct, 1e9, arena), 1.5, 1e-3);
    for (uint32_t nodes = 2; nodes <= 4; nodes += 2) {
        star = star_create(4 * nodes, 4, arena);
        star->platform.library.tree_rate = 1e8;
        star->platform.library.tree_rate_many = 5e7;
        double moved = 2 * (4.0 * nodes - 1) / (4.0 * nodes) * 1e9;
        cr_assert_float_eq(star_seconds(star, STAGESIM_ALL_REDUCE, &algorithm_double_tree, 1e9, arena),
                           moved / (nodes > 2 ? 5e7 : 1e8), 1e-2);
    }
    arena_destroy(arena);
}

/* Inside, S (1 + 1/4) at 5 GB/s takes as long as S/4 outside at 1 GB/s; trees over four nodes take twice that. */
Test(collectives, switches_in_nodes)
{
    for (uint32_t nodes = 2; nodes <= 4; nodes += 2) {
        struct arena *arena = arena_create();
        struct star *star = star_create(4 * nodes, 4, arena);
        star->platform.library.in_network = PLATFORM_REDUCES_IN_NODE;
        cr_assert_float_eq(star_seconds(star, STAGESIM_ALL_REDUCE, &algorithm_switch_tree, 1e9, arena),
                           nodes > 2 ? 0.5 : 0.25, 1e-3);
        star->platform.library.in_network = PLATFORM_REDUCES_IN_CLUSTER;
        cr_assert_float_eq(star_seconds(star, STAGESIM_ALL_REDUCE, &algorithm_in_network, 1e9, arena), 0.25, 1e-3);
        star->platform.library.in_network_efficiency = 0.5;
        cr_assert_float_eq(star_seconds(star, STAGESIM_ALL_REDUCE, &algorithm_in_network, 1e9, arena), 0.5, 1e-3);
        arena_destroy(arena);
    }
}

/* ---- choosing ---- */

/* Trees join nodes: 6 start-ups, and 2 S on a port. Within a node they are chains that nobody takes. */
static void check_small(uint32_t node_size, const struct collective_algorithm *algorithm, double startups, double moved)
{
    struct arena *arena = arena_create();
    struct star *star = star_create(8, node_size, arena);
    for (unsigned scope = 0; scope < SCOPES; scope++)
        star->platform.library.regimes[scope] = (struct platform_regime){
            .launch = {10e-6}, .protocols = {{"low", 0, 0.5, 0.25}, {"bulk", 30e-6, 1, 0.8}}, .protocol_count = 2};
    uint32_t hosts[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct communicator *communicator = communicator_create(&star->platform, hosts, 8, arena);
    struct collective_choice small = communicator_choose(communicator, STAGESIM_ALL_REDUCE, NULL, 8);
    cr_assert_eq(small.algorithm, algorithm);
    cr_assert_str_eq(small.protocol, "low");
    cr_assert_float_eq(small.seconds, 10e-6 + startups * 0.5 * 3e-6 + moved * 8 / 0.25 * 1e-9, 1e-12);
    arena_destroy(arena);
}

Test(collectives, trees_join_nodes)
{
    check_small(1, &algorithm_double_tree, 6, 2);
    check_small(0, &algorithm_ring, 14, 1.75);
}

Test(collectives, fastest_protocol_and_algorithm)
{
    struct arena *arena = arena_create();
    struct star *star = star_create(8, 0, arena);
    star->platform.library.regimes[SCOPE_NODE] = (struct platform_regime){
        .launch = {10e-6, 20e-6}, .protocols = {{"low", 0, 0.5, 0.25}, {"bulk", 30e-6, 1, 0.8}}, .protocol_count = 2};
    uint32_t hosts[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct communicator *communicator = communicator_create(&star->platform, hosts, 8, arena);
    struct collective_choice small = communicator_choose(communicator, STAGESIM_ALL_REDUCE, NULL, 8);
    cr_assert_eq(small.algorithm, &algorithm_ring);
    cr_assert_str_eq(small.protocol, "low");
    cr_assert_float_eq(small.seconds, 10e-6 + 14 * 0.5 * 3e-6 + 1.75 * 8 / 0.25 * 1e-9, 1e-12);
    struct collective_choice large = communicator_choose(communicator, STAGESIM_ALL_REDUCE, NULL, 1e9);
    cr_assert_eq(large.algorithm, &algorithm_ring);
    cr_assert_str_eq(large.protocol, "bulk");
    cr_assert_float_eq(large.seconds, 40e-6 + 14 * 3e-6 + 1.75 / 0.8, 1e-9);
    struct collective_choice other =
        communicator_choose(communicator, STAGESIM_REDUCE_SCATTER, &algorithm_double_tree, 1e9);
    cr_assert_eq(other.algorithm, &algorithm_ring, "an algorithm that cannot leaves the choice to auto");
    cr_assert_float_eq(other.seconds, 50e-6 + 7 * 3e-6 + 0.875 / 0.8, 1e-9);
    arena_destroy(arena);
}

/* ---- groups within a node and over nodes ---- */

/* Ring over 4 nodes of 2, per the flows of ring.c: 8 start-ups within nodes; then 6 between them, and at most 7/8 S on
 * a port of either kind. Launch and start are `delay`; ratios of latency are at least 1. */
static double ring_over_nodes(double delay, struct platform_ratios ratios, double bytes)
{
    double part = 7.0 / 8 * bytes;
    double inside =
        ratios.latency[SCOPE_NODE] * costs.node_alpha + part * costs.node_beta / ratios.efficiency[SCOPE_NODE];
    double between =
        6 * ratios.latency[SCOPE_NETWORK] * costs.alpha + part * costs.beta / ratios.efficiency[SCOPE_NETWORK];
    return delay + 8 * ratios.latency[SCOPE_NODE] * costs.node_alpha + fmax(inside, between);
}

static void check_ring(struct star *star, double delay, struct platform_ratios ratios)
{
    struct arena *arena = arena_create();
    uint32_t hosts[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct communicator *communicator = communicator_create(&star->platform, hosts, 8, arena);
    cr_assert_eq(communicator_scope(communicator), SCOPE_NETWORK);
    for (double bytes = 8; bytes < 1e10; bytes *= 1000) {
        double expected = ring_over_nodes(delay, ratios, bytes);
        struct collective_choice choice =
            communicator_choose(communicator, STAGESIM_ALL_REDUCE, &algorithm_ring, bytes);
        cr_assert_float_eq(choice.seconds, expected, 1e-9 * expected, "%g B: %g, expected %g", bytes, choice.seconds,
                           expected);
        cr_assert_float_eq(choice.delay, delay, 1e-15);
    }
    arena_destroy(arena);
}

Test(collectives, protocols_over_nodes)
{
    struct arena *arena = arena_create();
    struct star *star = star_create(8, 2, arena);
    struct platform_library *library = &star->platform.library;
    struct platform_regime *node = &library->regimes[SCOPE_NODE], *network = &library->regimes[SCOPE_NETWORK];
    *node = (struct platform_regime){.launch_default = 10e-6, .protocols = {{"bulk", 30e-6, 1.5, 0.5}}};
    library_complete(library);
    check_ring(star, 40e-6, (struct platform_ratios){{1.5, 1.5}, {0.5, 0.5}}); /* nothing of its own: as within nodes */
    *network = (struct platform_regime){.protocols = {{"bulk", 100e-6, 4, 0.25}}};
    library_complete(library);
    check_ring(star, 110e-6, (struct platform_ratios){{1.5, 4}, {0.5, 0.25}});
    network->protocols[0].efficiency = 100; /* the links within nodes are the slower ones */
    check_ring(star, 110e-6, (struct platform_ratios){{1.5, 4}, {0.5, 100}});
    network->protocols[0] =
        (struct platform_protocol){"low", 20e-6, 3, 0.125}; /* unknown within nodes: one ratio for all transfers */
    network->launch_default = 50e-6;
    network->launch_default_given = true;
    library_complete(library);
    check_ring(star, 70e-6, (struct platform_ratios){{3, 3}, {0.125, 0.125}});
    /* Messages that leave all at once do not wait for hops over the network, but have its rate: 6 of 8 parts go to
     * other nodes. */
    *network = (struct platform_regime){.protocols = {{"bulk", 100e-6, 400, 0.25}}};
    library_complete(library);
    uint32_t all[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct communicator *every = communicator_create(&star->platform, all, 8, arena);
    struct collective_choice exchange = communicator_choose(every, STAGESIM_ALL_TO_ALL, NULL, 1e9);
    cr_assert_eq(exchange.algorithm, &algorithm_direct);
    cr_assert_float_eq(exchange.seconds, 110e-6 + 7 * 1.5 * costs.alpha + 6.0 / 8 * 1e9 * costs.beta / 0.25, 1e-9);
    /* Within a node nothing of this counts. */
    uint32_t hosts[2] = {0, 1};
    struct communicator *inside = communicator_create(&star->platform, hosts, 2, arena);
    struct collective_choice choice = communicator_choose(inside, STAGESIM_ALL_REDUCE, &algorithm_ring, 1e6);
    cr_assert_str_eq(choice.protocol, "bulk");
    cr_assert_float_eq(choice.seconds, 40e-6 + 2 * 1.5 * costs.node_alpha + 1e6 * costs.node_beta / 0.5, 1e-12);
    arena_destroy(arena);
}
