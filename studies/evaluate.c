/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/evaluate.h"

#include "base/arena.h"
#include "simulator/engines/analytic/columns.h"
#include "simulator/engines/engine.h"
#include "simulator/engines/folded_run.h"
#include "simulator/scenario/shortened.h"
#include "simulator/scenario/steady_run.h"
#include "studies/describe.h"

uint64_t count_operations(const struct program *program)
{
    uint64_t count = 0;
    for (uint32_t position = 0; position < program->mesh->positions; position++)
        count += program->positions[position].operation_count;
    return count;
}

/* NULL with the mistakes reported. */
static struct scenario *load(const struct evaluation_request *request, struct arena *arena, struct diag *diag)
{
    struct scenario_request changed =
        scenario_request_with(&request->scenario, request->changes, request->change_count, arena);
    struct scenario *scenario = scenario_load(&changed, arena, diag);
    if (scenario) {
        scenario->plans = request->plans;
        scenario->operations_max = request->operations_max;
    }
    return scenario;
}

bool evaluate_outline(const struct evaluation_request *request, struct platform *platform, enum job_bounds bounds,
                      struct arena *arena, struct diag *diag, struct job_outline *outline)
{
    struct scenario *scenario = load(request, arena, diag);
    return scenario && job_outline(scenario, platform, bounds, arena, diag, outline);
}

static void report_on(const struct evaluation_request *request, const struct job *job,
                      const struct stagesim_figures *figures, const struct steady *steady, struct timeline *timeline,
                      struct arena *arena, struct evaluation *evaluation)
{
    struct run_description description;
    job_describe(job, &description);
    description.engine = engine_analytic.name;
    description.brief = true;
    description.memory_known = request->fits;
    description.communication = request->communication;
    description.steady = *steady;
    description.figures = *figures;
    *evaluation = (struct evaluation){job, report_create(&description, timeline, job->platform, arena)};
    timeline_destroy(timeline);
}

/* From the time alone; false where the engine has to be asked for more. */
static bool evaluate_time(const struct evaluation_request *request, const struct scenario *scenario,
                          const struct job *job, struct platform *platform, struct arena *arena,
                          struct evaluation *evaluation)
{
    struct engine_job timed = {
        .program = job->program, .platform = platform, .hosts = job->hosts, .classes = request->classes};
    struct columns_time time;
    struct run_description description;
    if (!request->fits || job->power || request->communication || request->order || scenario->fold != FOLD_AUTO ||
        !columns_run(&timed, arena, &time))
        return false;
    job_describe(job, &description);
    description.engine = engine_analytic.name;
    description.brief = description.memory_known = true;
    *evaluation =
        (struct evaluation){job, report_of_time(&description, job->program, time.iteration, time.busy, arena)};
    return true;
}

/* From a shorter job; false where there is none, and nothing has been reported. */
static bool evaluate_short(const struct evaluation_request *request, const struct scenario *scenario,
                           struct platform *platform, struct arena *arena, struct evaluation *evaluation)
{
    struct shortened shortened;
    struct job_outline outline;
    struct diag silent = {0};
    /* What links carry is known of a whole timeline. */
    if ((platform->link_watts && scenario->power.given) || request->whole || request->order ||
        !shortened_run(scenario, platform, request->classes, arena, &shortened))
        return false;
    /* What is said of the whole job. */
    bool sound = job_outline(scenario, platform, JOB_BOUND_WORK, arena, &silent, &outline) && outline.known;
    if (sound)
        report_on(request, shortened.job, &outline.figures, &shortened.steady, shortened.run.timeline, arena,
                  evaluation);
    else
        timeline_destroy(shortened.run.timeline);
    return sound;
}

bool evaluate(const struct evaluation_request *request, struct platform *platform, struct arena *arena,
              struct diag *diag, struct evaluation *evaluation)
{
    struct fault fault = {""};
    struct folded_run run;
    struct steady steady;
    struct scenario *scenario = load(request, arena, diag);
    if (scenario)
        scenario->bounded = scenario->keeps_order = request->order;
    if (scenario && evaluate_short(request, scenario, platform, arena, evaluation))
        return true;
    struct job *job = scenario ? job_create_steady(scenario, platform, arena, diag) : NULL;
    if (!job)
        return false;
    if (evaluate_time(request, scenario, job, platform, arena, evaluation))
        return true;
    struct engine_job timed = {
        .program = job->program, .platform = platform, .hosts = job->hosts, .classes = request->classes};
    if (!steady_run(scenario, &engine_analytic, &timed, arena, &run, &steady, &fault)) {
        diag_error(diag, scenario_place(scenario, ""), "%s", fault.text);
        return false;
    }
    report_on(request, job, &job->figures, &steady, run.timeline, arena, evaluation);
    return true;
}
