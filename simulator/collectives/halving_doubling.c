/* SPDX-License-Identifier: Apache-2.0 */
/* Recursive halving and doubling: partners at distance p/2, p/4, ..., 1 exchange halves of what is left to reduce; an
 * all-gather by doubling follows in an all-reduce. For a number of ranks that is no power of two, the ranks too many
 * hand their data to a neighbour first and get the result from it at the end. R. Rabenseifner, Optimization of
 * collective reduction operations, ICCS 2004. */
#include "simulator/collectives/algorithm.h"

static const char *refuses(const struct collective_shape *shape, enum stagesim_collective kind)
{
    return kind != STAGESIM_ALL_REDUCE && !is_power_of_two(shape->ranks)
               ? "needs a power of two of ranks but for an all-reduce"
               : NULL;
}

static double seconds(const struct collective_shape *shape, enum stagesim_collective kind, double bytes,
                      const struct collective_costs *costs)
{
    uint32_t rounds = log2_floor(shape->ranks), power = 1u << rounds;
    double moved = bytes * (power - 1) / power, turns = kind == STAGESIM_ALL_REDUCE ? 2 : 1;
    double spare = power == shape->ranks ? 0 : 2 * (costs->alpha + bytes * costs->beta) + bytes * costs->gamma;
    return turns * (rounds * costs->alpha + moved * costs->beta) +
           (kind == STAGESIM_ALL_GATHER ? 0 : moved * costs->gamma) + spare;
}

struct halving {
    struct collective_steps *steps;
    uint32_t power, spare, round;
};

static uint32_t rank_of(const struct halving *halving, uint32_t number)
{
    return number < halving->spare ? 2 * number + 1 : number + halving->spare;
}

/* Every number sends its partner that half of the range they share which the partner keeps. */
static void halve(struct halving *halving)
{
    for (uint32_t distance = halving->power / 2; distance; distance /= 2, halving->round++)
        for (uint32_t i = 0; i < halving->power; i++) {
            uint32_t partner = i ^ distance;
            steps_add(halving->steps, halving->round, rank_of(halving, i), rank_of(halving, partner), true,
                      partner / distance * distance, distance);
        }
}

static void twice(struct halving *halving)
{
    for (uint32_t distance = 1; distance < halving->power; distance *= 2, halving->round++)
        for (uint32_t i = 0; i < halving->power; i++)
            steps_add(halving->steps, halving->round, rank_of(halving, i), rank_of(halving, i ^ distance), false,
                      i / distance * distance, distance);
}

static void steps(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_steps *steps)
{
    uint32_t power = 1u << log2_floor(shape->ranks);
    struct halving halving = {steps, power, shape->ranks - power, shape->ranks > power};
    steps_cut(steps, power, power);
    for (uint32_t i = 0; i < halving.spare; i++)
        steps_add(steps, 0, 2 * i, 2 * i + 1, true, 0, power);
    if (kind != STAGESIM_ALL_GATHER)
        halve(&halving);
    if (kind != STAGESIM_REDUCE_SCATTER)
        twice(&halving);
    for (uint32_t i = 0; i < halving.spare; i++)
        steps_add(steps, halving.round, 2 * i + 1, 2 * i, false, 0, power);
}

const struct collective_algorithm algorithm_halving_doubling = {
    .name = "halving-doubling",
    .summary = "recursive halving, then doubling (Rabenseifner): few steps and the least data",
    .source = "Rabenseifner 2004",
    .kinds = KIND(STAGESIM_ALL_REDUCE) | KIND(STAGESIM_REDUCE_SCATTER) | KIND(STAGESIM_ALL_GATHER),
    .refuses = refuses,
    .seconds = seconds,
    .steps = steps,
};
