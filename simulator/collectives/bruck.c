/* SPDX-License-Identifier: Apache-2.0 */
/* Bruck's algorithms: an all-to-all in which data travels the binary digits of its distance, and an all-gather over
 * distances 1, 2, 4, ..., both in ceil(log2 p) rounds for any number of ranks. J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal,
 * D. Weathersby, Efficient algorithms for all-to-all communications in multiport message-passing systems, IEEE TPDS 8
 * (1997). */
#include "simulator/collectives/algorithm.h"

static const char *refuses(const struct collective_shape *shape, enum stagesim_collective kind)
{
    return kind == STAGESIM_ALL_TO_ALL ? collective_refuses_many(shape) : NULL;
}

/* Number of distances 1 .. ranks - 1 that have the binary digit `bit`. */
static uint32_t distances_with(uint32_t ranks, uint32_t bit)
{
    uint32_t whole = ranks / (2 * bit) * bit, rest = ranks % (2 * bit);
    return whole + (rest > bit ? rest - bit : 0);
}

static double seconds(const struct collective_shape *shape, enum stagesim_collective kind, double bytes,
                      const struct collective_costs *costs)
{
    uint32_t ranks = shape->ranks;
    if (kind == STAGESIM_ALL_GATHER)
        return log2_ceil(ranks) * costs->alpha + bytes * (ranks - 1) / ranks * costs->beta;
    double sum = 0;
    for (uint32_t bit = 1; bit < ranks; bit *= 2)
        sum += costs->alpha + bytes * distances_with(ranks, bit) / ranks * costs->beta;
    return sum;
}

static void gather(uint32_t ranks, struct collective_steps *steps)
{
    steps_cut(steps, ranks, ranks);
    for (uint32_t have = 1, round = 0; have < ranks; have *= 2, round++)
        for (uint32_t rank = 0; rank < ranks; rank++) {
            uint32_t count = have < ranks - have ? have : ranks - have,
                     straight = rank + count > ranks ? ranks - rank : count;
            steps_add(steps, round, rank, (rank + ranks - have) % ranks, false, rank, straight);
            if (straight < count)
                steps_join(steps, 0, count - straight);
        }
}

/* What starts at s and has to travel d = destination - s is, after the digits below `bit`, at s + d mod bit. */
static void exchange(uint32_t ranks, struct collective_steps *steps)
{
    steps_cut(steps, ranks * ranks, ranks);
    for (uint32_t bit = 1, round = 0; bit < ranks; bit *= 2, round++)
        for (uint32_t rank = 0; rank < ranks; rank++) {
            bool first = true;
            for (uint32_t distance = bit; distance < ranks; distance++) {
                if (!(distance & bit))
                    continue;
                uint32_t source = (rank + ranks - distance % bit) % ranks,
                         block = source * ranks + (source + distance) % ranks;
                if (first)
                    steps_add(steps, round, rank, (rank + bit) % ranks, false, block, 1);
                else
                    steps_join(steps, block, 1);
                first = false;
            }
        }
}

static void steps(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_steps *steps)
{
    if (kind == STAGESIM_ALL_GATHER)
        gather(shape->ranks, steps);
    else
        exchange(shape->ranks, steps);
}

const struct collective_algorithm algorithm_bruck = {
    .name = "bruck",
    .summary = "ceil(log2 p) rounds for any number of ranks; for small sizes",
    .source = "Bruck, Ho, Kipnis, Upfal, Weathersby 1997",
    .kinds = KIND(STAGESIM_ALL_TO_ALL) | KIND(STAGESIM_ALL_GATHER),
    .refuses = refuses,
    .seconds = seconds,
    .steps = steps,
};
