/* SPDX-License-Identifier: Apache-2.0 */
/* The flows of a collective: what engines run. A collective is one phase after another, each begins when the one before has
 * ended at all members. The flows of a phase start together; a flow stands for `steps` transfers that follow each other on one
 * edge: it takes the route's latency `steps` times and its bytes over its share of the route. */
#ifndef STAGESIM_COLLECTIVE_FLOWS_H
#define STAGESIM_COLLECTIVE_FLOWS_H

#include <stddef.h>
#include <stdint.h>

struct collective_phase_flow {
    uint32_t from, to; /* members, 0 .. ranks - 1 in rank order */
    uint32_t phase;
    uint32_t steps;
    double share; /* its bytes over the size of the collective */
};

struct collective_flows {
    struct collective_phase_flow *items; /* ordered by phase; NULL where all_to_all is set */
    size_t count, capacity;
    uint32_t phases;
    double total;        /* sum of the shares: what all members together send, over the size of the collective */
    uint32_t all_to_all; /* ranks of which each sends to every other in one phase: too many flows to keep; 0: kept ones */
};

/* Flow number `index`. */
struct collective_phase_flow collective_flow_at(const struct collective_flows *flows, size_t index);
/* Index of the first flow behind those of the phase that flow `first` belongs to. */
size_t collective_phase_end(const struct collective_flows *flows, size_t first);

/* Phases are added in order. */
void collective_flows_add(struct collective_flows *flows, uint32_t phase, uint32_t from, uint32_t to, double share, uint32_t steps);
/* Frees them. */
void collective_flows_finish(struct collective_flows *flows);

#endif
