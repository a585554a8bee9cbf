/* SPDX-License-Identifier: Apache-2.0 */
/* The times of a job from a shorter one, without contention and without the whole one being built.
 *
 * Why this is exact. (1) The plan of the whole job is that of the shorter one but for beats that repeat in the middle
 * of every worker's order: compared slot by slot (schedules/plan/plan_repeats.h). (2) What becomes of the slots of such
 * a beat is seen in a second program, which has one beat more and is compared operation by operation, waits and costs
 * included. (3) The shorter job's timeline has a cycle within these beats (simulator/program/extension.h). So the whole
 * job goes through the cycle that many more times. */
#ifndef STAGESIM_SHORTENED_H
#define STAGESIM_SHORTENED_H

#include "job/job.h"
#include "simulator/program/steady.h"
#include "simulator/run/folded_run.h"

struct shortened {
    const struct job *job; /* with fewer micro-batches */
    struct folded_run run; /* of it, on the analytic engine; the caller destroys the timeline */
    struct steady steady;  /* `cycles` and `left_out` say what it lacks */
    double operations;     /* of one replica of the whole job */
    uint32_t step;         /* micro-batches of a beat */
};

/* False where nothing is found to repeat, or the scenario forbids it; then nothing is left to be freed. `classes` may
 * be NULL. Memory from the arena. */
bool shortened_run(const struct scenario *scenario, struct platform *platform, struct class_store *classes,
                   struct arena *arena, struct shortened *shortened);

/* The same job with transfers that take no time, and its own cycle. False where that does not go into what the whole
 * job has more. The caller destroys the timeline; memory from the arena. */
bool shortened_run_free(const struct shortened *shortened, struct class_store *classes, struct arena *arena,
                        struct timeline **timeline, struct steady *steady);

#endif
