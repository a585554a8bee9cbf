/* SPDX-License-Identifier: Apache-2.0 */
/* Recursive doubling: partners at distance 1, 2, 4, ... exchange all they have. For an all-reduce of a number of ranks
 * that is no power of two, the ranks too many hand their data to a neighbour first and get the result from it at the
 * end. R. Thakur, R. Rabenseifner, W. Gropp, Optimization of collective communication operations in MPICH, IJHPCA 19
 * (2005). */
#include "simulator/collectives/algorithm.h"

static const char *refuses(const struct collective_shape *shape, enum stagesim_collective kind)
{
    return kind == STAGESIM_ALL_GATHER && !is_power_of_two(shape->ranks)
               ? "needs a power of two of ranks for an all-gather"
               : NULL;
}

static double seconds(const struct collective_shape *shape, enum stagesim_collective kind, double bytes,
                      const struct collective_costs *costs)
{
    uint32_t ranks = shape->ranks, rounds = log2_floor(ranks);
    if (kind == STAGESIM_ALL_GATHER)
        return rounds * costs->alpha + bytes * (ranks - 1) / ranks * costs->beta;
    double whole = costs->alpha + bytes * costs->beta,
           spare = is_power_of_two(ranks) ? 0 : 2 * whole + bytes * costs->gamma;
    return rounds * (whole + bytes * costs->gamma) + spare;
}

static void gather(uint32_t ranks, struct collective_steps *steps)
{
    steps_cut(steps, ranks, ranks);
    for (uint32_t distance = 1, round = 0; distance < ranks; distance *= 2, round++)
        for (uint32_t rank = 0; rank < ranks; rank++)
            steps_add(steps, round, rank, rank ^ distance, false, rank / distance * distance, distance);
}

static void steps(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_steps *steps)
{
    uint32_t ranks = shape->ranks, power = 1u << log2_floor(ranks), spare = ranks - power, round = 0;
    if (kind == STAGESIM_ALL_GATHER) {
        gather(ranks, steps);
        return;
    }
    steps_cut(steps, 1, 1);
    for (uint32_t i = 0; i < spare; i++)
        steps_add(steps, 0, 2 * i, 2 * i + 1, true, 0, 1);
    round += spare > 0;
    for (uint32_t distance = 1; distance < power; distance *= 2, round++)
        for (uint32_t i = 0; i < power; i++) {
            uint32_t partner = i ^ distance;
            steps_add(steps, round, i < spare ? 2 * i + 1 : i + spare,
                      partner < spare ? 2 * partner + 1 : partner + spare, true, 0, 1);
        }
    for (uint32_t i = 0; i < spare; i++)
        steps_add(steps, round, 2 * i + 1, 2 * i, false, 0, 1);
}

const struct collective_algorithm algorithm_recursive_doubling = {
    .name = "recursive-doubling",
    .summary = "partners at distance 1, 2, 4, ... exchange all they have; few steps, for small sizes",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .kinds = KIND(STAGESIM_ALL_REDUCE) | KIND(STAGESIM_ALL_GATHER),
    .refuses = refuses,
    .seconds = seconds,
    .steps = steps,
};
