/* SPDX-License-Identifier: Apache-2.0 */
/* Binomial tree from rank 0: in every round those that have the data hand it to as many others; a reduction goes
 * backwards. R. Thakur, R. Rabenseifner, W. Gropp, Optimization of collective communication operations in MPICH, IJHPCA
 * 19 (2005). */
#include "simulator/collectives/algorithm.h"

static double seconds(const struct collective_shape *shape, enum stagesim_collective kind, double bytes,
                      const struct collective_costs *costs)
{
    double gamma = kind == STAGESIM_REDUCE ? costs->gamma : 0;
    return log2_ceil(shape->ranks) * (costs->alpha + bytes * (costs->beta + gamma));
}

static void steps(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_steps *steps)
{
    uint32_t rounds = log2_ceil(shape->ranks);
    steps_cut(steps, 1, 1);
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t distance = 1u << (rounds - 1 - round);
        for (uint32_t rank = 0; rank + distance < shape->ranks; rank += 2 * distance)
            if (kind == STAGESIM_BROADCAST)
                steps_add(steps, round, rank, rank + distance, false, 0, 1);
            else
                steps_add(steps, rounds - 1 - round, rank + distance, rank, true, 0, 1);
    }
}

const struct collective_algorithm algorithm_binomial = {
    .name = "binomial",
    .summary = "binomial tree: those that have the data double in every round; for small sizes",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .kinds = KIND(STAGESIM_BROADCAST) | KIND(STAGESIM_REDUCE),
    .seconds = seconds,
    .steps = steps,
};
