/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a job whose micro-batches repeat without running them all. */
#ifndef STAGESIM_STEADY_RUN_H
#define STAGESIM_STEADY_RUN_H

#include "job/job.h"
#include "simulator/program/steady.h"
#include "simulator/run/folded_run.h"

/* As folded_run for a job of the scenario. Where the scenario allows it a shorter job is run, and where a state of that
 * comes back, the timeline is that of the whole job (simulator/program/extension.h); everything is run otherwise. */
bool steady_run(const struct scenario *scenario, const struct engine *engine, const struct engine_job *job,
                struct arena *arena, struct folded_run *run, struct steady *steady, struct fault *fault);

#endif
