/* SPDX-License-Identifier: Apache-2.0 */
/* The shortest order that is found for a pipeline, with a proven lower bound: no order of the same placement, times,
 * latency and stashes takes less. */
#ifndef STAGESIM_BEST_H
#define STAGESIM_BEST_H

#include "schedules/best/instance.h"
#include "schedules/plan/plan.h"

enum {
    BEST_STAGES_MAX = 512,         /* of a plan */
    BEST_OF_WORKER_MAX = 64,       /* stages on a worker */
    BEST_OPERATIONS_MAX = 1 << 17, /* forwards, backwards and weight gradients together */
};

struct best_request {
    struct instance_request instance;
    uint64_t effort;                 /* states that may be looked at: the one budget, so that the result is the same
                                        on every machine */
    const struct plan *const *seeds; /* orders to begin with, NULL-terminated; those that do not fit are passed over */
    /* Told now and then the best time and the bound so far, in the caller's time; false ends the search early. NULL:
     * nobody. */
    bool (*report)(void *user, uint64_t evaluations, double makespan, double bound);
    void *user;
};

struct best_result {
    struct plan *plan; /* the caller's; NULL where no order keeps the limit */
    double makespan, bound;
    bool optimal; /* makespan is bound, with nothing rounded */
    bool stopped; /* report ended it */
    uint64_t evaluations;
};

/* False where the sizes are above the limits; the result is then untouched. */
bool best_search(const struct best_request *request, struct best_result *result);

#endif
