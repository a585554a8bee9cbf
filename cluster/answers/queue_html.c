/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/html.h"
#include "base/table.h"
#include "cluster/answers/queue_output.h"

#include <string.h>

enum { JOBS_MAX_SHOWN = 500 };

static void put_verdict(FILE *out, const struct queue_view *view)
{
    const struct queue_figures *figures = view->figures;
    char wait[READABLE_MAX], completion[READABLE_MAX], text[160];
    fprintf(out, "<p class=\"verdict\">With %s, %u jobs wait %s on average and are done %s after they come.</p>\n",
            queue_policy_title(view->queue->options.policy), view->run->request->job_count,
            readable_seconds(wait, figures->means[QUEUE_WAIT].mean),
            readable_seconds(completion, figures->means[QUEUE_COMPLETION].mean));
    fprintf(out, "<p class=\"note\">%s: %s. %s.</p>\n", queue_policy_name(view->queue->options.policy),
            queue_policy_summary(view->queue->options.policy), queue_evaluations(text, sizeof text, view));
    fputs("<p class=\"note\">Jobs do not slow each other down here: each runs as if it had the network alone.</p>\n",
          out);
}

static void put_tiles(FILE *out, const struct queue_view *view)
{
    const struct queue_figures *figures = view->figures;
    char text[READABLE_MAX + 16];
    fputs("<div class=\"tiles\">\n", out);
    html_tile(out, readable_seconds(text, figures->makespan), "makespan");
    html_tile(out, readable_percent(text, figures->allocated), "of the nodes' time given to jobs");
    html_tile(out, readable_percent(text, figures->running), "running");
    html_tile(out, readable_percent(text, figures->parts[PART_USEFUL]), "useful: steps that count");
    html_tile(out, readable_percent(text, figures->fragments.waiting), "free while jobs wait");
    html_tile(out, readable_percent(text, figures->fragments.cluster), "of free nodes' time fragmented");
    snprintf(text, sizeof text, "%u", figures->longest);
    html_tile(out, text, "jobs waiting at most");
    snprintf(text, sizeof text, "%.3g", figures->means[QUEUE_BOUNDED].mean);
    html_tile(out, text, "bounded slowdown, mean");
    snprintf(text, sizeof text, "%.3g", figures->means[QUEUE_FAIRNESS].mean);
    html_tile(out, text, "fairness, mean");
    queue_energy_tiles(out, view);
    fputs("</div>\n", out);
}

static void put_value(FILE *out, enum queue_figure figure, double value)
{
    char text[READABLE_MAX];
    if (figure == QUEUE_WAIT || figure == QUEUE_COMPLETION)
        readable_seconds(text, value);
    else
        snprintf(text, sizeof text, "%.4g", value);
    fprintf(out, "<td class=\"n\" data-v=\"%.17g\">%s</td>", value, text);
}

static void put_means(FILE *out, const struct queue_view *view)
{
    fputs("<h2>Figures</h2>\n<div class=\"wide\"><table>\n<thead><tr><th>figure</th><th class=\"n\">mean</th>"
          "<th class=\"n\">median</th><th class=\"n\">95 %</th><th class=\"n\">most</th>"
          "<th class=\"n\">weighted mean</th></tr></thead>\n<tbody>\n",
          out);
    for (enum queue_figure i = 0; i < QUEUE_FIGURES; i++) {
        const struct queue_mean *mean = &view->figures->means[i];
        fprintf(out, "<tr><td>%s</td>", queue_figure_titles[i]);
        put_value(out, i, mean->mean);
        put_value(out, i, mean->median);
        put_value(out, i, mean->p95);
        put_value(out, i, mean->most);
        put_value(out, i, mean->weighted);
        fputs("</tr>\n", out);
    }
    fputs(
        "</tbody>\n</table></div>\n<p class=\"note\">Waiting: from coming to the first start. Completion: from coming "
        "to the end. Slowdown: completion over the time alone. Bounded slowdown takes jobs to run 10 s at least. "
        "Fairness: completion over the time that the job would take on one n-th of the cluster, n jobs being there "
        "while it is. The weighted mean is by GPU-hours.</p>\n",
        out);
}

static void put_job(FILE *out, const struct queue_view *view, uint32_t number)
{
    const struct queue_job *job = &view->run->request->jobs[number];
    char text[READABLE_MAX];
    fputs("<tr><td>", out);
    html_text(out, job->name);
    fputs("</td><td>", out);
    html_text(out, queue_type_name(view, job->kind));
    fprintf(out, "</td><td class=\"n\">%u</td><td class=\"n\" data-v=\"%.17g\">%s</td>", job->nodes, job->submit,
            readable_seconds(text, job->submit));
    for (enum queue_figure i = 0; i < QUEUE_FIGURES; i++)
        put_value(out, i, view->figures->values[i][number]);
    fprintf(out, "<td class=\"n\">%u</td></tr>\n", view->run->records[number].changes);
}

static void put_jobs(FILE *out, const struct queue_view *view)
{
    uint32_t count = view->run->request->job_count;
    fputs("<h2>Jobs</h2>\n<div class=\"wide\"><table class=\"sort\">\n<thead><tr><th>job</th><th>type</th>"
          "<th class=\"n\">nodes</th><th class=\"n\">comes at</th>",
          out);
    for (int i = 0; i < QUEUE_FIGURES; i++)
        fprintf(out, "<th class=\"n\">%s</th>", queue_figure_titles[i]);
    fputs("<th class=\"n\">changes</th></tr></thead>\n<tbody>\n", out);
    for (uint32_t i = 0; i < count && i < JOBS_MAX_SHOWN; i++)
        put_job(out, view, i);
    fputs("</tbody>\n</table></div>\n", out);
    if (count > JOBS_MAX_SHOWN)
        fprintf(out, "<p class=\"note\">The first %d of %u jobs; jobs.csv has all.</p>\n", JOBS_MAX_SHOWN, count);
}

static bool draw(FILE *out, const struct picture_form *form, void *user, struct fault *fault)
{
    return queue_picture(out, user, CANVAS_SVG, form, fault);
}

bool queue_html(FILE *out, const struct queue_view *view, struct fault *fault)
{
    struct queue_view shown = *view;
    char line[400];
    snprintf(line, sizeof line, "%u jobs on %u nodes of %.200s, %s", view->run->request->job_count,
             view->run->request->nodes, view->scenario->platform_name, queue_policy_title(view->queue->options.policy));
    html_begin(out, view->scenario->name, line);
    put_verdict(out, view);
    put_tiles(out, view);
    fputs("<h2>Nodes over time</h2>\n", out);
    bool done = html_chart(out, draw, &shown, "queue", "slim", false, fault);
    if (view->figures->changes)
        fputs("<p class=\"note\">Hatched: the job has its nodes but stands still, since rows or sizes change.</p>\n",
              out);
    if (queue_fails(view))
        fputs("<p class=\"note\">Hatched: the job has its nodes but stands still after a failure. Black: the node is "
              "in repair.</p>\n",
              out);
    queue_alternatives_html(out, view);
    put_means(out, view);
    queue_answers_html(out, view);
    queue_failures_html(out, view);
    put_jobs(out, view);
    html_end(out);
    return done;
}
