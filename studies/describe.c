/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/describe.h"

#include "base/document.h"
#include "job/write/inputs.h"
#include "workloads/transformer/transformer.h"

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
                                    .notes = job->notes,
                                    .note_count = job->note_count,
                                    .power = job->power,
                                    .reserve = scenario->reserve};
}

bool scenario_has_band(const struct scenario *scenario)
{
    const struct transformer_parameters *p = scenario->parameters;
    return scenario->workload == &transformer_workload && !p->profile && !p->table && !(p->efficiency > 0);
}

static struct band find_band(const struct job *job, const struct run_description *run)
{
    const struct scenario *scenario = job->scenario;
    const struct transformer_parameters *p = scenario->parameters;
    const struct node *framework = node_get(scenario->root, "framework");
    const struct platform_host *hosts = job->platform->hosts;
    if (!scenario_has_band(scenario) || !run->gpu)
        return (struct band){0};
    struct band_job like = {.framework = framework ? framework->text : NULL,
                            .gpu = run->gpu,
                            .precision = run->precision,
                            .experts = p->model.experts > 0,
                            .calibrated = scenario->calibration != NULL};
    for (uint32_t rank = 1; rank < job->program->mesh->ranks && !like.several_nodes; rank++) {
        const char *first = hosts[job->hosts[0]].node, *other = hosts[job->hosts[rank]].node;
        like.several_nodes = first && other && strcmp(first, other) != 0;
    }
    return band_find(&like);
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
    run->band = find_band(job, run);
    run->currency = transformer ? scenario_word(scenario, "transformer.currency") : NULL;
    run->inputs = scenario_inputs(scenario, &run->input_count, arena, fault);
    return run->inputs != NULL;
}
