/* SPDX-License-Identifier: Apache-2.0 */
/* Lowers a pipeline schedule's plan to a program: computations in the plan's order, messages between stages, gradient
 * synchronisation and optimizer. Shared by all workloads that run on a pipeline. */
#ifndef STAGESIM_PIPELINE_H
#define STAGESIM_PIPELINE_H

#include "schedules/plan/plan.h"
#include "simulator/program/program.h"

/* What is lowered; borrowed for the call. */
struct pipeline_request {
    const struct plan *plan;
    const struct stagesim_pipeline *costs; /* costs->stages equals plan->stages */
    uint32_t repetitions; /* the plan is run that often, one after the other: synchronous iterations; 1 where the plan
                             itself spells out several */
    bool blocking;        /* a worker computes on when the messages of what it has computed have arrived */
};

/* Whether the exchanges of every stage's parts are at most STAGESIM_EXCHANGES_MAX in each direction. */
bool pipeline_exchanges_fit(const struct stagesim_pipeline *costs);

/* Adds everything to the builder. Position w of the builder's mesh is pipeline worker w. */
void pipeline_lower(const struct pipeline_request *request, const struct mesh *mesh, struct program_builder *builder);

#endif
