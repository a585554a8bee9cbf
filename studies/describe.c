/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/describe.h"

#include "job/write/inputs.h"

#include <string.h>

void job_describe(const struct job *job, struct run_description *run)
{
    const struct scenario *scenario = job->scenario;
    *run = (struct run_description){.scenario_file = scenario->file,
                                    .scenario_name = scenario->name,
                                    .platform_file = scenario->platform_name,
                                    .workload = scenario->workload->name,
                                    .schedule = scenario->schedule_name,
                                    .calibration = scenario->calibration,
                                    .micro_batch_size = (double)scenario->micro_batch_size,
                                    .figures = job->figures,
                                    .asynchronous = job->asynchronous,
                                    .staleness = job->staleness,
                                    .hosts = job->hosts,
                                    .power = job->power,
                                    .reserve = scenario->reserve};
}

bool job_describe_inputs(const struct job *job, const struct platform *platform, struct run_description *run,
                         struct arena *arena, struct fault *fault)
{
    const struct scenario *scenario = job->scenario;
    bool transformer = !strcmp(scenario->workload->name, "transformer");
    run->model = scenario_model_name(scenario, arena);
    run->precision = scenario_word(scenario, "compute.precision");
    run->gpu = job->program->mesh->ranks ? platform->hosts[job->hosts[0]].model : NULL;
    for (uint32_t rank = 1; rank < job->program->mesh->ranks && run->gpu; rank++) {
        const char *model = platform->hosts[job->hosts[rank]].model;
        if (!model || strcmp(model, run->gpu) != 0)
            run->gpu = NULL;
    }
    run->currency = transformer ? scenario_word(scenario, "transformer.currency") : NULL;
    run->inputs = scenario_inputs(scenario, &run->input_count, arena, fault);
    return run->inputs != NULL;
}
