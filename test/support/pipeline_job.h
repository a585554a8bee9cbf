/* SPDX-License-Identifier: Apache-2.0 */
/* Programs for tests: a schedule's plan with the same costs for every stage. */
#ifndef STAGESIM_TEST_PIPELINE_JOB_H
#define STAGESIM_TEST_PIPELINE_JOB_H

#include "schedules/plan/plan.h"
#include "simulator/program/program.h"

struct arena;

/* Times in seconds and bytes of one worker's share; latency and bandwidth are the platform's. */
struct setting {
    uint32_t workers, micro_batches, data;
    double forward, backward, latency, bandwidth, message, gradient;
    uint32_t tensor;     /* ranks along an axis of that name; 0: there is none */
    bool tensor_outside; /* outermost, otherwise innermost */
    /* Of every forward and every backward, among others the tensor axis'; NULL: none. */
    const struct stagesim_exchanges *forward_exchanges, *backward_exchanges;
};

/* The program of a plan on a mesh of pipeline and data axes (data inside or outside of pipeline), which is filled in.
 */
struct program *pipeline_job(const struct plan *plan, const struct setting *setting, bool data_innermost,
                             struct mesh *mesh, struct arena *arena);

#endif
