/* SPDX-License-Identifier: Apache-2.0 */
/* What kind of job a timeline is of: how its ranks are arranged, and by which schedule they work. */
#ifndef STAGESIM_EXPLAIN_RECOGNISE_H
#define STAGESIM_EXPLAIN_RECOGNISE_H

#include "traces/recorded.h"

struct arena;

struct recognised {
    uint32_t workers, stages;                        /* of the pipeline; 0: nothing is known of it */
    uint32_t replicas;                               /* of the pipeline in the trace */
    uint32_t micro_batches;                          /* of a step and replica, the most that there are */
    size_t step_count, forwards, backwards, weights; /* operations */
    const char *schedule;        /* the first schedule of the table whose order is the trace's most often; NULL: none */
    const char *alike;           /* others whose order is the same here: "h-1f1b, bpipe"; "" */
    uint32_t followed, compared; /* steps of a replica in which the order is the schedule's; all */
};

/* Memory from the arena. */
void recognise(const struct recorded *recorded, const uint32_t *steps, size_t step_count, struct arena *arena,
               struct recognised *recognised);

#endif
