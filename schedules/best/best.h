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

struct best_progress {
    uint64_t evaluations;
    double makespan, bound; /* of the best order so far, and what is proved; in the caller's time; INFINITY: none yet */
};

struct best_request {
    struct instance_request instance;
    uint64_t effort;                 /* states that may be looked at: the one budget, so that the result is the same
                                        on every machine */
    const struct plan *const *seeds; /* orders to begin with, NULL-terminated; those that do not fit are passed over */
    /* Told now and then how far it is; false ends the search early. NULL: nobody. */
    bool (*report)(void *user, const struct best_progress *progress);
    void *user;
};

struct best_result {
    struct plan *plan; /* the caller's; NULL where no order keeps the limit */
    double makespan, bound;
    double rate, rate_bound; /* see struct plan */
    bool optimal;            /* makespan is bound, with nothing rounded */
    bool stopped;            /* report ended it */
    uint64_t evaluations;
};

/* A time, in the caller's, that no order of an instance takes less than: what best_search knows before it looks at any.
 * 0 where the sizes are above the limits. */
double best_bound(const struct instance_request *request);

/* False where the sizes are above the limits; the result is then untouched. */
bool best_search(const struct best_request *request, struct best_result *result);

#endif
