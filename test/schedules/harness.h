/* SPDX-License-Identifier: Apache-2.0 */
/* What the schedule tests share: a schedule's plan, checked, with its times for equal workers. */
#ifndef STAGESIM_TEST_HARNESS_H
#define STAGESIM_TEST_HARNESS_H

#include "schedules/plan/plan_check.h"
#include "schedules/plan/plan_timing.h"
#include "schedules/schedule.h"

/* Times of one micro-batch on one worker's share; backward whole; block 0: the sum. */
struct times {
    double forward, backward, weight, latency, block;
};

/* A request with default options and then the given ones: words "key=value", NULL ends. Fails the test on unknown ones.
 */
struct schedule_request harness_request(const char *name, uint32_t workers, uint32_t micro_batches,
                                        const char *const *options);

/* The checked plan; fails the test with the mistake when the checker refuses it. */
struct plan *harness_plan(const char *name, const struct schedule_request *request);

/* What a test looks at. */
struct outcome {
    double makespan, ratio, over_ideal, span_max, iteration;
    double span_cost;  /* largest per-worker time from first start to last end */
    double peaks[256]; /* of the first workers */
    double peak_least, peak_most;
};

struct outcome harness_run(const char *name, const struct schedule_request *request, struct times times);

/* The same with default options and `options` as above. */
struct outcome harness_outcome(const char *name, uint32_t workers, uint32_t micro_batches, const char *const *options,
                               struct times times);

/* Whether two numbers agree to 1e-9, relative to the larger where that is above 1. */
bool harness_equal(double left, double right);

#endif
