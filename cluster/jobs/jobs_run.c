/* SPDX-License-Identifier: Apache-2.0 */
/* What `check` and `run` do with several jobs. */
#include "analysis/figures/frame.h"
#include "base/arena.h"
#include "base/exit_code.h"
#include "base/table.h"
#include "base/tables/table_write.h"
#include "cluster/jobs/job_run.h"
#include "cluster/jobs/jobs.h"
#include "studies/describe.h"
#include "studies/simulation.h"

#include <math.h>
#include <string.h>

const struct scenario_kind jobs_kind = {
    .key = "jobs",
    .summary = "several jobs on one platform",
    .platform = true,
    .read = jobs_read,
    .check = jobs_check,
    .run = jobs_run,
};

/* ---- check ---- */

static uint64_t operations_of(const struct program *program)
{
    uint64_t operations = 0;
    for (uint32_t position = 0; position < program->mesh->positions; position++)
        operations += (uint64_t)program->positions[position].operation_count * program->mesh->replicas;
    return operations;
}

static uint32_t nodes_of(const struct platform *platform)
{
    uint32_t nodes = 0;
    for (uint32_t i = 0; i < platform->host_count; i++) {
        bool known = false;
        for (uint32_t k = 0; k < i && !known; k++)
            known = !strcmp(platform->hosts[k].node, platform->hosts[i].node);
        nodes += !known;
    }
    return nodes;
}

static bool check_one(struct simulation_context *context, const struct cluster_job *job, const uint32_t *hosts,
                      struct table *table)
{
    struct job_run run;
    struct fault fault = {""};
    if (!job_run_create(job, context->platform, hosts, 1, context->arena, &context->diag, &run))
        return false;
    if (!job_runs_simulate(&run, 1, context->platform, &engine_analytic, &fault)) {
        diag_error(&context->diag, job->at, "%s: %s", job->name, fault.text);
        return false;
    }
    struct run_description description;
    char text[READABLE_MAX];
    job_describe(run.job, &description);
    description.engine = engine_analytic.name;
    const struct report *report = report_create(&description, run.timeline, run.part, context->arena);
    table_cell(table, "%s", job->name);
    table_cell(table, "%u", run.part->host_count);
    table_cell(table, "%u", nodes_of(run.part));
    table_cell(table, "%s", readable_seconds(text, job->start));
    table_cell(table, "%u", job->iterations);
    table_cell(table, "%llu", (unsigned long long)operations_of(run.job->program));
    table_cell(table, "%s%s", report->peak_bytes > 0 ? readable_binary_bytes(text, report->peak_bytes) : "-",
               report->capacity_bytes > 0 && !report->fits ? ", does not fit" : "");
    job_runs_finish(&run, 1);
    return true;
}

int jobs_check(struct simulation_context *context)
{
    const struct jobs *jobs = context->scenario->whole;
    uint32_t **hosts, ranks = 0;
    if (!jobs_place(jobs, context->platform, &hosts, context->arena, &context->diag))
        return EXIT_BAD_INPUT;
    struct table *table = table_create();
    static const char *const titles[] = {"job", "GPUs", "nodes", "start", "iterations", "operations each", "memory"};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        table_column(table, titles[i], i ? '>' : '<');
    bool ok = true;
    for (uint32_t i = 0; i < jobs->count && ok; i++) {
        ok = check_one(context, &jobs->items[i], hosts[i], table);
        ranks += jobs->items[i].scenario->mesh.ranks;
    }
    if (ok) {
        diag_print(stdout, "%s: ok\n%u job%s on %u of %u GPUs of %s\n", context->scenario->file, jobs->count,
                   readable_plural(jobs->count), ranks, context->platform->host_count,
                   context->scenario->platform_name);
        table_print_within(table, stdout, 0, 0);
    }
    table_destroy(table);
    return ok ? EXIT_DONE : EXIT_BAD_INPUT;
}

/* ---- run ---- */

struct outcome {
    double alone, together; /* mean iteration time, seconds */
};

static double duration_of(const struct job_run *run)
{
    const struct mesh *mesh = run->job->program->mesh;
    double last = 0;
    for (uint32_t entry = 0; entry < run->timeline->rank_count; entry++) {
        uint32_t count = run->job->program->positions[mesh->position_of[run->timeline->ranks[entry]]].operation_count;
        for (uint32_t id = 0; id < count; id++)
            last = fmax(last, run->timeline->moments[entry][id].end);
    }
    return last;
}

static bool simulate_all(struct simulation_context *context, struct job_run *runs, uint32_t count,
                         struct outcome *outcomes, struct fault *fault)
{
    const struct engine *engine = context->scenario->engine == ENGINE_ANALYTIC ? &engine_analytic : &engine_simgrid;
    for (uint32_t i = 0; i < count; i++) {
        double start = runs[i].start;
        runs[i].start = 0;
        if (!job_runs_simulate(&runs[i], 1, context->platform, engine, fault))
            return false;
        outcomes[i].alone = duration_of(&runs[i]) / runs[i].iterations;
        job_runs_finish(&runs[i], 1);
        runs[i].start = start;
    }
    if (!job_runs_simulate(runs, count, context->platform, engine, fault))
        return false;
    for (uint32_t i = 0; i < count; i++)
        outcomes[i].together = duration_of(&runs[i]) / runs[i].iterations;
    return true;
}

static void print(const struct simulation_context *context, const struct job_run *runs, uint32_t count,
                  const struct outcome *outcomes)
{
    struct table *table = table_create();
    static const char *const titles[] = {"job", "GPUs", "iteration alone", "together", "slow-down"};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        table_column(table, titles[i], i ? '>' : '<');
    for (uint32_t i = 0; i < count; i++) {
        char text[READABLE_MAX];
        table_cell(table, "%s", runs[i].described->name);
        table_cell(table, "%u", runs[i].part->host_count);
        table_cell(table, "%s", readable_seconds(text, outcomes[i].alone));
        table_value(table, outcomes[i].alone);
        table_cell(table, "%s", readable_seconds(text, outcomes[i].together));
        table_value(table, outcomes[i].together);
        table_cell(table, "%.4f", outcomes[i].together / outcomes[i].alone);
    }
    table_print_within(table, context->self->results, 0, 0);
    table_destroy(table);
}

static struct comparison_row row_of(const struct simulation_context *context, const struct job_run *run,
                                    double iteration)
{
    struct run_description description;
    job_describe(run->job, &description);
    description.engine = context->scenario->engine == ENGINE_ANALYTIC ? engine_analytic.name : engine_simgrid.name;
    struct comparison_row row =
        comparison_row_of(report_create(&description, run->timeline, run->part, context->arena));
    snprintf(row.scenario, sizeof row.scenario, "%s/%s", context->scenario->name, run->described->name);
    row.iteration = iteration;
    return row;
}

static void hand_over(const struct simulation_context *context, const struct job_run *runs, uint32_t count,
                      const struct outcome *outcomes)
{
    struct comparison_row whole = {0}, *rows = arena_array(context->arena, count, sizeof *rows);
    double ranks = 0;
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = row_of(context, &runs[i], outcomes[i].together);
        whole.iteration += runs[i].part->host_count * rows[i].iteration;
        whole.samples_per_s += rows[i].samples_per_s;
        whole.bubble += runs[i].part->host_count * rows[i].bubble;
        ranks += runs[i].part->host_count;
    }
    whole.iteration /= ranks;
    whole.bubble /= ranks;
    snprintf(whole.scenario, sizeof whole.scenario, "%s", context->scenario->name);
    snprintf(whole.schedule, sizeof whole.schedule, "%s", context->scenario->schedule_name);
    snprintf(whole.engine, sizeof whole.engine, "%s", rows[0].engine);
    struct gantt *gantt = gantt_create(context->scenario->name, "", GANTT_SECONDS);
    for (uint32_t i = 0; i < count; i++)
        gantt_add_row(gantt, runs[i].described->name, -1);
    gantt_finish(gantt);
    simulation_hand_over(context, &whole, rows, count, gantt);
    gantt_destroy(gantt);
}

int jobs_run(struct simulation_context *context)
{
    const struct jobs *jobs = context->scenario->whole;
    struct arena *arena = context->arena;
    struct fault fault = {""};
    uint32_t **hosts;
    if (!jobs_place(jobs, context->platform, &hosts, arena, &context->diag))
        return EXIT_BAD_INPUT;
    struct job_run *runs = arena_array(arena, jobs->count, sizeof *runs);
    struct outcome *outcomes = arena_array(arena, jobs->count, sizeof *outcomes);
    for (uint32_t i = 0; i < jobs->count; i++)
        if (!job_run_create(&jobs->items[i], context->platform, hosts[i], jobs->items[i].iterations, arena,
                            &context->diag, &runs[i]))
            return EXIT_BAD_INPUT;
    if (!simulate_all(context, runs, jobs->count, outcomes, &fault)) {
        diag_print(context->diag.out, "stagesim: %s\n", fault.text);
        return EXIT_FAILED;
    }
    hand_over(context, runs, jobs->count, outcomes);
    print(context, runs, jobs->count, outcomes);
    job_runs_finish(runs, jobs->count);
    return EXIT_DONE;
}
