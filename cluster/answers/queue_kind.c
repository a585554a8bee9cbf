/* SPDX-License-Identifier: Apache-2.0 */
/* What `check` and `run` do with a queue. */
#include "base/arena.h"
#include "base/exit_code.h"
#include "base/isolate.h"
#include "base/table.h"
#include "cluster/answers/queue_comparison.h"
#include "cluster/answers/queue_output.h"
#include "cluster/queue/queue_prepare.h"
#include "studies/simulation.h"

#include <math.h>
#include <stdio.h>

static int check(struct simulation_context *context)
{
    const struct queue_scenario *queue = context->scenario->whole;
    struct throughput *throughput = throughput_create(context->scenario, context->platform);
    struct queue_request request;
    char text[READABLE_MAX];
    double last = 0;
    bool good = queue_prepare(context->scenario, throughput, NULL, context->arena, &context->diag, &request);
    for (uint32_t i = 0; good && i < request.job_count; i++)
        last = request.jobs[i].submit;
    if (good)
        diag_print(stdout, "%s: ok\n%u jobs (%s) come within %s to %u nodes of %s\npolicy %s: %s\n",
                   context->scenario->file, request.job_count,
                   queue->log->format == ARRIVALS_UNKNOWN ? "drawn" : arrival_format_names[queue->log->format],
                   readable_seconds(text, last - request.jobs[0].submit), request.nodes,
                   context->scenario->platform_name, queue_policy_name(queue->options.policy),
                   queue_policy_summary(queue->options.policy));
    throughput_destroy(throughput);
    return good ? EXIT_DONE : EXIT_BAD_INPUT;
}

static bool write_files(const struct simulation_context *context, const struct queue_view *view,
                        const struct queue_page *page, struct fault *fault)
{
    const struct run_files *files = context->request->files;
    queue_json(files->summary, view);
    if (files->tables[0])
        queue_jobs_csv(files->tables[0], view);
    if (files->tables[1])
        queue_spans_csv(files->tables[1], view);
    if (files->tables[2])
        queue_failures_csv(files->tables[2], view);
    if (files->paje)
        queue_paje(files->paje, view);
    if (files->chrome)
        queue_chrome(files->chrome, view);
    if (files->saved)
        queue_page_write(files->saved, page);
    return queue_page_draw(files, page, fault) && output_flush(context->request->output, fault);
}

/* The median of many months, or that of one. */
static double value_of(const struct queue_view *view, enum month_figure figure, double one)
{
    return view->months.runs > 1 ? view->months.figures[figure].middle : one;
}

static void hand_over(const struct simulation_context *context, const struct queue_view *view,
                      const struct queue_page *page)
{
    const struct queue_figures *figures = view->figures;
    const struct queue_energy *energy = &figures->energy;
    struct comparison_row row = {.iteration = value_of(view, MONTH_COMPLETION, figures->means[QUEUE_COMPLETION].mean)};
    row.queue = (struct comparison_queue){
        .known = true,
        .wait = value_of(view, MONTH_WAIT, figures->means[QUEUE_WAIT].mean),
        .completion = row.iteration,
        .bounded_slowdown = value_of(view, MONTH_SLOWDOWN, figures->means[QUEUE_BOUNDED].mean),
        .fairness = value_of(view, MONTH_FAIRNESS, figures->means[QUEUE_FAIRNESS].mean),
        .makespan = value_of(view, MONTH_MAKESPAN, figures->makespan),
        .allocated = value_of(view, MONTH_ALLOCATED, figures->allocated),
        .busy = value_of(view, MONTH_BUSY, figures->busy),
        .fails = view->run->request->failures != NULL,
        .useful = value_of(view, MONTH_USEFUL, figures->parts[PART_USEFUL]),
        .months = view->months.runs > 1,
        .wait_low = view->months.figures[MONTH_WAIT].low,
        .wait_high = view->months.figures[MONTH_WAIT].high,
        .useful_low = view->months.figures[MONTH_USEFUL].low,
        .useful_high = view->months.figures[MONTH_USEFUL].high,
        .lost = figures->fragments.waiting,
        .fragmented = figures->fragments.cluster,
        .joules = energy->known ? value_of(view, MONTH_ENERGY, energy->joules) : NAN,
        .kilograms = energy->carbon ? value_of(view, MONTH_CARBON, energy->grams / 1000) : NAN,
        .cost = energy->priced ? value_of(view, MONTH_COST, energy->cost) : NAN};
    row.energy = energy->known ? row.queue.joules : -1;
    snprintf(row.scenario, sizeof row.scenario, "%s", context->scenario->name);
    snprintf(row.schedule, sizeof row.schedule, "%s", context->scenario->schedule_name);
    snprintf(row.engine, sizeof row.engine, "%s",
             context->scenario->engine == ENGINE_ANALYTIC ? "analytic" : "simgrid");
    struct gantt *gantt = queue_aligned(&page->drawing, row.schedule);
    simulation_hand_over(context, &row, NULL, 0, gantt);
    gantt_destroy(gantt);
}

static int run(struct simulation_context *context)
{
    const struct queue_scenario *queue = context->scenario->whole;
    struct throughput *throughput = throughput_create(context->scenario, context->platform);
    struct queue_request request;
    struct queue_run run = {0}, other = {0};
    struct queue_figures figures;
    struct fault fault = {""};
    uint32_t failed = 0;
    struct queue_months months = {.runs = 1};
    struct slowing *slowing = queue->contention ? slowing_create(queue, throughput) : NULL;
    bool good = queue_prepare(context->scenario, throughput, slowing, context->arena, &context->diag, &request) &&
                queue_run(&request, context->arena, &run, &failed);
    if (good) {
        queue_figures(&run, context->arena, &figures);
        struct queue_redraw redraw = {context->scenario, throughput, &context->diag};
        if (queue->runs > 1)
            good = queue_months_run(&request, &figures, (uint32_t)queue->runs, queue->month ? queue_redraw : NULL,
                                    &redraw, &months, &other, &failed);
    }
    if (good) {
        struct queue_view view = {context->scenario,
                                  queue,
                                  &run,
                                  &figures,
                                  throughput_counts(throughput),
                                  queue_groups_by_size(&run, &figures, context->arena),
                                  queue_groups_by_user(&run, &figures, context->arena),
                                  months,
                                  {.count = 0},
                                  slowing_counts(slowing)};
        if (queue->alternatives)
            view.alternatives = queue_alternatives_run(context->scenario, context->platform, &run, context->arena);
        bool drawn = context->request->draw || context->request->files;
        struct queue_page page = drawn ? queue_page_create(&view, context->arena) : (struct queue_page){0};
        hand_over(context, &view, &page);
        if (context->request->print)
            queue_print(context->self->results, &view, context->request->format);
        if (context->request->files && !write_files(context, &view, &page, &fault))
            diag_print(context->diag.out, "stagesim: %s\n", fault.text);
        queue_page_finish(&page);
    }
    if (!good && (run.stuck || other.stuck))
        diag_error(&context->diag, queue->log_at,
                   "nodes fail so often that job %s does not come to its end; expected fewer failures, or checkpoints",
                   failed < request.job_count ? request.jobs[failed].name : "a job");
    slowing_destroy(slowing);
    throughput_destroy(throughput);
    return !good ? EXIT_BAD_INPUT : fault.text[0] ? EXIT_FAILED : EXIT_DONE;
}

static const char *const table_names[] = {"jobs.csv", "spans.csv", "failures.csv", NULL};

const struct scenario_kind queue_kind = {
    .key = "queue",
    .summary = "a queue of jobs before a cluster",
    .figure = "completion_s",
    .platform = true,
    .tables = table_names,
    .saved = QUEUE_SAVED,
    .keys = queue_keys,
    .schema = queue_schema,
    .read = queue_read,
    .check = check,
    .run = run,
};
