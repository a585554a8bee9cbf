/* SPDX-License-Identifier: Apache-2.0 */
/* Local search: changes of a plan's busiest ranks that a judge finds faster. */
#ifndef STAGESIM_SHARDING_IMPROVE_H
#define STAGESIM_SHARDING_IMPROVE_H

#include "studies/sharding/task.h"

/* Who says how long an iteration takes. */
struct sharding_judge {
    /* Seconds; INFINITY where the plan does not fit or cannot be run. loads[rank]: what of it is the rank's work. */
    double (*seconds)(void *user, const struct dlrm_placement *placement, double *loads);
    bool (*stopped)(void); /* whether the search is to end */
    void *user;
    uint32_t budget; /* plans that may still be asked for; counted down */
};

/* Moves a part of the busiest rank to one that computes less, changes it for a smaller one, cuts its table by rows or
 * columns, cuts it over all ranks, or copies it to all. The first change is kept that is faster, or as fast with a
 * smaller sum of squares of the loads: where several ranks are the busiest, one change alone is not faster. It ends
 * when there is none, or the budget is spent. Returns the seconds of the plan; `loads`, of task->ranks, are those of
 * it. */
double sharding_improve(const struct sharding_task *task, struct sharding_judge *judge,
                        struct dlrm_placement *placement, double *loads);

#endif
