/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a collective whose members arrive at different times, without contention: when data of each member
 * begin to move, and when each is done. A transfer needs both its members and the data that it forwards; see enum
 * collective_start.
 *
 * START_PAIRS, START_RINGS: a phase of a member begins when its flows of earlier phases have ended; a flow (the flows
 * of a ring) begins when all its members have come so far, and lasts its latencies and its bytes over its route.
 *
 * START_CHAIN, flow i = 0, 1, ... of n: of the start-ups that a flow stands for, i lie before it (the data come over i
 * edges) and n - 1 - i behind it; those before it may pass while its members are not there yet. With h its latency for
 * one of them, a the later arrival of its members, t what it takes with all start-ups: v(i) = max(v(i - 1), a - i h),
 * v(0) = a; w(i) = max(w(i - 1), v(i) + t); it ends at w(i) - (n - 1 - i) h. On equal edges this is the recurrence for
 * small chunks: the first one leaves at s(i) = max(s(i - 1) + h, a), the last one arrives at e(i) = max(e(i - 1), s(i)
 * + S beta) + h.
 *
 * START_TOGETHER is last arrival and longest time, and not for here. On rings of equal edges the steps say the same: a
 * transfer waits for both its ranks, every rank takes part in every step, and what one rank does late reaches every
 * other within p - 1 steps, one place further in each; so all end (number of steps) * (time of one) after the last
 * arrival. */
#ifndef STAGESIM_COLLECTIVE_ARRIVALS_H
#define STAGESIM_COLLECTIVE_ARRIVALS_H

#include "platforms/platform.h"
#include "simulator/collectives/flows.h"

struct arena;
struct arrivals;

/* A collective: all its bytes, those of `repeats` buffers that are moved one after the other, and the ratios of its
 * protocol. */
struct arrivals_size {
    double bytes, repeats;
    struct platform_ratios ratios;
};

/* hosts[m]: where member m of `ranks` is; no platform: transfers take no time. Flows (not START_TOGETHER) and hosts are
 * borrowed, memory is the arena's. */
struct arrivals *arrivals_create(const struct collective_flows *flows, uint32_t ranks, struct platform *platform,
                                 const uint32_t *hosts, struct arena *arena);
/* ready[m]: when member m can begin, INFINITY: it has not come. starts[m]: when its first flow begins; ends[m]: when it
 * is done, INFINITY where it waits for somebody who has not come. Returns the latest end.
 *
 * Where all end together links that flows share are seen as far as is certain: what a link has to carry takes its time
 * from the first arrival on; and in one phase also what it has to carry for a member, from the arrival of that one on.
 */
double arrivals_evaluate(struct arrivals *arrivals, const struct arrivals_size *size, const double *ready,
                         double *starts, double *ends);

/* Start-ups of flow `index` of a chain that lie before it and behind it, as multiples of its route's latency;
 * `latency`: the protocol's ratio. */
static inline double arrivals_before(size_t index, const struct collective_phase_flow *flow, double latency)
{
    double count = flow->steps * latency > 1 ? flow->steps * latency : 1;
    return (double)index * count / flow->steps;
}

static inline double arrivals_behind(size_t index, const struct collective_phase_flow *flow, double latency)
{
    double count = flow->steps * latency > 1 ? flow->steps * latency : 1;
    return ((double)flow->steps - 1 - (double)index) * count / flow->steps;
}

#endif
