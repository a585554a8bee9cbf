/* SPDX-License-Identifier: Apache-2.0 */
/* The flows of a collective: what engines run. A collective is one phase of flows after another; a flow stands for
 * `steps` transfers that follow each other on one edge: it takes the route's latency `steps` times and its bytes over
 * its share of the route. Who has to be there before a flow begins is said by enum collective_start, and what follows
 * from it by simulator/collectives/arrivals.h. */
#ifndef STAGESIM_COLLECTIVE_FLOWS_H
#define STAGESIM_COLLECTIVE_FLOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When a flow may begin. A member is ready for its next phase when it has arrived and its flows of earlier phases have
 * ended. */
enum collective_start {
    START_TOGETHER, /* when all members have arrived; a phase when all flows of the one before have ended */
    START_PAIRS,    /* when its two members are ready */
    START_RINGS, /* the flows of a phase are rings: those of a ring when all its members are ready. They end together */
    START_CHAIN /* one phase, in the order in which the data pass: when its two members have arrived and the flow before
                   it moves. It ends no earlier than the flow before it and one start-up */
};

struct collective_phase_flow {
    uint32_t from, to; /* members, 0 .. ranks - 1 in rank order */
    uint32_t phase;
    uint32_t steps;
    double share; /* its bytes over the size of the collective */
};

struct estimate;
struct pair_bytes;

struct collective_flows {
    struct collective_phase_flow *items; /* ordered by phase; NULL where all_to_all is set */
    size_t count, capacity;
    uint32_t phases;
    double total; /* sum of the shares: what all members together send, over the size of the collective */
    const struct pair_bytes
        *pairs; /* each pair has its own bytes; borrowed. NULL: what a member sends is as in the others */
    uint32_t
        all_to_all; /* ranks of which each sends to every other in one phase: too many flows to keep; 0: kept ones */
    /* How long they take on these hosts, where somebody has asked; NULL otherwise. Both borrowed. */
    const struct estimate *estimate;
    const uint32_t *hosts;
    enum collective_start start;
    bool ends_apart; /* a member goes on when its own flows have ended; otherwise all do when the last flow has */
};

/* Whether members carry out their flows one after the other, each by itself: not all together, nor all at once. */
static inline bool collective_goes_by_members(const struct collective_flows *flows)
{
    return flows->start != START_TOGETHER && (flows->start != START_PAIRS || flows->phases > 1 || flows->ends_apart);
}

/* Flow number `index`. */
struct collective_phase_flow collective_flow_at(const struct collective_flows *flows, size_t index);
/* Index of the first flow behind those of the phase that flow `first` belongs to. */
size_t collective_phase_end(const struct collective_flows *flows, size_t first);

/* Phases are added in order. */
void collective_flows_add(struct collective_flows *flows, uint32_t phase, uint32_t from, uint32_t to, double share,
                          uint32_t steps);
/* Frees them. */
void collective_flows_finish(struct collective_flows *flows);

#endif
