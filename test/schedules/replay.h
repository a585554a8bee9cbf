/* SPDX-License-Identifier: Apache-2.0 */
/* A second, independent evaluation of plans for the tests: every worker in turn runs as far as its inputs allow, until
 * all are through. Slow and simple. */
#ifndef STAGESIM_TEST_REPLAY_H
#define STAGESIM_TEST_REPLAY_H

#include "schedules/schedule.h"

/* Times of one micro-batch on one worker's share; a stage takes share / (stages per worker). */
struct replay_times {
    double forward, backward, weight; /* backward without the weight gradient */
    double block;                     /* of a joined forward and backward */
    double latency;                   /* of a message between two workers */
};

struct replay {
    double makespan;
    double span; /* the largest of the workers' times from first start to last end */
    double
        peak; /* the largest of the workers' stashes, in units of a micro-batch on one share, in the order of slots */
    double ends[8]; /* of iterations: when the last worker is through with iteration i (the first eight) */
    size_t slots;
};

/* Ends the test with a failure when the plan dead-locks. */
struct replay replay_plan(const struct plan *plan, struct replay_times times);

/* The default request of a schedule, planned and replayed; fails the test when it does not fit. */
struct replay replay_schedule(const char *name, uint32_t workers, uint32_t micro_batches, struct replay_times times);

/* The largest stash of one worker, as in struct replay. */
double replay_peak(const struct plan *plan, uint32_t worker);

/* The plan of a schedule with default options; fails the test when it does not fit. The caller owns it. */
struct plan *plan_default(const char *name, uint32_t workers, uint32_t micro_batches);

/* The order of a worker as text, "F0.1 B0.1", kind, stage, micro-batch; "+" before a slot that is joined to the one
 * before, no stage where a worker holds one only. The caller frees it. */
char *order_text(const struct plan *plan, uint32_t worker);

#endif
