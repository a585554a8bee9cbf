/* SPDX-License-Identifier: Apache-2.0 */
/* What a collective moves: the flows between its members, read by both engines and by the traffic statistics. */
#ifndef STAGESIM_COLLECTIVE_H
#define STAGESIM_COLLECTIVE_H

#include "workloads/workload.h"

#include <stdint.h>

/* One transfer of a collective. All flows start when the last member has arrived. A flow stands for `steps` transfers that
 * follow each other on one edge: it takes steps times the route's latency plus its bytes over its share of the route. */
struct collective_flow {
    uint32_t from, to; /* members, 0 .. ranks - 1 in rank order */
    double bytes;
    uint32_t steps;
};

/* Number of flows among that many ranks; 0 for one rank. */
uint32_t collective_flow_count(enum stagesim_collective collective, uint32_t ranks);
/* Flow number `index`; bytes is the collective's size with nccl-tests' meaning. */
struct collective_flow collective_flow(enum stagesim_collective collective, uint32_t ranks, double bytes, uint32_t index);
/* Sum of the bytes of all flows: what all members together send. */
double collective_sent_bytes(enum stagesim_collective collective, uint32_t ranks, double bytes);

#endif
