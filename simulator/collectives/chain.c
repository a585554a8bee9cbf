/* SPDX-License-Identifier: Apache-2.0 */
/* Pipelined chain: the data, cut into chunks, passes from rank to rank; a reduction comes from the last rank to rank 0.
 * Flows stand for many small chunks, the steps and the closed form for `chunks` of them: (p - 2 + c)(alpha + S/c beta).
 * P. Sanders, J. Speck, J. L. Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, Parallel
 * Computing 35 (2009), on the linear pipeline. */
#include "simulator/collectives/algorithm.h"

enum { CHUNKS = 16 };

static double seconds(const struct collective_shape *shape, enum stagesim_collective kind, double bytes,
                      const struct collective_costs *costs)
{
    double gamma = kind == STAGESIM_REDUCE ? costs->gamma : 0;
    return (shape->ranks - 2.0 + CHUNKS) * (costs->alpha + bytes / CHUNKS * (costs->beta + gamma));
}

static void steps(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_steps *steps)
{
    uint32_t last = shape->ranks - 1;
    steps_cut(steps, CHUNKS, CHUNKS);
    for (uint32_t place = 0; place < last; place++)
        for (uint32_t chunk = 0; chunk < CHUNKS; chunk++)
            if (kind == STAGESIM_BROADCAST)
                steps_add(steps, place + chunk, place, place + 1, false, chunk, 1);
            else
                steps_add(steps, place + chunk, last - place, last - place - 1, true, chunk, 1);
}

static void flows(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_flows *flows)
{
    uint32_t last = shape->ranks - 1;
    for (uint32_t place = 0; place < last; place++)
        if (kind == STAGESIM_BROADCAST)
            collective_flows_add(flows, 0, place, place + 1, 1, last);
        else
            collective_flows_add(flows, 0, last - place, last - place - 1, 1, last);
    flows->start = START_CHAIN;
}

const struct collective_algorithm algorithm_chain = {
    .name = "chain",
    .summary = "chunks pass from rank to rank",
    .source = "Sanders, Speck, Traeff 2009",
    .kinds = KIND(STAGESIM_BROADCAST) | KIND(STAGESIM_REDUCE),
    .automatic = true,
    .flowing = true,
    .seconds = seconds,
    .steps = steps,
    .flows = flows,
};
