/* SPDX-License-Identifier: Apache-2.0 */
/* Programs for tests: a schedule's plan with the same costs for every stage. */
#ifndef STAGESIM_TEST_PIPELINE_JOB_H
#define STAGESIM_TEST_PIPELINE_JOB_H

#include "schedules/plan.h"
#include "simulator/program.h"

struct arena;

/* Times in seconds and bytes of one worker's share; latency and bandwidth are the platform's. */
struct setting {
    uint32_t workers, micro_batches, data;
    double forward, backward, latency, bandwidth, message, gradient;
};

/* The program of a plan on a mesh of pipeline and data axes (data innermost or outermost), which is filled in. */
struct program *pipeline_job(const struct plan *plan, const struct setting *setting, bool data_innermost, struct mesh *mesh,
                             struct arena *arena);

#endif
