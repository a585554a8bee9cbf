/* SPDX-License-Identifier: Apache-2.0 */
/* Switches reduce within nodes, two binary trees join the nodes: rank l of a node asks its switch for the sum of part
 * l, reduces and broadcasts it along trees over the ranks l of all nodes, and has the result multicast in its node.
 * NVIDIA, NCCL 2.18 (NVLSTree); B. Klenk et al., ISCA 2020, for the switch; Sanders, Speck, Traeff 2009, for the trees.
 */
#include "simulator/collectives/switches.h"

static const char *refuses(const struct collective_shape *shape, enum stagesim_collective kind)
{
    (void)kind;
    return switches_are_within(shape) && shape->reduces_within
               ? NULL
               : "needs several nodes, each with a switch between its ranks that reduces";
}

static double seconds(const struct collective_shape *shape, enum stagesim_collective kind, double bytes,
                      const struct collective_costs *costs)
{
    (void)kind;
    double g = shape->node_size, k = shape->ranks / g, efficiency = shape->reduces_efficiency;
    double within = (1 + 1 / g) * bytes / (efficiency > 0 ? efficiency : 1) * costs->node_beta,
           between = (k > 3   ? 2
                      : k > 2 ? 1.5
                              : 1) *
                     bytes / g * costs->beta;
    return costs->node_alpha + 2 * log2_ceil((uint32_t)k) * costs->alpha + (within > between ? within : between);
}

/* A rank's part comes from the members of its node, as if the switch were in it. */
static void steps(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_steps *steps)
{
    (void)kind;
    uint32_t size = shape->node_size, nodes = shape->ranks / size, down = 0;
    steps_cut(steps, TREES_BLOCKS * size, TREES_BLOCKS * size);
    for (uint32_t rank = 0; rank < shape->ranks; rank++)
        for (uint32_t distance = 1; distance < size; distance++) {
            uint32_t owner = rank / size * size + (rank + distance) % size;
            steps_add(steps, 0, rank, owner, true, owner % size * TREES_BLOCKS, TREES_BLOCKS);
        }
    for (uint32_t local = 0; local < size; local++)
        down = trees_steps(steps, local, size, nodes, 1);
    for (uint32_t rank = 0; rank < shape->ranks; rank++)
        for (uint32_t distance = 1; distance < size; distance++)
            steps_add(steps, down, rank, rank / size * size + (rank + distance) % size, false,
                      rank % size * TREES_BLOCKS, TREES_BLOCKS);
}

static void flows(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_flows *flows)
{
    uint32_t size = shape->node_size, nodes = shape->ranks / size;
    for (uint32_t first = 0; first < shape->ranks; first += size)
        switch_flows(shape, kind, first, size, flows);
    uint32_t trees = exits_count(shape->exits, size);
    for (uint32_t local = 0; local < trees; local++)
        trees_flows(flows, 0, local, nodes, size, shape->exits, 0.5 / trees);
}

const struct collective_algorithm algorithm_switch_tree = {
    .name = "switch-tree",
    .summary = "switches reduce within nodes, two trees join the nodes (NVLSTree)",
    .source = "NVIDIA, NCCL 2.18",
    .kinds = KIND(STAGESIM_ALL_REDUCE),
    .automatic = true,
    .crosses = true,
    .flowing = true,
    .refuses = refuses,
    .seconds = seconds,
    .steps = steps,
    .flows = flows,
};
