/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/collectives/communicator.h"

#include "base/arena.h"
#include "base/rounded/rounded.h"
#include "platforms/library.h"
#include "simulator/collectives/estimate.h"
#include "simulator/program/pair_bytes.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The last place is that of the user's own algorithm; a communicator has one for each kind. */
enum { ALGORITHMS_MAX = 16, OWN_ALGORITHM = ALGORITHMS_MAX - 1 };

/* What is known of one kind and algorithm, once somebody asked. */
struct known {
    struct collective_flows flows;
    struct estimate estimate;
    double kept;    /* what a member keeps for itself of a collective, at most, over the size */
    double message; /* the largest message of an all-to-all, over the size */
    bool filled, estimated;
};

struct communicator {
    struct platform *platform;
    const uint32_t *hosts;
    struct arena *arena;
    struct collective_shape shape;
    bool stepwise;
    struct known *known[STAGESIM_COLLECTIVES]; /* [kind][place of the algorithm in the table], NULL until asked for */
};

static_assert((int)STAGESIM_COLLECTIVES == (int)PLATFORM_COLLECTIVES, "one launch time for each kind");

/* Members of each node, when all nodes have equally many and they follow each other. */
static uint32_t node_size_of(const struct platform *platform, const uint32_t *hosts, uint32_t ranks)
{
    uint32_t size = 1;
    while (size < ranks && strcmp(platform->hosts[hosts[size]].node, platform->hosts[hosts[0]].node) == 0)
        size++;
    for (uint32_t rank = 0; rank < ranks && ranks % size == 0; rank++) {
        bool begins = rank % size == 0;
        bool same = rank && strcmp(platform->hosts[hosts[rank]].node, platform->hosts[hosts[rank - 1]].node) == 0;
        if (begins == same)
            return 0;
    }
    return ranks % size ? 0 : size;
}

/* No two members of a node follow each other in it, so that each has a network interface far from the others' (hosts of
 * a node are in order). */
static bool are_strided(const uint32_t *hosts, uint32_t ranks, uint32_t node_size)
{
    for (uint32_t rank = 1; rank < ranks; rank++)
        if (rank % node_size && hosts[rank] < hosts[rank - 1] + 2 && hosts[rank - 1] < hosts[rank] + 2)
            return false;
    return true;
}

/* The whole platform is a torus, and the members are all its hosts in order. */
static bool fills_torus(const struct platform *platform, const uint32_t *hosts, uint32_t ranks)
{
    uint64_t product = 1;
    for (unsigned i = 0; i < TORUS_DIMENSIONS; i++)
        product *= platform->library.torus[i] ? platform->library.torus[i] : 1;
    for (uint32_t rank = 0; rank < ranks; rank++)
        if (hosts[rank] != rank)
            return false;
    return product > 1 && product == ranks && ranks == platform->host_count;
}

/* What of the link rate a switch between so many members carries; 0: not given. */
static double switch_efficiency(const struct platform_library *library, uint32_t members)
{
    double doublings = members > 8 ? rounded_log2(members / 8.0) : 0;
    return library->in_network_efficiency > 0
               ? fmax(0.1, library->in_network_efficiency - doublings * library->in_network_decline)
               : 0;
}

struct collective_shape communicator_shape_of(struct platform *platform, const uint32_t *hosts, uint32_t ranks)
{
    struct collective_shape shape = {.ranks = ranks};
    if (ranks < 2)
        return shape;
    enum platform_in_network where = platform->library.in_network;
    shape.node_size = node_size_of(platform, hosts, ranks);
    shape.rings = shape.node_size ? direct_rings_of(platform, hosts, shape.node_size) : NULL;
    if (shape.node_size > 1 && shape.node_size < ranks)
        shape.exits = exits_of(platform, hosts, ranks, shape.node_size);
    shape.reduces_within = where != PLATFORM_REDUCES_NOWHERE && shape.node_size > 2;
    shape.reduces = where == PLATFORM_REDUCES_IN_CLUSTER || (shape.reduces_within && shape.node_size == ranks);
    shape.reduces_efficiency = switch_efficiency(&platform->library, shape.node_size);
    shape.strided = shape.node_size > 1 && shape.node_size < ranks && are_strided(hosts, ranks, shape.node_size);
    shape.strided_efficiency = platform->library.strided_efficiency;
    if (fills_torus(platform, hosts, ranks))
        memcpy(shape.dimensions, platform->library.torus, sizeof shape.dimensions);
    return shape;
}

struct communicator *communicator_create_shaped(struct platform *platform, const uint32_t *hosts,
                                                const struct collective_shape *shape, bool stepwise,
                                                struct arena *arena)
{
    struct communicator *communicator = arena_alloc(arena, sizeof *communicator);
    *communicator = (struct communicator){
        .platform = platform, .hosts = hosts, .arena = arena, .shape = *shape, .stepwise = stepwise};
    return communicator;
}

struct communicator *communicator_create(struct platform *platform, const uint32_t *hosts, uint32_t ranks,
                                         struct arena *arena)
{
    struct collective_shape shape =
        platform ? communicator_shape_of(platform, hosts, ranks) : (struct collective_shape){.ranks = ranks};
    return communicator_create_shaped(platform, hosts, &shape, false, arena);
}

const struct collective_shape *communicator_shape(const struct communicator *communicator)
{
    return &communicator->shape;
}

enum platform_scope communicator_scope(const struct communicator *communicator)
{
    return communicator->shape.node_size == communicator->shape.ranks ? SCOPE_NODE : SCOPE_NETWORK;
}

/* Moves them to the arena. */
static void keep_flows(const struct communicator *communicator, struct known *known, struct collective_flows *flows)
{
    known->flows = *flows;
    if (flows->items) {
        known->flows.items = arena_array(communicator->arena, flows->count, sizeof *flows->items);
        memcpy(known->flows.items, flows->items, flows->count * sizeof *flows->items);
    }
    collective_flows_finish(flows);
    known->filled = true;
}

static struct known *know(struct communicator *communicator, enum stagesim_collective kind,
                          const struct collective_algorithm *algorithm)
{
    uint32_t place = 0;
    while (collective_algorithms[place] != algorithm && !algorithm->own)
        place++;
    place = algorithm->own ? OWN_ALGORITHM : place;
    assert(place <= OWN_ALGORITHM && (place < OWN_ALGORITHM || algorithm->own));
    if (!communicator->known[kind])
        communicator->known[kind] = arena_array(communicator->arena, ALGORITHMS_MAX, sizeof(struct known));
    struct known *known = &communicator->known[kind][place];
    if (known->filled)
        return known;
    struct collective_flows flows;
    collective_flows_init(&flows, algorithm, &communicator->shape, kind, communicator->stepwise);
    keep_flows(communicator, known, &flows);
    known->kept = 1.0 / communicator->shape.ranks;
    known->message = kind == STAGESIM_SEND_RECEIVE ? 1 : known->kept;
    return known;
}

static struct known *know_pairs(struct communicator *communicator, const struct pair_bytes *pairs)
{
    struct known *known = arena_alloc(communicator->arena, sizeof *known);
    struct collective_flows flows;
    *known = (struct known){.filled = false};
    collective_flows_of_pairs(&flows, pairs);
    keep_flows(communicator, known, &flows);
    for (uint32_t member = 0; member < pairs->members; member++)
        for (uint32_t other = 0; other < pairs->members; other++) {
            double *largest = member == other ? &known->kept : &known->message;
            *largest = fmax(*largest, pairs->shares[(size_t)member * pairs->members + other]);
        }
    return known;
}

const struct collective_flows *communicator_flows(struct communicator *communicator, enum stagesim_collective kind,
                                                  const struct collective_algorithm *algorithm)
{
    return &know(communicator, kind, algorithm)->flows;
}

static double seconds_of(const struct communicator *communicator, struct known *known,
                         const struct platform_ratios *ratios, double bytes)
{
    if (!known->estimated)
        known->estimate =
            estimate_create(&known->flows, communicator->platform, communicator->hosts, communicator->arena);
    known->estimated = true;
    known->flows.estimate = &known->estimate;
    known->flows.hosts = communicator->hosts;
    return estimate_seconds(&known->estimate, ratios, bytes);
}

static const struct platform_protocol plain = {.latency = 1, .efficiency = 1};

/* Whether messages of the group have protocols of their own. */
static bool has_direct(const struct communicator *communicator, const struct collective_algorithm *algorithm)
{
    enum platform_scope scope = communicator_scope(communicator);
    return algorithm == &algorithm_direct && communicator->platform->library.regimes[scope].direct_count > 0;
}

/* What of a protocol's rate the algorithm gets out of links of the scope. */
static double efficiency_of(const struct communicator *communicator, const struct collective_algorithm *algorithm,
                            enum platform_scope scope)
{
    double efficiency = 1, over = communicator->platform->library.in_network_efficiency_over;
    if (algorithm == &algorithm_in_network && scope == SCOPE_NETWORK && over > 0)
        efficiency = over;
    else if (algorithm == &algorithm_in_network || algorithm == &algorithm_switch_tree)
        efficiency =
            scope == SCOPE_NODE || !communicator->shape.reduces_within ? communicator->shape.reduces_efficiency : 1;
    else if (algorithm == &algorithm_direct && !has_direct(communicator, algorithm))
        efficiency = communicator->platform->library.direct_efficiency[scope];
    return efficiency > 0 ? efficiency : 1;
}

/* Seconds for each byte that the library takes at least, however fast the links are: trees over nodes, whose every
 * channel a processor of the GPU moves; the copy of a rank's own part in an all-to-all, and in an all-gather out of
 * place, which runs beside the transfers. */
static double least_per_byte(const struct communicator *communicator, enum stagesim_collective kind,
                             const struct collective_algorithm *algorithm, const struct known *known)
{
    const struct platform_library *library = &communicator->platform->library;
    const struct collective_shape *shape = &communicator->shape;
    double ranks = shape->ranks, nodes = shape->node_size ? ranks / shape->node_size : ranks;
    double tree = nodes > 2 && library->tree_rate_many > 0 ? library->tree_rate_many : library->tree_rate;
    if ((algorithm == &algorithm_double_tree || algorithm == &algorithm_switch_tree) && nodes > 1 && tree > 0)
        return 2 * (ranks - 1) / ranks / tree;
    if ((kind == STAGESIM_ALL_TO_ALL || kind == STAGESIM_ALL_GATHER) && library->copy_rate > 0)
        return known->kept / library->copy_rate;
    return 0;
}

/* Seconds for each byte in which a rank handles its own part before or after its transfers, within a node: rings pass
 * through the same threads what a rank has and what it gets, and so do the messages of an all-to-all. */
static double own_per_byte(const struct communicator *communicator, enum stagesim_collective kind,
                           const struct collective_algorithm *algorithm, const struct known *known)
{
    const struct platform_library *library = &communicator->platform->library;
    bool rings = algorithm == &algorithm_ring &&
                 (kind == STAGESIM_ALL_REDUCE || kind == STAGESIM_ALL_GATHER || kind == STAGESIM_REDUCE_SCATTER);
    if (communicator_scope(communicator) != SCOPE_NODE)
        return 0;
    if (rings && library->own_rate > 0)
        return known->kept / library->own_rate;
    return kind == STAGESIM_ALL_TO_ALL && has_direct(communicator, algorithm) && library->direct_own_rate > 0
               ? known->kept / library->direct_own_rate
               : 0;
}

/* Slows the transfers down to what the library takes at least. */
static void limit(struct communicator *communicator, enum stagesim_collective kind,
                  const struct collective_algorithm *algorithm, const struct platform_protocol *protocol,
                  struct known *known, struct platform_ratios *ratios)
{
    static const double much = 1e15;
    double least = least_per_byte(communicator, kind, algorithm, known),
           own = own_per_byte(communicator, kind, algorithm, known);
    if (protocol->rate > 0)
        least = fmax(least, known->message / protocol->rate);
    if (least <= 0 && own <= 0)
        return;
    double slope =
        (seconds_of(communicator, known, ratios, 2 * much) - seconds_of(communicator, known, ratios, much)) / much;
    double slowed = fmax(slope + own, least);
    for (unsigned scope = 0; scope < SCOPES && slope < slowed; scope++)
        ratios->efficiency[scope] *= slope / slowed;
}

/* What a hop over the network costs beyond the link is the wait of a step for the one before: messages that leave all
 * at once have none. */
static struct platform_ratios ratios_of(const struct communicator *communicator,
                                        const struct collective_algorithm *algorithm,
                                        const struct platform_protocol *protocol)
{
    struct platform_ratios ratios;
    for (unsigned scope = 0; scope < SCOPES; scope++) {
        struct platform_protocol own =
            has_direct(communicator, algorithm)
                ? library_messages(&communicator->platform->library, protocol, (enum platform_scope)scope)
                : library_transfers(&communicator->platform->library, protocol, (enum platform_scope)scope);
        ratios.latency[scope] = own.latency;
        ratios.efficiency[scope] = own.efficiency * efficiency_of(communicator, algorithm, (enum platform_scope)scope);
    }
    ratios.far = algorithm != &algorithm_direct || !has_direct(communicator, algorithm);
    if (algorithm == &algorithm_direct)
        ratios.latency[SCOPE_NETWORK] = ratios.latency[SCOPE_NODE];
    return ratios;
}

/* NVLS runs in NCCL's Simple protocol only, whatever the size: the one of most bandwidth (NVIDIA/nccl,
 * src/graph/tuning.cc). So do its send and receive, of which its users make all-to-all, where nothing else is known of
 * them. */
static bool takes_bulk_only(enum stagesim_collective kind, const struct collective_algorithm *algorithm)
{
    return kind == STAGESIM_ALL_TO_ALL || kind == STAGESIM_SEND_RECEIVE || algorithm == &algorithm_in_network ||
           algorithm == &algorithm_switch_tree;
}

/* A program is written for one protocol. */
static bool runs_in(const struct collective_algorithm *algorithm, const struct platform_protocol *protocols,
                    uint32_t count, uint32_t index)
{
    const char *own = algorithm->own ? algorithm->own->protocol : NULL;
    bool there = false;
    for (uint32_t i = 0; i < count && own; i++)
        there |= protocols[i].name && !strcmp(protocols[i].name, own);
    return !there || !strcmp(protocols[index].name, own);
}

/* Whether the library takes protocol `index` for so many bytes of each rank, as far as its limits decide. */
static bool within_limits(const struct platform_protocol *protocols, uint32_t count, uint32_t index, double bytes_each)
{
    if (index + 1 < count && protocols[index].most > 0 && bytes_each > protocols[index].most)
        return false;
    for (uint32_t i = 0; i < index; i++)
        if (protocols[i].most > 0 && bytes_each <= protocols[i].most)
            return false;
    return true;
}

/* Seconds before data move, beside the launch. */
static double start_of(const struct communicator *communicator, const struct collective_algorithm *algorithm,
                       const struct platform_protocol *protocol)
{
    double own = communicator->platform->library.regimes[communicator_scope(communicator)].in_network_start;
    bool switches = algorithm == &algorithm_in_network || algorithm == &algorithm_switch_tree;
    return switches && own > 0 ? own : protocol->start;
}

/* Replaces *best by the fastest protocol of the algorithm if it is faster. */
static void consider(struct communicator *communicator, enum stagesim_collective kind,
                     const struct collective_algorithm *algorithm, struct known *known, double bytes,
                     struct collective_choice *best)
{
    const struct platform_library *library = communicator->platform ? &communicator->platform->library : NULL;
    if (!library) {
        if (!best->algorithm)
            best->algorithm = algorithm;
        return;
    }
    enum platform_scope scope = communicator_scope(communicator);
    uint32_t count;
    const struct platform_protocol *protocols = library_protocols(library, scope, &count);
    bool direct = has_direct(communicator, algorithm);
    if (direct) {
        protocols = library->regimes[scope].direct;
        count = library->regimes[scope].direct_count;
    } else if (!count) {
        protocols = &plain;
        count = 1;
    }
    bool bulk = !algorithm->own && !direct && takes_bulk_only(kind, algorithm);
    for (uint32_t i = bulk ? count - 1 : 0; i < count; i++) {
        if (!runs_in(algorithm, protocols, count, i) ||
            (!bulk && !algorithm->own && !within_limits(protocols, count, i, bytes / communicator->shape.ranks)))
            continue;
        struct collective_choice choice = {algorithm, protocols[i].name,
                                           library->regimes[scope].launch[kind] +
                                               start_of(communicator, algorithm, &protocols[i]),
                                           ratios_of(communicator, algorithm, &protocols[i]), 0};
        limit(communicator, kind, algorithm, &protocols[i], known, &choice.ratios);
        choice.seconds = choice.delay + seconds_of(communicator, known, &choice.ratios, bytes);
        if (!best->algorithm || choice.seconds < best->seconds)
            *best = choice;
    }
}

/* The trees of libraries join nodes. Within one they are chains of all its ranks, with as many steps as a ring and more
 * bytes (NVIDIA/nccl, src/graph/tuning.cc), so nobody takes them. */
static bool is_chain(const struct communicator *communicator, const struct collective_algorithm *algorithm)
{
    return communicator->platform && algorithm == &algorithm_double_tree &&
           communicator->shape.ranks == communicator->shape.node_size;
}

struct collective_choice communicator_choose(struct communicator *communicator, enum stagesim_collective kind,
                                             const struct collective_algorithm *algorithm, double bytes)
{
    struct collective_choice best = {NULL, NULL, 0, {{1, 1}, {1, 1}}, 0};
    if (communicator->shape.ranks < 2)
        return best;
    if (algorithm && !collective_algorithm_refuses(algorithm, &communicator->shape, kind) &&
        collective_algorithm_takes(algorithm, bytes))
        consider(communicator, kind, algorithm, know(communicator, kind, algorithm), bytes, &best);
    for (const struct collective_algorithm *const *each = collective_algorithms;
         *each && (!algorithm || !best.algorithm); each++)
        if ((*each)->automatic && !is_chain(communicator, *each) &&
            !collective_algorithm_refuses(*each, &communicator->shape, kind))
            consider(communicator, kind, *each, know(communicator, kind, *each), bytes, &best);
    return best;
}

struct collective_choice communicator_choose_pairs(struct communicator *communicator, const struct pair_bytes *pairs,
                                                   double bytes, const struct collective_flows **flows)
{
    struct collective_choice best = {NULL, NULL, 0, {{1, 1}, {1, 1}}, 0};
    *flows = NULL;
    if (communicator->shape.ranks < 2)
        return best;
    struct known *known = know_pairs(communicator, pairs);
    consider(communicator, STAGESIM_ALL_TO_ALL, &algorithm_direct, known, bytes, &best);
    *flows = &known->flows;
    return best;
}
