/* SPDX-License-Identifier: Apache-2.0 */
/* What `check` and `run` do with idle nodes. */
#include "base/arena.h"
#include "base/exit_code.h"
#include "base/table.h"
#include "cluster/idle/idle_output.h"
#include "studies/simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool plugins_of(const struct simulation_context *context)
{
    return context->scenario->request.plugins;
}

static int check(struct simulation_context *context)
{
    const struct idle_nodes *nodes = context->scenario->whole;
    const struct idle_study *study = idle_study_create(nodes, plugins_of(context), context->arena, &context->diag);
    if (!study)
        return EXIT_BAD_INPUT;
    size_t policies = nodes->policy_count;
    diag_print(stdout, "%s: ok\n%u nodes, %zu changes in %s; %zu elastic job%s%s; %zu way%s to decide\n",
               context->scenario->file, study->log->node_count, study->moments.count,
               idle_duration(study->moments.duration, context->arena), study->job_count,
               readable_plural(study->job_count), idle_waiting(study, context->arena), policies,
               readable_plural(policies));
    return EXIT_DONE;
}

/* More jobs have no rows in the aligned picture of comparisons. */
enum { ALIGNED_JOBS_MAX = 64 };

static int by_from(const void *left, const void *right)
{
    const struct node_stay *a = left, *b = right;
    return a->from < b->from || a->from > b->from ? (a->from < b->from ? -1 : 1)
                                                  : (a->job > b->job) - (a->job < b->job);
}

/* Jobs as rows, with a box for each time in which a job has nodes. */
static struct gantt *aligned(const struct simulation_context *context, const struct idle_study *study)
{
    const struct replay *replay = study->replays[0];
    struct gantt *gantt = gantt_create(idle_policy_name(&study->nodes->policies[0], context->arena), "", GANTT_SECONDS);
    size_t shown = study->job_count < ALIGNED_JOBS_MAX ? study->job_count : ALIGNED_JOBS_MAX;
    struct node_stay *stays = arena_array(context->arena, replay->stay_count + 1, sizeof *stays);
    struct gantt_box *open = arena_array(context->arena, shown, sizeof *open);
    for (size_t i = 0; i < shown; i++)
        open[i] = (struct gantt_box){
            .row = gantt_add_row(gantt, study->jobs[i].name, -1), .number = GANTT_NO_NUMBER, .kind = GANTT_COMPUTE};
    if (replay->stay_count)
        memcpy(stays, replay->stays, replay->stay_count * sizeof *stays);
    qsort(stays, replay->stay_count, sizeof *stays, by_from);
    for (size_t i = 0; i < replay->stay_count; i++) {
        if (stays[i].job >= shown)
            continue;
        struct gantt_box *box = &open[stays[i].job];
        if (stays[i].from > box->end) {
            if (box->end > box->start)
                gantt_add_box(gantt, box);
            box->start = stays[i].from;
        }
        box->end = fmax(box->end, stays[i].to);
    }
    for (size_t i = 0; i < shown; i++)
        if (open[i].end > open[i].start)
            gantt_add_box(gantt, &open[i]);
    gantt_finish(gantt);
    return gantt;
}

static struct comparison_row row_of(const struct simulation_context *context, const struct idle_study *study, size_t i)
{
    const struct replay *replay = study->replays[i];
    struct comparison_row row = {.samples_per_s = replay->work / replay->duration};
    row.idle_nodes = (struct comparison_idle){.known = true,
                                              .work = replay->work,
                                              .efficiency = replay_efficiency(replay),
                                              .attainment = replay_attainment(replay),
                                              .used = replay->idle_time > 0 ? replay->used_time / replay->idle_time : 0,
                                              .rescales = (double)replay->rescales,
                                              .preemptions = (double)replay->preemptions};
    snprintf(row.scenario, sizeof row.scenario, "%s", context->scenario->name);
    snprintf(row.schedule, sizeof row.schedule, "%s", idle_policy_name(&study->nodes->policies[i], context->arena));
    snprintf(row.engine, sizeof row.engine, "analytic");
    return row;
}

/* The first way to decide stands for the scenario; the others are its parts. */
static void hand_over(const struct simulation_context *context, const struct idle_study *study)
{
    size_t count = study->nodes->policy_count;
    struct comparison_row *rows = arena_array(context->arena, count, sizeof *rows);
    for (size_t i = 0; i < count; i++)
        rows[i] = row_of(context, study, i);
    struct gantt *gantt = aligned(context, study);
    simulation_hand_over(context, &rows[0], rows + 1, count - 1, gantt);
    gantt_destroy(gantt);
}

static int run(struct simulation_context *context)
{
    const struct idle_nodes *nodes = context->scenario->whole;
    const struct simulation_request *request = context->request;
    struct fault fault = {""};
    struct idle_study *study = idle_study_create(nodes, plugins_of(context), context->arena, &context->diag);
    if (!study)
        return EXIT_BAD_INPUT;
    for (size_t i = 0; i < nodes->policy_count; i++) {
        struct replay_request replay = {.moments = &study->moments,
                                        .node_count = study->log->node_count,
                                        .jobs = study->jobs,
                                        .job_count = study->job_count,
                                        .policy = nodes->policies[i]};
        clock_t begin = clock();
        study->replays[i] = replay_run(&replay, context->arena);
        study->seconds[i] = (double)(clock() - begin) / CLOCKS_PER_SEC;
    }
    hand_over(context, study);
    if (request->print)
        idle_print(context->self->results, study, context->scenario->name, request->format);
    bool done = !request->files || idle_files_write(request->files, study, context->scenario, &fault);
    done = done && (!request->output || output_flush(request->output, &fault));
    for (size_t i = 0; i < nodes->policy_count; i++)
        replay_destroy(study->replays[i]);
    if (!done)
        diag_print(context->diag.out, "stagesim: %s\n", fault.text);
    return done ? EXIT_DONE : EXIT_FAILED;
}

const struct scenario_kind idle_kind = {
    .key = "idle_nodes",
    .summary = "elastic jobs on idle nodes",
    .figure = "work",
    .tables = idle_table_names,
    .keys = idle_keys,
    .schema = idle_schema,
    .read = idle_read,
    .check = check,
    .run = run,
};
