/* SPDX-License-Identifier: Apache-2.0 */
/* All messages at once: all-to-all as accelerator libraries post it, and send-receive, where every rank sends to its
 * successor. One port for each rank: (p-1) alpha + (p-1)/p S beta, the messages sharing the port. NVIDIA, NCCL user
 * guide, point-to-point communication. */
#include "simulator/collectives/algorithm.h"

#include "simulator/program/pair_bytes.h"

static double seconds(const struct collective_shape *shape, enum stagesim_collective kind, double bytes,
                      const struct collective_costs *costs)
{
    if (kind == STAGESIM_SEND_RECEIVE)
        return costs->alpha + bytes * costs->beta;
    return (shape->ranks - 1) * (costs->alpha + bytes / shape->ranks * costs->beta);
}

static void steps(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_steps *steps)
{
    uint32_t ranks = shape->ranks, peers = kind == STAGESIM_SEND_RECEIVE ? 1 : ranks - 1;
    if (kind == STAGESIM_SEND_RECEIVE)
        steps_cut(steps, ranks, 1);
    else
        steps_cut(steps, ranks * ranks, ranks);
    for (uint32_t distance = 1; distance <= peers; distance++)
        for (uint32_t rank = 0; rank < ranks; rank++) {
            uint32_t to = (rank + distance) % ranks;
            steps_add(steps, 0, rank, to, false, kind == STAGESIM_SEND_RECEIVE ? rank : rank * ranks + to, 1);
        }
}

static void flows(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_flows *flows)
{
    uint32_t ranks = shape->ranks;
    if (kind == STAGESIM_ALL_TO_ALL)
        *flows = (struct collective_flows){
            .count = (size_t)ranks * (ranks - 1), .phases = 1, .total = ranks - 1.0, .all_to_all = ranks};
    for (uint32_t rank = 0; rank < ranks && kind == STAGESIM_SEND_RECEIVE; rank++)
        collective_flows_add(flows, 0, rank, (rank + 1) % ranks, 1, 1);
    flows->start = START_PAIRS;
}

static bool pair_moves(const struct pair_bytes *pairs, uint32_t from, uint32_t to)
{
    return from != to && pairs->shares[(size_t)from * pairs->members + to] > 0;
}

/* The most others that a member sends to or receives from. */
static uint32_t most_peers(const struct pair_bytes *pairs)
{
    uint32_t most = 0;
    for (uint32_t member = 0; member < pairs->members; member++) {
        uint32_t to = 0, from = 0;
        for (uint32_t other = 0; other < pairs->members; other++) {
            to += pair_moves(pairs, member, other);
            from += pair_moves(pairs, other, member);
        }
        most = to > most ? to : most;
        most = from > most ? from : most;
    }
    return most;
}

void collective_flows_of_pairs(struct collective_flows *flows, const struct pair_bytes *pairs)
{
    uint32_t members = pairs->members, steps = most_peers(pairs);
    *flows = (struct collective_flows){.pairs = pairs, .start = START_PAIRS};
    for (uint32_t from = 0; from < members; from++)
        for (uint32_t distance = 1; distance < members; distance++) {
            uint32_t to = (from + distance) % members;
            if (pair_moves(pairs, from, to))
                collective_flows_add(flows, 0, from, to, pairs->shares[(size_t)from * members + to], steps);
        }
}

const struct collective_algorithm algorithm_direct = {
    .name = "direct",
    .summary = "all messages at once",
    .source = "NVIDIA, NCCL user guide",
    .kinds = KIND(STAGESIM_ALL_TO_ALL) | KIND(STAGESIM_SEND_RECEIVE),
    .automatic = true,
    .flowing = true,
    .seconds = seconds,
    .steps = steps,
    .flows = flows,
};
