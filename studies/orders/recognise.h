/* SPDX-License-Identifier: Apache-2.0 */
/* What kind of job a timeline is of: how its ranks are arranged, and by which schedule they work. */
#ifndef STAGESIM_ORDERS_RECOGNISE_H
#define STAGESIM_ORDERS_RECOGNISE_H

#include "job/scenario/scenario.h"
#include "traces/recorded.h"

struct arena;

struct recognised {
    uint32_t workers, stages;    /* of the pipeline; 0: nothing is known of it */
    uint32_t replicas;           /* of the pipeline in the trace */
    uint32_t micro_batches;      /* of a step and replica, the most that there are */
    uint32_t slices;             /* that each of them is cut into, where the schedule does so; 1 */
    const char *schedule;        /* the first schedule of the table whose order is the trace's most often; NULL: none */
    const char *options;         /* of it, where they are not the default: "memory 2p"; "" */
    const char *alike;           /* others whose order is the same here: "h-1f1b, bpipe"; "" */
    uint32_t followed, compared; /* steps of a replica in which the order is the schedule's; all */
    const char *closest;         /* where no order is the trace's: the schedule that comes nearest; NULL: none does */
    size_t apart, of; /* computations of the first step and replica that stand elsewhere there; all of them */
};

/* Memory from the arena. */
void recognise(const struct recorded *recorded, struct arena *arena, struct recognised *recognised);

/* If the trace has the order of a run of the scenario, names the scenario's schedule first. How many micro-batches, or
 * slices of them, that run has; 0: they are not known. */
uint32_t recognise_scenario(const struct recorded *recorded, const struct recorded *run,
                            const struct scenario *scenario, struct arena *arena, struct recognised *recognised);

#endif
