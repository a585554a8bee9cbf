/* SPDX-License-Identifier: Apache-2.0 */
/* In-network: the switch between the ranks reduces what comes up and sends the result down to all, both at once, so
 * that a rank sends and receives S once: alpha + S beta. NVLS (NVLink SHARP) within a node, SHARP across an InfiniBand
 * fabric, one after the other over nodes with NVLS. In an all-reduce over NVLS a GPU asks the switch for the sum of its
 * part and has it multicast, so that S (1 + 1/p) passes its port each way. R. Graham et al., Scalable hierarchical
 * aggregation protocol (SHARP), COM-HPC 2016; B. Klenk et al., An in-network architecture for accelerating
 * shared-memory multiprocessor collectives, ISCA 2020. */
#include "simulator/collectives/switches.h"

static const char *refuses(const struct collective_shape *shape, enum stagesim_collective kind)
{
    (void)kind;
    return shape->reduces ? NULL
                          : "needs a switch between all ranks that reduces (platform property collective_in_network)";
}

static double efficiency(const struct collective_shape *shape)
{
    return shape->reduces_efficiency > 0 ? shape->reduces_efficiency : 1;
}

static double seconds(const struct collective_shape *shape, enum stagesim_collective kind, double bytes,
                      const struct collective_costs *costs)
{
    double own = kind == STAGESIM_ALL_REDUCE && shape->node_size == shape->ranks ? 1.0 / shape->ranks : 0;
    return costs->alpha + (1 + own) * bytes / efficiency(shape) * costs->beta;
}

/* Rank `ranks` stands for the switch. */
static void steps(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_steps *steps)
{
    uint32_t ranks = shape->ranks;
    bool reduces = kind == STAGESIM_ALL_REDUCE || kind == STAGESIM_REDUCE_SCATTER || kind == STAGESIM_REDUCE;
    steps_cut(steps, ranks, ranks);
    for (uint32_t rank = 0; rank < ranks; rank++)
        if (kind == STAGESIM_ALL_GATHER)
            steps_add(steps, 0, rank, ranks, false, rank, 1);
        else if (reduces || rank == 0)
            steps_add(steps, 0, rank, ranks, reduces, 0, ranks);
    for (uint32_t rank = 0; rank < ranks; rank++)
        if (kind == STAGESIM_REDUCE_SCATTER)
            steps_add(steps, 1, ranks, rank, false, rank, 1);
        else if (kind != STAGESIM_REDUCE || rank == 0)
            steps_add(steps, 1, ranks, rank, false, 0, ranks);
}

bool switches_are_within(const struct collective_shape *shape)
{
    return shape->node_size > 2 && shape->node_size < shape->ranks;
}

void switch_flows(const struct collective_shape *shape, enum stagesim_collective kind, uint32_t first, uint32_t members,
                  struct collective_flows *flows)
{
    bool own = kind == STAGESIM_ALL_REDUCE && members == shape->node_size;
    for (uint32_t rank = 0; rank < members; rank++)
        collective_flows_add(flows, 0, first + rank, first + (rank + 1) % members, own ? 1 + 1.0 / members : 1, 1);
}

/* Over nodes whose own switches reduce, interface l of each node takes part l of the data up to the network's switches,
 * and down. What the switches lose is in the efficiency of the choice. */
static void flows(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_flows *flows)
{
    uint32_t size = shape->node_size, ranks = shape->ranks;
    if (!switches_are_within(shape) || !shape->reduces_within) {
        switch_flows(shape, kind, 0, ranks, flows);
        return;
    }
    for (uint32_t first = 0; first < ranks; first += size)
        switch_flows(shape, kind, first, size, flows);
    for (uint32_t rank = 0; rank < ranks; rank++)
        collective_flows_add(flows, 0, rank, (rank + size) % ranks, 1.0 / size, 1);
}

const struct collective_algorithm algorithm_in_network = {
    .name = "in-network",
    .summary = "the switch reduces and multicasts (NVLS, SHARP)",
    .source = "Graham et al. 2016; Klenk et al. 2020",
    .kinds = KIND(STAGESIM_ALL_REDUCE) | KIND(STAGESIM_REDUCE_SCATTER) | KIND(STAGESIM_ALL_GATHER) |
             KIND(STAGESIM_BROADCAST) | KIND(STAGESIM_REDUCE),
    .automatic = true,
    .flowing = true,
    .refuses = refuses,
    .seconds = seconds,
    .steps = steps,
    .flows = flows,
};
