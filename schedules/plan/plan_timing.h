/* SPDX-License-Identifier: Apache-2.0 */
/* When every slot of a plan starts and ends if messages only have a latency: the plan's bubbles and memory without a
 * platform. Independent of the simulator and linear in the slots. */
#ifndef STAGESIM_PLAN_TIMING_H
#define STAGESIM_PLAN_TIMING_H

#include "schedules/plan/plan.h"

/* Times in any one unit; arrays have one entry per stage of the plan. */
struct plan_costs {
    const double *forward, *backward; /* of a whole micro-batch in the stage; backward is the whole backward */
    const double *weight; /* the part of backward that is the weight gradient: the time of W, and what B of a split
                             backward is shorter by; may be NULL when nothing is split */
    const double *block;  /* a forward and a whole backward as one block, the mean of the two stages' entries, less
                             `weight`  where the backward is split; NULL: the sum of the two. Two forwards take their
                             sum,  braided  ones less as much as a forward and a backward do */
    double latency;       /* from the end of a slot until its message is at another worker; blocks no one */
    const double *hops;   /* [worker]: the same to the worker behind, for orders that follow the speed of links; plans
                             are timed with `latency`. NULL: they are alike */
    const double *attention[2]; /* shares of a forward and of a whole backward that are causal attention, for plans that
                                   cut sequences; NULL: none */
    double transfer;            /* of a stash to host memory or back, see plan_transfer_time */
};

struct plan_span {
    double start, end;
};

/* A plan's times and what follows from them; DESIGN's words: busy is the time in slots, T the iteration time. */
struct plan_timing {
    struct plan_span *spans; /* of all slots, worker by worker; slots of a block share theirs; stashes that move to a
                                partner take no time, those that move to host memory the transfer's, beside the others:
                                each worker has its own way out and its own way back */
    size_t *first;           /* [worker]: index of its first span */
    double *busy;            /* [worker] */
    double *peak_in_flight;  /* [worker]: plan_stash_peaks */
    double *iteration_ends;  /* [iteration]: end of its last slot */
    double makespan;         /* from the first start to the last end */
    double iteration; /* T: the makespan, or between the last two iteration ends where the plan spells out several */
    double mean_busy; /* mean over workers of busy, per iteration */
    double ratio, over_ideal; /* 1 - mean busy / T, T / mean busy - 1, busy per iteration */
    double span_max;          /* largest over workers of 1 - busy / (last end - first start of the worker) */
};

/* The time of a transfer as the plan's order was made for it, under these times of its stages. */
double plan_transfer_time(const struct plan *plan, const struct plan_costs *costs);

/* Times of a plan that passes plan_check. The caller finishes the timing. */
void plan_timing_init(struct plan_timing *timing, const struct plan *plan, const struct plan_costs *costs);
void plan_timing_finish(struct plan_timing *timing);

/* Puts another T in place of the plan's own, and the ratios that follow from it. */
void plan_timing_set_iteration(struct plan_timing *timing, double iteration);

/* Span of a slot. */
static inline struct plan_span plan_timing_span(const struct plan_timing *timing, uint32_t worker, size_t index)
{
    return timing->spans[timing->first[worker] + index];
}

/* How far the plan's time is above its bound, as a share of it: 0.018 is 1.8 %. 0 where they are equal, or where the
 * plan has no bound. */
double plan_timing_above_bound(const struct plan_timing *timing, const struct plan *plan);

#endif
