/* SPDX-License-Identifier: Apache-2.0 */
/* Double binary tree: two trees over all ranks, each reducing and then broadcasting half of the data in small chunks; a
 * rank that has children in one tree is a leaf of the other, so no port carries more than 2 S: 2 ceil(log2 p) alpha + 2
 * S beta. P. Sanders, J. Speck, J. L. Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and scan,
 * Parallel Computing 35 (2009). Trees as NVIDIA describes for NCCL 2.4: the second is the first mirrored, or shifted
 * for an odd number of ranks. Over several nodes the trees join the nodes, once for each rank of a node with its part
 * of the data; within a node a chain leads to that rank and back. */
#include "simulator/collectives/switches.h"

enum { CHUNKS = TREES_BLOCKS / 2 };

static const uint32_t no_parent = UINT32_MAX;

/* Parent in the tree in which the lowest set bit of a number says how high it is; `size` numbers from 0, the root. */
static uint32_t parent_in_order(uint32_t number, uint32_t size)
{
    if (number == 0)
        return no_parent;
    uint32_t bit = number & (~number + 1), parent = (number ^ bit) | bit << 1;
    return parent < size ? parent : number ^ bit;
}

/* Parent in tree 0 or 1. */
static uint32_t parent_of(uint32_t rank, uint32_t size, uint32_t tree)
{
    if (tree == 0)
        return parent_in_order(rank, size);
    bool even = size % 2 == 0;
    uint32_t parent = parent_in_order(even ? size - 1 - rank : (rank + size - 1) % size, size);
    if (parent == no_parent)
        return parent;
    return even ? size - 1 - parent : (parent + 1) % size;
}

static uint32_t depth_of(uint32_t rank, uint32_t size, uint32_t tree)
{
    uint32_t depth = 0;
    while ((rank = parent_of(rank, size, tree)) != no_parent)
        depth++;
    return depth;
}

/* What the busiest port carries, over the size: up and twice down in one tree, up in the other, where there are ranks
 * enough. */
static double load(uint32_t ranks)
{
    return ranks == 2 ? 1 : ranks == 3 ? 1.5 : 2;
}

static double seconds(const struct collective_shape *shape, enum stagesim_collective kind, double bytes,
                      const struct collective_costs *costs)
{
    (void)kind;
    return 2 * log2_ceil(shape->ranks) * costs->alpha + load(shape->ranks) * bytes * costs->beta;
}

static bool has_nodes(const struct collective_shape *shape)
{
    return shape->node_size > 1 && shape->node_size < shape->ranks;
}

/* One part of the data on its way: to a rank of each node, through the trees over these ranks, and back. */
struct journey {
    struct collective_steps *steps;
    uint32_t local, size,
        nodes; /* the rank within its node, and the part; ranks of a node; nodes, which are ranks where size is 1 */
};

static void add_edge(const struct journey *journey, uint32_t round, uint32_t tree, uint32_t from, uint32_t to,
                     bool reduces)
{
    for (uint32_t chunk = 0; chunk < CHUNKS; chunk++)
        steps_add(journey->steps, round + chunk, from, to, reduces, (2 * journey->local + tree) * CHUNKS + chunk, 1);
}

/* `back`: when the first chunk has come down all trees. */
static void chains_within(const struct journey *journey, uint32_t tree, uint32_t back)
{
    uint32_t size = journey->size;
    for (uint32_t first = 0; first < size * journey->nodes; first += size)
        for (uint32_t edge = 0; edge + 1 < size; edge++) {
            uint32_t from = first + (journey->local + 1 + edge) % size, to = first + (journey->local + 2 + edge) % size;
            add_edge(journey, edge, tree, from, to, true);
            add_edge(journey, back + size - 2 - edge, tree, to, from, false);
        }
}

static void tree_over_nodes(const struct journey *journey, uint32_t tree, uint32_t first_round)
{
    uint32_t nodes = journey->nodes, height = log2_ceil(nodes);
    for (uint32_t node = 0; node < nodes; node++) {
        uint32_t parent = parent_of(node, nodes, tree), depth = depth_of(node, nodes, tree);
        if (parent == no_parent)
            continue;
        uint32_t child = node * journey->size + journey->local, to = parent * journey->size + journey->local;
        add_edge(journey, first_round + height - depth, tree, child, to, true);
        add_edge(journey, first_round + height + depth - 1, tree, to, child, false);
    }
}

uint32_t trees_steps(struct collective_steps *steps, uint32_t local, uint32_t size, uint32_t nodes,
                     uint32_t first_round)
{
    for (uint32_t tree = 0; tree < 2; tree++)
        tree_over_nodes(&(struct journey){steps, local, size, nodes}, tree, first_round);
    return first_round + 2 * log2_ceil(nodes) + CHUNKS;
}

static void steps(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_steps *steps)
{
    (void)kind;
    uint32_t size = has_nodes(shape) ? shape->node_size : 1, nodes = shape->ranks / size;
    steps_cut(steps, 2 * CHUNKS * size, 2 * CHUNKS * size);
    for (uint32_t local = 0; local < size; local++)
        for (uint32_t tree = 0; tree < 2; tree++) {
            struct journey journey = {steps, local, size, nodes};
            chains_within(&journey, tree, size - 1 + 2 * log2_ceil(nodes));
            tree_over_nodes(&journey, tree, size - 1);
        }
}

void trees_flows(struct collective_flows *flows, uint32_t phase, uint32_t first, uint32_t count, uint32_t stride,
                 const struct exits *exits, double share)
{
    for (uint32_t tree = 0; tree < 2; tree++)
        for (uint32_t place = 0; place < count; place++) {
            uint32_t parent = parent_of(place, count, tree);
            if (parent == no_parent)
                continue;
            uint32_t child = place * stride + exits_at(exits, place, first),
                     to = parent * stride + exits_at(exits, parent, first);
            collective_flows_add(flows, phase, child, to, share, 2 * log2_ceil(count));
            collective_flows_add(flows, phase, to, child, share, 2 * log2_ceil(count));
        }
}

/* Chains along the rings over the links of a node, up and down; each leaves out one link of its ring, on average all
 * alike. */
static void chains_on_links(const struct direct_rings *rings, uint32_t phase, uint32_t first, uint32_t steps,
                            struct collective_flows *flows)
{
    uint32_t size = rings->devices;
    for (uint32_t from = 0; from < size; from++)
        for (uint32_t to = 0; to < size; to++) {
            uint32_t count = direct_rings_from_to(rings, from, to) + direct_rings_from_to(rings, to, from);
            if (count)
                collective_flows_add(flows, phase, first + from, first + to, (size - 1.0) / size * count / rings->count,
                                     steps);
        }
}

/* The start-ups of the chains within nodes come first, as a flow of no bytes. */
static void trees_over_nodes(const struct collective_shape *shape, struct collective_flows *flows)
{
    uint32_t size = shape->node_size, nodes = shape->ranks / size;
    collective_flows_add(flows, 0, 0, 1, 0, 2 * (size - 1));
    for (uint32_t node = 0; node < nodes && shape->rings; node++)
        chains_on_links(shape->rings, 1, node * size, 1, flows);
    for (uint32_t node = 0; node < nodes && !shape->rings; node++)
        for (uint32_t local = 0; local < size; local++) {
            uint32_t here = node * size + local, beside = node * size + (local + 1) % size;
            collective_flows_add(flows, 1, here, beside, (size - 1.0) / size, 1);
            collective_flows_add(flows, 1, beside, here, (size - 1.0) / size, 1);
        }
    uint32_t trees = exits_count(shape->exits, size);
    for (uint32_t local = 0; local < trees; local++)
        trees_flows(flows, 1, local, nodes, size, shape->exits, 0.5 / trees);
}

static void flows(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_flows *flows)
{
    (void)kind;
    if (has_nodes(shape))
        trees_over_nodes(shape, flows);
    else if (shape->rings)
        chains_on_links(shape->rings, 0, 0, 2 * (shape->ranks - 1), flows);
    else
        trees_flows(flows, 0, 0, shape->ranks, 1, NULL, 0.5);
}

const struct collective_algorithm algorithm_double_tree = {
    .name = "double-tree",
    .summary = "two binary trees, each with half of the data; over several nodes trees of nodes with chains within",
    .source = "Sanders, Speck, Traeff 2009; NVIDIA, NCCL 2.4",
    .kinds = KIND(STAGESIM_ALL_REDUCE),
    .automatic = true,
    .crosses = true,
    .flowing = true,
    .seconds = seconds,
    .steps = steps,
    .flows = flows,
};
