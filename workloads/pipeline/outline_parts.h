/* SPDX-License-Identifier: Apache-2.0 */
/* What the bounds of an outline share; for outline*.c only. */
#ifndef STAGESIM_PIPELINE_OUTLINE_PARTS_H
#define STAGESIM_PIPELINE_OUTLINE_PARTS_H

#include "workloads/pipeline/outline.h"

/* Bounds are sums in another order than the engine's: what rounding may make of them. */
static const double slack = 1 - 1e-9;

/* Seconds of a copy of a stage, with the communication that nothing hides. */
struct copy_times {
    double forward, backward; /* whole */
    double input;             /* of a split backward: its first part */
    double weight, block;     /* block: as in struct stagesim_pipeline where that has it, with exchanges */
    double exposed[2];        /* communication in `forward` and in `backward`, which a braid hides */
    double before;            /* of that in `forward` the part that may come before all computing */
    double message, back;     /* to the next stage of the pipeline, and from it */
};

struct outline {
    const struct pipeline_outline_request *request;
    struct copy_times *copies; /* [pipeline * stages + stage] */
    bool pairs;                /* two forwards as one exist */
    bool splits;               /* see pipeline_outline_splits */
};

/* The times of every stage, in the arena. */
struct outline outline_create(const struct pipeline_outline_request *request, struct arena *arena);
/* Of a stage in a pipeline. */
const struct copy_times *outline_copy(const struct outline *o, uint32_t pipeline, uint32_t stage);
/* Iterations are one after the other, and stages take the times that are given. */
bool outline_is_synchronous(const struct plan *plan);
/* Seconds that a worker computes, and what nothing hides beside it. */
double outline_own_work(const struct outline *o, const struct plan_order *order);
/* What comes before a worker's first slot: the forwards of the stages before. */
double outline_earliest_start(const struct outline *o, const struct slot *slot);
/* What follows a worker's last slot at the least: the backwards of the stages before it, without what may come later,
 * and the last one's step. */
double outline_shortest_tail(const struct outline *o, const struct slot *slot);
/* Steps of all stages that a worker holds. */
double outline_own_steps(const struct outline *o, uint32_t worker);
/* Computation alone; parts that vary as where they take least. */
struct copy_times outline_stage_computes(const struct outline *o, uint32_t stage);

/* Seconds that a micro-batch computes on all stages together, where the plan takes each once forward and once backward
 * through every stage and no two slots are one; 0 elsewhere. */
double outline_computing(const struct outline *o);

#endif
