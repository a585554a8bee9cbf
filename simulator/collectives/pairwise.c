/* SPDX-License-Identifier: Apache-2.0 */
/* Pairwise exchange: in round t every rank sends to the rank t places further on.
 * R. Thakur, R. Rabenseifner, W. Gropp, Optimization of collective communication operations in MPICH, IJHPCA 19 (2005).
 */
#include "simulator/collectives/algorithm.h"

static const char *refuses(const struct collective_shape *shape, enum stagesim_collective kind)
{
    (void)kind;
    return collective_refuses_many(shape);
}

static double seconds(const struct collective_shape *shape, enum stagesim_collective kind, double bytes,
                      const struct collective_costs *costs)
{
    (void)kind;
    return (shape->ranks - 1) * (costs->alpha + bytes / shape->ranks * costs->beta);
}

static void steps(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_steps *steps)
{
    (void)kind;
    uint32_t ranks = shape->ranks;
    steps_cut(steps, ranks * ranks, ranks);
    for (uint32_t distance = 1; distance < ranks; distance++)
        for (uint32_t rank = 0; rank < ranks; rank++) {
            uint32_t to = (rank + distance) % ranks;
            steps_add(steps, distance - 1, rank, to, false, rank * ranks + to, 1);
        }
}

const struct collective_algorithm algorithm_pairwise = {
    .name = "pairwise",
    .summary = "one peer after the other",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .kinds = KIND(STAGESIM_ALL_TO_ALL),
    .refuses = refuses,
    .seconds = seconds,
    .steps = steps,
};
