/* SPDX-License-Identifier: Apache-2.0 */
#include "job/job_parts.h"

#include "base/arena.h"
#include "base/paths.h"
#include "base/process/limit.h"
#include "base/room.h"
#include "job/placement.h"
#include "job/scenario/abi.h"
#include "platforms/device.h"
#include "schedules/plan/plan_file.h"
#include "schedules/plan/plan_weights.h"
#include "schedules/plan_store.h"
#include "simulator/collectives/assignment.h"
#include "simulator/program/program_check.h"
#include "workloads/pipeline/pipeline.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the workload may ask ---- */

static uint32_t api_workers(const struct stagesim_job *job)
{
    return job->scenario->workers;
}

static uint32_t api_stages(const struct stagesim_job *job)
{
    if (job->plan)
        return job->plan->stages;
    if (!job->scenario->schedule)
        return job->scenario->workers;
    struct schedule_request request = scenario_schedule_request(job->scenario);
    return job->scenario->schedule->stages(&request);
}

static uint32_t api_micro_batches(const struct stagesim_job *job)
{
    return job->scenario->micro_batches;
}

static uint32_t api_iterations(const struct stagesim_job *job)
{
    return job->scenario->iterations;
}

static uint32_t api_positions(const struct stagesim_job *job)
{
    return job->scenario->mesh.positions;
}

static uint32_t api_axis(const struct stagesim_job *job, const char *name)
{
    return mesh_size(&job->job->mesh, name);
}

static double api_host_speed(const struct stagesim_job *job, uint32_t position)
{
    return platform_full_speed(&job->platform->hosts[job->job->hosts[mesh_rank(&job->scenario->mesh, position, 0)]]);
}

static void api_trouble(struct stagesim_job *job, const char *key, const char *format, ...)
{
    char message[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    diag_trouble(job->diag, scenario_blame(job->scenario, key, message), "%s", message);
}

/* A struct of the workload's in today's layout. False after reporting that it is of none that there has been. */
static bool take(struct stagesim_job *job, enum abi_struct which, const void *theirs, size_t size, void *ours)
{
    struct fault fault = {""};
    if (!abi_read(which, theirs, size, ours, &fault))
        job_error(job, NULL, "the workload hands over %s", fault.text);
    return !*fault.text;
}

static bool api_pipeline(struct stagesim_job *job, const struct stagesim_pipeline *theirs)
{
    struct stagesim_pipeline costs;
    limit_pause(); /* plans may take long, which is no fault of the plug-in's */
    bool planned = take(job, ABI_PIPELINE, theirs, theirs->size, &costs) && job_plan_pipeline(job, &costs);
    limit_go_on();
    return planned;
}

static const struct stagesim_slot *api_order(struct stagesim_job *job, const struct stagesim_pipeline *theirs,
                                             uint32_t worker, size_t *count)
{
    struct stagesim_pipeline times;
    *count = 0;
    limit_pause();
    bool planned =
        job->ordered || (take(job, ABI_PIPELINE, theirs, theirs->size, &times) && job_plan_order(job, &times));
    limit_go_on();
    return planned ? job_order(job, worker, count) : NULL;
}

static uint32_t api_worker_of(const struct stagesim_job *job, uint32_t position)
{
    return mesh_worker(&job->scenario->mesh, position);
}

/* ---- the device, and figures for the report ---- */

static struct stagesim_device api_device(const struct stagesim_job *job, uint32_t position)
{
    return device_of_host(&job->platform->hosts[job->job->hosts[mesh_rank(&job->scenario->mesh, position, 0)]]);
}

static double api_narrow_peak(const struct stagesim_job *job, uint32_t position)
{
    return job->platform->hosts[job->job->hosts[mesh_rank(&job->scenario->mesh, position, 0)]].peak[PRECISION_FP4];
}

/* 1 where all times are stretched alike. */
static double api_clock(struct stagesim_job *job, uint32_t position)
{
    const struct power_plan *power = job->job->power;
    if (!power || !power->capped || !power_by_operator(power->settings))
        return 1;
    job->clocked = true;
    return power->states[mesh_rank(&job->scenario->mesh, position, 0)].clock;
}

static double api_micro_batch_size(const struct stagesim_job *job)
{
    return (double)job->scenario->micro_batch_size;
}

static unsigned api_recompute(const struct stagesim_job *job)
{
    return job->scenario->recompute;
}

static unsigned api_recompute_of(const struct stagesim_job *job, uint32_t stage)
{
    const struct scenario *scenario = job->scenario;
    return stage < scenario->recompute_count ? scenario->recompute_of[stage] : scenario->recompute;
}

static const char *api_efficiency_table(struct stagesim_job *job, const char *model)
{
    return path_find_installed(INSTALLED_EFFICIENCY, model, ".csv", job->arena);
}

static void api_declare(struct stagesim_job *job, const struct stagesim_figures *figures)
{
    struct stagesim_figures known;
    if (!take(job, ABI_FIGURES, figures, figures->size, &known))
        return;
    if (known.pipeline_layout)
        known.pipeline_layout = arena_copy(job->arena, known.pipeline_layout);
    if (known.choices)
        known.choices = arena_copy(job->arena, known.choices);
    job->job->figures = known;
}

static bool api_scheduled(const struct stagesim_job *job)
{
    return job->scenario->schedule || job->scenario->schedule_file;
}

static void api_pace(struct stagesim_job *job, const struct stagesim_pace *pace)
{
    struct stagesim_pace known;
    if (take(job, ABI_PACE, pace, pace->size, &known))
        job->pace = known;
}

static const struct stagesim_api api = {
    .abi = STAGESIM_WORKLOAD_ABI,
    .size = sizeof api,
    .workers = api_workers,
    .stages = api_stages,
    .micro_batches = api_micro_batches,
    .iterations = api_iterations,
    .positions = api_positions,
    .axis = api_axis,
    .host_speed = api_host_speed,
    .error = job_error,
    .cost = job_add_cost,
    .group = job_add_group,
    .compute = job_add_compute,
    .delay = job_add_delay,
    .message = job_add_message,
    .collective = job_add_collective,
    .wait = job_add_wait,
    .static_memory = job_add_static_memory,
    .pipeline = api_pipeline,
    .device = api_device,
    .micro_batch_size = api_micro_batch_size,
    .recompute = api_recompute,
    .recompute_of = api_recompute_of,
    .clock = api_clock,
    .pairs_cost = job_add_pairs_cost,
    .efficiency_table = api_efficiency_table,
    .declare = api_declare,
    .varying_cost = job_add_varying_cost,
    .cut = job_cut,
    .scheduled = api_scheduled,
    .pace = api_pace,
    .collective_seconds = job_collective_seconds,
    .weights_travel = job_weights_travel,
    .stage_workers = job_stage_workers,
    .trouble = api_trouble,
    .recomputed = job_recomputed,
    .note = job_note,
    .narrow_peak = api_narrow_peak,
    .order = api_order,
    .worker_of = api_worker_of,
};

/* ---- the job ---- */

static uint64_t operations_of(const void *builder)
{
    return program_builder_operations(builder);
}

/* One of a workload's functions; those of plug-ins have to go on. */
static bool call(struct stagesim_job *building, const char *name,
                 bool (*function)(const void *parameters, struct stagesim_job *job, const struct stagesim_api *api))
{
    const struct scenario *scenario = building->scenario;
    const char *what =
        scenario->plugin ? arena_print(building->arena, "%s: its function '%s'", scenario->plugin, name) : NULL;
    if (what)
        limit_begin(what, limit_seconds(), operations_of, building->builder);
    bool good = function(scenario->parameters, building, &api);
    if (what)
        limit_end();
    return good;
}

static bool build(struct stagesim_job *building)
{
    const struct stagesim_workload *workload = building->scenario->workload;
    unsigned before = building->diag->errors;
    if (building->scenario->schedule_file && !job_read_plan(building))
        return false;
    const char *refusing = workload->check && !call(building, "check", workload->check) ? "check" : NULL;
    if (!refusing && !call(building, "build", workload->build))
        refusing = "build";
    /* Of a pipeline it is known before: an outline builds none. */
    if (!refusing && (!building->plan || building->ordered) &&
        job_refuse_operations(building, program_builder_operations(building->builder)))
        return false;
    bool sound = !refusing && building->diag->errors == before;
    if (refusing && building->diag->errors == before)
        job_error(building, NULL,
                  "the workload '%s' refuses the job (its function '%s' returned false) and does not say why",
                  workload->name, refusing);
    return sound;
}

static struct program *finish_program(struct stagesim_job *building)
{
    struct program *program = program_finish(building->builder, building->arena);
    assignment_create(program, building->arena);
    const struct plan *plan = building->plan;
    program->iterations = plan && plan->iterations > 1 ? plan->iterations : building->scenario->iterations;
    program->overlapping = (plan && plan->iterations > 1) || building->pace.overlapping;
    program->period = building->pace.period > 1 ? building->pace.period : 1;
    program->independent = building->pace.independent;
    program->pipelined = building->scenario->messages == MESSAGES_PIPELINED;
    program->uneven = building->uneven;
    program->workers = building->scenario->workers;
    program->stages = plan ? plan->stages : building->scenario->workers;
    program->micro_batches = building->scenario->micro_batches;
    if (building->job->power) {
        job_stretch(building, program);
        program->states = building->job->power->states;
    }
    return program;
}

/* What a workload's calls act on, with the ranks on their hosts. False with the mistake reported. */
static bool begin(struct stagesim_job *building, const struct scenario *scenario, struct platform *platform,
                  struct arena *arena, struct diag *diag)
{
    if (!scenario_check_platform(scenario, platform, diag))
        return false;
    struct job *job = arena_alloc(arena, sizeof *job);
    *job = (struct job){.scenario = scenario, .platform = platform, .mesh = scenario->mesh};
    job->hosts = arena_array(arena, scenario->mesh.ranks, sizeof *job->hosts);
    *building = (struct stagesim_job){.scenario = scenario,
                                      .platform = platform,
                                      .job = job,
                                      .seen = arena_array(arena, scenario->mesh.positions, sizeof(uint32_t)),
                                      .arena = arena,
                                      .diag = diag,
                                      .crossing = 1};
    if (!placement_fill(scenario, platform, job->hosts, diag) || !job_plan_power(scenario, job, arena, diag))
        return false;
    if (scenario->placement == PLACEMENT_NIC_AWARE && placement_is_order(scenario, job->hosts))
        job_tell(building, "placement", "nic-aware places the ranks in the order of the hosts, as without it");
    if (platform->capped)
        job_tell(building, "what_if", "%s", platform->capped);
    building->builder = program_builder_create(&job->mesh);
    return true;
}

static void end(struct stagesim_job *building)
{
    free(building->times);
    program_builder_destroy(building->builder);
    if (building->own_plan)
        plan_destroy((struct plan *)(uintptr_t)building->plan);
    plan_destroy(building->outline);
}

static struct job *create(const struct scenario *scenario, struct platform *platform, uint32_t crossing,
                          struct job_repetition *repetition, struct arena *arena, struct diag *diag)
{
    struct stagesim_job building;
    if (!begin(&building, scenario, platform, arena, diag))
        return NULL;
    struct job *job = building.job;
    building.crossing = crossing;
    building.repetition = repetition;
    struct fault fault = {""};
    bool ok = build(&building);
    if (ok) {
        struct program *program = finish_program(&building);
        job->program = program;
        ok = program_check(program, &fault) || job_expect(&building, false, "%s", fault.text);
        ok = ok && (!repetition || !repetition->more || job_find_beats(&building));
        if (ok) {
            assignment_place(program->assignment, platform, job->hosts, &scenario->collectives);
            job_tell_algorithms(&building, program);
            job_tell_training(&building);
        }
    }
    job->asynchronous |= building.pace.independent;
    end(&building);
    return ok ? job : NULL;
}

struct job *job_create(const struct scenario *scenario, struct platform *platform, uint32_t crossing,
                       struct arena *arena, struct diag *diag)
{
    return create(scenario, platform, crossing, NULL, arena, diag);
}

struct job *job_create_part(const struct scenario *scenario, struct platform *platform, struct arena *arena,
                            struct diag *diag, struct job_repetition *repetition)
{
    return create(scenario, platform, 1, repetition, arena, diag);
}

/* To the costs of the pipeline what else of the workload the times and the throughput follow from. */
static void finish_imprint(const struct stagesim_job *building, struct imprint *imprint)
{
    const struct stagesim_figures *figures = &building->job->figures;
    if (building->adds)
        imprint->count = 0;
    if (!imprint->count)
        return;
    imprint_add_number(imprint, figures->sequence_length);
    imprint_add_number(imprint, figures->model_flops);
    imprint_add_number(imprint, figures->peak_flops);
    imprint_add(imprint, (uint64_t)building->pace.period << 3 | (uint64_t)building->pace.overlapping << 2 |
                             (uint64_t)building->pace.independent << 1 | building->clocked);
}

bool job_outline(const struct scenario *scenario, struct platform *platform, enum job_bounds bounds,
                 struct arena *arena, struct diag *diag, struct job_outline *outline)
{
    struct stagesim_job building;
    *outline = (struct job_outline){.known = false};
    if (!begin(&building, scenario, platform, arena, diag))
        return false;
    building.sketch = outline;
    building.bounds = bounds;
    building.crossing = 2; /* shows whether the plan spells out more than one */
    bool ok = build(&building);
    outline->figures = building.job->figures;
    if (scenario->iterations > 1 &&
        (building.pace.overlapping || building.pace.independent || building.pace.period > 1))
        outline->work = outline->order = outline->any = 0; /* the time is not that of iterations alone */
    finish_imprint(&building, &outline->imprint);
    end(&building);
    return ok;
}
