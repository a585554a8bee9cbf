/* SPDX-License-Identifier: Apache-2.0 */
/* What `check` and `run` do with several jobs. */
#include "base/arena.h"
#include "base/exit_code.h"
#include "base/table.h"
#include "base/tables/table_write.h"
#include "cluster/jobs/job_run.h"
#include "cluster/jobs/jobs.h"
#include "cluster/jobs/jobs_view.h"
#include "studies/describe.h"
#include "studies/simulation.h"

#include <string.h>

static const char *const tables[] = {"operations.csv", NULL};

const struct scenario_kind jobs_kind = {
    .key = "jobs",
    .summary = "several jobs on one platform",
    .tables = tables,
    .rows = true,
    .saved = JOBS_SAVED,
    .platform = true,
    .keys = jobs_keys,
    .schema = jobs_schema,
    .read = jobs_read,
    .schedules = true,
    .check = jobs_check,
    .run = jobs_run,
};

/* ---- check ---- */

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
    struct job_site site = {.whole = context->platform, .engine = &engine_analytic};
    if (!job_run_create(job, context->platform, hosts, 1, context->arena, &context->diag, &run))
        return false;
    if (!job_runs_simulate(&run, 1, &site, &fault)) {
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
    table_cell(table, "%llu", (unsigned long long)program_all_operations(run.job->program));
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

static struct comparison_row row_of(const struct simulation_context *context, const struct job_figures *job)
{
    struct comparison_row row = comparison_row_of(job->report);
    snprintf(row.scenario, sizeof row.scenario, "%s/%s", context->scenario->name, job->run.described->name);
    row.iteration = job->together;
    return row;
}

/* Of all jobs: what they produce together, and means by GPUs. */
static void hand_over(const struct simulation_context *context, const struct jobs_figures *figures,
                      const struct jobs_description *description, const struct gantt *gantt)
{
    struct comparison_row whole = {0}, *rows = arena_array(context->arena, figures->count, sizeof *rows);
    double ranks = 0;
    for (uint32_t i = 0; i < figures->count; i++) {
        uint32_t hosts = figures->jobs[i].run.part->host_count;
        rows[i] = row_of(context, &figures->jobs[i]);
        whole.iteration += hosts * rows[i].iteration;
        whole.samples_per_s += rows[i].samples_per_s;
        whole.bubble += hosts * rows[i].bubble;
        ranks += hosts;
    }
    whole.iteration /= ranks;
    whole.bubble /= ranks;
    snprintf(whole.scenario, sizeof whole.scenario, "%s", context->scenario->name);
    snprintf(whole.schedule, sizeof whole.schedule, "%s", context->scenario->schedule_name);
    snprintf(whole.engine, sizeof whole.engine, "%s", description->engine->name);
    simulation_hand_over(context, &whole, rows, figures->count, gantt);
}

static void print(const struct simulation_context *context, const struct jobs_figures *figures,
                  const struct jobs_description *description)
{
    FILE *out = context->self->results;
    enum table_format format = context->request->format;
    for (int which = 0; which < JOBS_TABLES; which++) {
        struct table *table = jobs_table_create(figures, (enum jobs_table)which);
        if (!table)
            continue;
        if (which)
            fprintf(out, "\n%s\n\n", jobs_table_titles[which]);
        table_finish(table, out, table_style_of(format, stdout));
    }
    char *lines = NULL;
    size_t size = 0;
    FILE *remarks = table_remarks_begin(&lines, &size);
    jobs_remarks(remarks, figures, description);
    fflush(remarks);
    if (size)
        putc('\n', out);
    table_remarks_end(out, format, remarks, &lines);
}

static bool write_all(struct simulation_context *context, const struct jobs_figures *figures, struct fault *fault)
{
    const struct simulation_request *request = context->request;
    struct jobs_description description = {.scenario = context->scenario,
                                           .platform = context->platform,
                                           .engine = context->scenario->engine == ENGINE_ANALYTIC ? &engine_analytic
                                                                                                  : &engine_simgrid,
                                           .command = request->command};
    struct jobs_view view = jobs_view_create(
        figures, &description, jobs_gantt_create(figures, context->platform, &description), context->arena);
    hand_over(context, figures, &description, view.gantt);
    if (request->print)
        print(context, figures, &description);
    bool ok = !request->files || (jobs_files_write(request->files, figures, &description, &view, fault) &&
                                  output_flush(request->output, fault));
    jobs_view_finish(&view);
    return ok;
}

int jobs_run(struct simulation_context *context)
{
    const struct jobs *jobs = context->scenario->whole;
    struct fault fault = {""};
    uint32_t **hosts;
    struct crowd_world world = {.platform = context->platform,
                                .engine =
                                    context->scenario->engine == ENGINE_ANALYTIC ? &engine_analytic : &engine_simgrid,
                                .steady = context->scenario->steady == STEADY_AUTO,
                                .fold = context->scenario->fold == FOLD_AUTO,
                                .leads = jobs->leads,
                                .notes = context->request->quiet ? NULL : context->diag.out,
                                .arena = context->arena,
                                .diag = &context->diag};
    if (!jobs_place(jobs, context->platform, &hosts, context->arena, &context->diag))
        return EXIT_BAD_INPUT;
    struct jobs_figures *figures = jobs_figures_create(jobs, hosts, &world, &fault);
    if (figures && !write_all(context, figures, &fault))
        fault_set(&fault, "the files could not be written");
    if (figures)
        jobs_figures_finish(figures);
    if (context->diag.errors)
        return EXIT_BAD_INPUT;
    if (!fault.text[0])
        return EXIT_DONE;
    diag_print(context->diag.out, "stagesim: %s\n", fault.text);
    return fault.refused ? EXIT_BAD_INPUT : EXIT_FAILED;
}
