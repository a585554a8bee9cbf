/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/evaluate.h"

#include "base/arena.h"
#include "job/steady/shortened.h"
#include "job/steady/steady_run.h"
#include "simulator/engines/analytic/columns.h"
#include "simulator/engines/engine.h"
#include "simulator/run/folded_run.h"
#include "studies/describe.h"

/* NULL with the mistakes reported. */
static struct scenario *load(const struct evaluation_request *request, struct arena *arena, struct diag *diag)
{
    struct scenario_request changed =
        scenario_request_with(&request->scenario, request->changes, request->change_count, arena);
    changed.study = true;
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

/* Whether all that is asked for is the time. */
static bool asks_for_time(const struct evaluation_request *request, const struct scenario *scenario)
{
    return request->fits && !scenario->power.given && !request->order && scenario->fold == FOLD_AUTO;
}

static void report_time(const struct job *job, const struct columns_time *time, struct arena *arena,
                        struct evaluation *evaluation)
{
    struct run_description description;
    job_describe(job, &description);
    description.engine = engine_analytic.name;
    description.brief = description.memory_known = true;
    *evaluation =
        (struct evaluation){job, report_of_time(&description, job->program, time->iteration, time->busy, arena)};
    evaluation->report->exposed = time->exposed;
    evaluation->stream_ends = time->stream_ends;
}

/* From the time alone; false where the engine has to be asked for more. */
static bool evaluate_time(const struct evaluation_request *request, const struct scenario *scenario,
                          const struct job *job, struct platform *platform, struct arena *arena,
                          struct evaluation *evaluation)
{
    struct engine_job timed = {
        .program = job->program, .platform = platform, .hosts = job->hosts, .classes = request->classes};
    struct columns_time time;
    if (!asks_for_time(request, scenario) ||
        !(request->communication ? columns_run_exposed : columns_run)(&timed, arena, &time))
        return false;
    report_time(job, &time, arena, evaluation);
    return true;
}

/* The same from a part of the job. */
static bool evaluate_part(const struct evaluation_request *request, const struct job *job,
                          const struct job_repetition *repetition, struct arena *arena, struct evaluation *evaluation)
{
    struct columns_time time;
    struct engine_job timed = {
        .program = job->program, .platform = job->platform, .hosts = job->hosts, .classes = request->classes};
    if (!columns_run_repeating(&timed, repetition->beats, repetition->more, arena, &time))
        return false;
    report_time(job, &time, arena, evaluation);
    evaluation->part = true;
    return true;
}

/* Builds a part of the job where one may say what is asked for: true once it has said it. Where there is no part, *job
 * is the whole job. */
static bool try_part(const struct evaluation_request *request, const struct scenario *scenario,
                     struct platform *platform, struct arena *arena, struct diag *diag, struct job **job,
                     struct evaluation *evaluation)
{
    enum { TURNS = 2 };
    unsigned errors = diag->errors;
    for (uint32_t spare = 0; spare < TURNS && diag->errors == errors; spare++) {
        struct job_repetition repetition = {.spare = spare};
        *job = job_create_part(scenario, platform, arena, diag, &repetition);
        if (!repetition.more)
            return false;
        if (*job && evaluate_part(request, *job, &repetition, arena, evaluation))
            return true;
        *job = NULL;
    }
    return false;
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
    struct job *job = NULL;
    if (!scenario)
        return false;
    unsigned errors = diag->errors;
    scenario->bounded = scenario->keeps_order = request->order;
    if (!request->whole && !request->communication && asks_for_time(request, scenario) &&
        job_may_repeat(scenario, platform) && try_part(request, scenario, platform, arena, diag, &job, evaluation))
        return true;
    if (!job && diag->errors == errors && evaluate_short(request, scenario, platform, arena, evaluation))
        return true;
    if (!job && diag->errors == errors)
        job = job_create_steady(scenario, platform, arena, diag);
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
