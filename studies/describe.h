/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says of the job that it is about. */
#ifndef STAGESIM_DESCRIBE_H
#define STAGESIM_DESCRIBE_H

#include "analysis/figures/report.h"
#include "job/job.h"

/* All but the engine's name; borrowed from the job and its scenario. */
void job_describe(const struct job *job, struct run_description *run);
/* Whether published jobs say something of such predictions: of transformers whose operators are timed by installed
 * tables and kernels, not by times of the user's own. */
bool scenario_has_band(const struct scenario *scenario);
/* How far measurements of such jobs lie from predictions; without rows where nothing is known. Plain data. */
struct job_bands {
    struct band time;
    struct memory_band memory;
};
/* The bands of jobs of a scenario on the platform's first `gpus` GPUs. */
struct job_bands scenario_bands(const struct scenario *scenario, const struct platform *platform, uint32_t gpus);
/* What only people read: the model, the precision, the inputs with their hashes. Reads the inputs' files again, false
 * with the fault filled where that fails; memory from the arena. */
bool job_describe_inputs(const struct job *job, const struct platform *platform, struct run_description *run,
                         struct arena *arena, struct fault *fault);

#endif
