/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/shortened_report.h"

#include "analysis/figures/idle.h"
#include "job/steady/shortened.h"
#include "simulator/engines/engine.h"
#include "simulator/engines/fold.h"
#include "simulator/program/program.h"
#include "studies/describe.h"

/* False where something is asked for that only the whole job's timeline says: what links carry and power over time. */
static bool may_follow(const struct scenario *scenario, const struct platform *platform)
{
    return !platform->link_watts && !scenario->power.given && !scenario->bounded && !scenario->keeps_order;
}

static bool describe(const struct shortened_report_request *request, const struct shortened *shortened,
                     struct arena *arena, struct run_description *description)
{
    struct job_outline outline;
    struct diag silent = {0};
    struct fault fault = {""};
    const struct folding *folding = shortened->run.folding;
    if (!job_outline(request->scenario, request->platform, JOB_BOUND_WORK, arena, &silent, &outline) || !outline.known)
        return false;
    job_describe(shortened->job, description);
    description->engine = engine_analytic.name;
    description->printed = true;
    description->figures = outline.figures;
    description->steady = shortened->steady;
    description->folded_replicas = folding->classes ? folding->slices : 0;
    description->fold_classes = folding->equals ? folding->classes : 0;
    description->fold_reason = folding->reason;
    return job_describe_inputs(shortened->job, request->platform, description, arena, &fault);
}

static bool split_idle(const struct shortened_report_request *request, const struct shortened *shortened,
                       const struct frame *frame, struct arena *arena, struct report *report)
{
    struct timeline *free_transfers;
    struct steady steady;
    if (!request->split)
        return true;
    if (!shortened_run_free(shortened, request->classes, arena, &free_transfers, &steady))
        return false;
    struct idle_run run = idle_run_of(frame_create_shortened(free_transfers, &steady, arena));
    struct idle_timelines timelines = {.free_time = &run, .alone = frame->timeline};
    report->idle = idle_split_of(frame, &timelines, arena);
    timeline_destroy(free_transfers);
    return true;
}

/* The shorter job begins and ends as the whole one does. */
static bool runs_ahead(const struct shortened_report_request *request, const struct shortened *shortened)
{
    struct scenario shorter = *request->scenario;
    shorter.micro_batches = shortened->steady.micro_batches;
    return job_runs_ahead(&shorter, request->platform, shortened->run.timeline);
}

struct report *shortened_report(const struct shortened_report_request *request, struct arena *arena, double *operations)
{
    struct shortened shortened;
    struct run_description description;
    struct report *report = NULL;
    if (!may_follow(request->scenario, request->platform) ||
        !shortened_run(request->scenario, request->platform, request->classes, arena, &shortened))
        return NULL;
    *operations = shortened.operations;
    if (*operations <= PROGRAM_OPERATIONS_MAX && describe(request, &shortened, arena, &description)) {
        const struct frame *frame = frame_create_shortened(shortened.run.timeline, &shortened.steady, arena);
        report = report_of_frame(&description, frame, request->platform, arena);
        if (report->lost || !split_idle(request, &shortened, frame, arena, report))
            report = NULL;
        if (request->ahead)
            *request->ahead = runs_ahead(request, &shortened);
    }
    timeline_destroy(shortened.run.timeline);
    return report;
}
