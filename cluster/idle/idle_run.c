/* SPDX-License-Identifier: Apache-2.0 */
/* What `check` and `run` do with idle nodes. */
#include "base/arena.h"
#include "base/exit_code.h"
#include "base/table.h"
#include "cluster/idle/idle_output.h"
#include "studies/simulation.h"

#include <math.h>
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
static void hand_over(const struct simulation_context *context, const struct idle_study *study,
                      const struct idle_view *view)
{
    size_t count = study->nodes->policy_count;
    struct comparison_row *rows = arena_array(context->arena, count, sizeof *rows);
    for (size_t i = 0; i < count; i++)
        rows[i] = row_of(context, study, i);
    struct gantt *gantt = idle_view_aligned(view);
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
    const struct idle_view *view = idle_view_create(study, context->scenario->name, context->arena);
    hand_over(context, study, view);
    if (request->print)
        idle_print(context->self->results, study, context->scenario->name, request->format);
    bool done = !request->files || idle_files_write(request->files, study, view, context->scenario, &fault);
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
    .saved = IDLE_SAVED,
    .keys = idle_keys,
    .schema = idle_schema,
    .read = idle_read,
    .check = check,
    .run = run,
};
