/* SPDX-License-Identifier: Apache-2.0 */
/* In-network: the switch between the ranks reduces what comes up and sends the result down to all, both at once, so
 * that a rank sends and receives S once: alpha + S beta. NVLS (NVLink SHARP) within a node, SHARP across an InfiniBand
 * fabric. R. Graham et al., Scalable hierarchical aggregation protocol (SHARP), COM-HPC 2016; B. Klenk et al., An
 * in-network architecture for accelerating shared-memory multiprocessor collectives, ISCA 2020. */
#include "simulator/collectives/algorithm.h"

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
    (void)kind;
    return costs->alpha + bytes / efficiency(shape) * costs->beta;
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

/* Every rank's port carries the data once in both directions: as many flows from neighbour to neighbour. What the
 * switch loses is in the efficiency of the choice. */
static void flows(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_flows *flows)
{
    (void)kind;
    for (uint32_t rank = 0; rank < shape->ranks; rank++)
        collective_flows_add(flows, 0, rank, (rank + 1) % shape->ranks, 1, 1);
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
