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
                                    .release = scenario->release,
                                    .calibration = scenario->calibration,
                                    .micro_batch_size = (double)scenario->micro_batch_size,
                                    .figures = job->figures,
                                    .settle = scenario->settled || scenario->found,
                                    .asynchronous = job->asynchronous,
                                    .staleness = job->staleness,
                                    .hosts = job->hosts,
                                    .notes = job->notes,
                                    .note_count = job->note_count,
                                    .power = job->power,
                                    .reserve = scenario->reserve};
    const struct scenario_imported *imported = scenario->imported;
    if (imported)
        run->imported =
            (struct run_imported){imported->summary, imported->not_modelled, imported->not_known, imported->assumed};
}

bool scenario_has_band(const struct scenario *scenario)
{
    const struct transformer_parameters *p = scenario->parameters;
    return scenario->workload == &transformer_workload && !p->profile && !p->table && !(p->efficiency > 0);
}

/* The model of the GPUs of all ranks; NULL: they differ. hosts NULL: rank r is on host r. */
static const char *gpu_of(const struct platform *platform, const uint32_t *hosts, uint32_t ranks)
{
    const char *gpu = ranks ? platform->hosts[hosts ? hosts[0] : 0].model : NULL;
    for (uint32_t rank = 1; rank < ranks && gpu; rank++) {
        const char *model = platform->hosts[hosts ? hosts[rank] : rank].model;
        if (!model || strcmp(model, gpu) != 0)
            gpu = NULL;
    }
    return gpu;
}

/* What of a job says which published ones are like it. False: none are. */
static bool find_like(const struct scenario *scenario, const struct platform *platform, const uint32_t *hosts,
                      uint32_t ranks, struct band_job *like)
{
    const struct transformer_parameters *p = scenario->parameters;
    const char *gpu = gpu_of(platform, hosts, ranks);
    if (scenario->workload != &transformer_workload || !gpu)
        return false;
    *like = (struct band_job){.framework = scenario->framework_name,
                              .gpu = gpu,
                              .precision = scenario_word(scenario, "compute.precision"),
                              .experts = p->model.experts > 0,
                              .calibrated = scenario->calibrated_runs > 0};
    const char *first = platform->hosts[hosts ? hosts[0] : 0].node;
    for (uint32_t rank = 1; rank < ranks && !like->several_nodes; rank++) {
        const char *other = platform->hosts[hosts ? hosts[rank] : rank].node;
        like->several_nodes = first && other && strcmp(first, other) != 0;
    }
    return true;
}

static struct job_bands find_bands(const struct scenario *scenario, const struct platform *platform,
                                   const uint32_t *hosts, uint32_t ranks)
{
    struct job_bands bands = {.time.rows = 0};
    struct band_job like;
    if (!find_like(scenario, platform, hosts, ranks, &like))
        return bands;
    if (scenario_has_band(scenario))
        bands.time = band_of_own(scenario->left_out, scenario->left_out_count);
    if (scenario_has_band(scenario) && !bands.time.rows)
        bands.time = band_find(&like);
    double extra = ((const struct transformer_parameters *)scenario->parameters)->extra_memory;
    bands.memory = memory_band_of_own(scenario->left_out_memory, scenario->left_out_memory_count);
    bands.memory.beside = extra;
    if (!bands.memory.band.rows)
        bands.memory = memory_band_find(&like, extra);
    return bands;
}

struct job_bands scenario_bands(const struct scenario *scenario, const struct platform *platform, uint32_t gpus)
{
    return find_bands(scenario, platform, NULL, gpus < platform->host_count ? gpus : platform->host_count);
}

bool job_describe_inputs(const struct job *job, const struct platform *platform, struct run_description *run,
                         struct arena *arena, struct fault *fault)
{
    const struct scenario *scenario = job->scenario;
    bool transformer = !strcmp(scenario->workload->name, "transformer");
    run->model = scenario_model_name(scenario, arena);
    run->precision = scenario_word(scenario, "compute.precision");
    run->gpu = gpu_of(platform, job->hosts, job->program->mesh->ranks);
    struct job_bands bands = find_bands(scenario, platform, job->hosts, job->program->mesh->ranks);
    run->band = bands.time;
    run->memory = bands.memory;
    run->currency = transformer ? scenario_word(scenario, "transformer.currency") : NULL;
    run->inputs = scenario_inputs(scenario, &run->input_count, arena, fault);
    return run->inputs != NULL;
}
