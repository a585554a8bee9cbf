/* SPDX-License-Identifier: Apache-2.0 */
/* Hierarchical: reduce-scatter within each node, the collective across nodes among ranks of equal place, all of them at
 * once, and all-gather within each node; each part is a ring. 2 (g-1)(alpha_n + S/g beta_n) + 2 (k-1)(alpha + S/p beta)
 * for an all-reduce over k nodes of g ranks. M. Cho, U. Finkler, D. Kung, H. Hunter, BlueConnect, MLSys 2019. */
#include "simulator/collectives/algorithm.h"

static const char *refuses(const struct collective_shape *shape, enum stagesim_collective kind)
{
    (void)kind;
    if (shape->node_size > 1 && shape->node_size < shape->ranks)
        return NULL;
    return "needs several nodes with equally many ranks, at least two, side by side";
}

static double seconds(const struct collective_shape *shape, enum stagesim_collective kind, double bytes,
                      const struct collective_costs *costs)
{
    double size = shape->node_size, nodes = shape->ranks / shape->node_size,
           turns = kind == STAGESIM_ALL_REDUCE ? 2 : 1;
    double inside = (size - 1) * (costs->node_alpha + bytes / size * costs->node_beta);
    double across = (nodes - 1) * (costs->alpha + bytes / shape->ranks * costs->beta);
    double reduced = kind == STAGESIM_ALL_GATHER ? 0 : bytes * (shape->ranks - 1) / shape->ranks;
    return turns * (inside + across) + reduced * costs->gamma;
}

struct ladder {
    struct collective_steps *steps;
    uint32_t size, nodes, round;
};

/* Local rank l of each node sends the blocks of one place, of all nodes. */
static void within(struct ladder *ladder, bool reduces)
{
    uint32_t size = ladder->size;
    for (uint32_t step = 0; step < size - 1; step++, ladder->round++)
        for (uint32_t rank = 0; rank < size * ladder->nodes; rank++) {
            uint32_t local = rank % size, place = (local + 2 * size - step - reduces) % size;
            steps_add(ladder->steps, ladder->round, rank, rank - local + (local + 1) % size, reduces, place, 1);
            for (uint32_t node = 1; node < ladder->nodes; node++)
                steps_join(ladder->steps, node * size + place, 1);
        }
}

static void across(struct ladder *ladder, bool reduces)
{
    uint32_t size = ladder->size, nodes = ladder->nodes;
    for (uint32_t step = 0; step < nodes - 1; step++, ladder->round++)
        for (uint32_t rank = 0; rank < size * nodes; rank++) {
            uint32_t local = rank % size, node = rank / size, of = (node + 2 * nodes - step - reduces) % nodes;
            steps_add(ladder->steps, ladder->round, rank, (node + 1) % nodes * size + local, reduces, of * size + local,
                      1);
        }
}

static void steps(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_steps *steps)
{
    struct ladder ladder = {steps, shape->node_size, shape->ranks / shape->node_size, 0};
    steps_cut(steps, shape->ranks, shape->ranks);
    if (kind != STAGESIM_ALL_GATHER) {
        within(&ladder, true);
        across(&ladder, true);
    }
    if (kind != STAGESIM_REDUCE_SCATTER) {
        across(&ladder, false);
        within(&ladder, false);
    }
}

static void add_within(const struct collective_shape *shape, struct collective_flows *flows)
{
    uint32_t size = shape->node_size, phase = flows->phases;
    for (uint32_t rank = 0; rank < shape->ranks; rank++)
        collective_flows_add(flows, phase, rank, rank - rank % size + (rank % size + 1) % size, (size - 1.0) / size,
                             size - 1);
}

static void flows(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_flows *flows)
{
    uint32_t ranks = shape->ranks, steps = (ranks / shape->node_size - 1) * (kind == STAGESIM_ALL_REDUCE ? 2 : 1);
    if (kind != STAGESIM_ALL_GATHER)
        add_within(shape, flows);
    uint32_t phase = flows->phases;
    for (uint32_t rank = 0; rank < ranks; rank++)
        collective_flows_add(flows, phase, rank, (rank + shape->node_size) % ranks, (double)steps / ranks, steps);
    if (kind != STAGESIM_REDUCE_SCATTER)
        add_within(shape, flows);
    flows->start = START_RINGS;
}

const struct collective_algorithm algorithm_hierarchical = {
    .name = "hierarchical",
    .summary = "rings within nodes, across nodes, within nodes",
    .source = "Cho, Finkler, Kung, Hunter 2019",
    .kinds = KIND(STAGESIM_ALL_REDUCE) | KIND(STAGESIM_REDUCE_SCATTER) | KIND(STAGESIM_ALL_GATHER),
    .refuses = refuses,
    .seconds = seconds,
    .steps = steps,
    .flows = flows,
};
