/* SPDX-License-Identifier: Apache-2.0 */
/* Steady-state flows of the bandwidth-optimal algorithms. A ring over r ranks is 2(r-1) steps (all-reduce) or r-1 steps
 * (reduce-scatter, all-gather) in which every rank sends S/r bytes to its successor (Thakur, Rabenseifner, Gropp 2005; Patarasuk
 * and Yuan 2009); since each rank feeds one neighbour all the time, one flow per edge with the bytes of all steps uses the
 * links in the same way. Broadcast and reduce are a pipelined chain, all-to-all is pairwise exchange. */
#include "simulator/collectives/collective.h"

/* Stands for the empty messages of a barrier: SimGrid wants something to move. */
static const double barrier_bytes = 1e-3;

uint32_t collective_flow_count(enum stagesim_collective collective, uint32_t ranks)
{
    if (ranks < 2)
        return 0;
    switch (collective) {
    case STAGESIM_BROADCAST:
    case STAGESIM_REDUCE:
        return ranks - 1;
    case STAGESIM_ALL_TO_ALL:
        return ranks * (ranks - 1);
    default:
        return ranks;
    }
}

static struct collective_flow ring_flow(uint32_t ranks, double bytes, uint32_t index, uint32_t rounds)
{
    uint32_t steps = rounds * (ranks - 1);
    return (struct collective_flow){index, (index + 1) % ranks, bytes * steps / ranks, steps};
}

struct collective_flow collective_flow(enum stagesim_collective collective, uint32_t ranks, double bytes, uint32_t index)
{
    switch (collective) {
    case STAGESIM_BROADCAST:
        return (struct collective_flow){index, index + 1, bytes, ranks - 1};
    case STAGESIM_REDUCE:
        return (struct collective_flow){ranks - 1 - index, ranks - 2 - index, bytes, ranks - 1};
    case STAGESIM_ALL_TO_ALL: {
        uint32_t from = index / (ranks - 1), distance = index % (ranks - 1) + 1;
        return (struct collective_flow){from, (from + distance) % ranks, bytes / ranks, ranks - 1};
    }
    case STAGESIM_SEND_RECEIVE:
        return (struct collective_flow){index, (index + 1) % ranks, bytes, 1};
    case STAGESIM_REDUCE_SCATTER:
    case STAGESIM_ALL_GATHER:
        return ring_flow(ranks, bytes, index, 1);
    case STAGESIM_BARRIER:
        return ring_flow(ranks, barrier_bytes, index, 2);
    default:
        return ring_flow(ranks, bytes, index, 2);
    }
}

double collective_sent_bytes(enum stagesim_collective collective, uint32_t ranks, double bytes)
{
    uint32_t count = collective_flow_count(collective, ranks);
    return count && collective != STAGESIM_BARRIER ? count * collective_flow(collective, ranks, bytes, 0).bytes : 0;
}
