/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/html.h"
#include "base/arena.h"
#include "base/table.h"
#include "cluster/idle/idle_output.h"
#include "cluster/idle/idle_view.h"

#include <math.h>

static void number_cell(FILE *out, double value)
{
    fprintf(out, "<td class=\"n\" data-v=\"%.9g\">%.4g</td>", value, value);
}

static void count_cell(FILE *out, uint64_t value)
{
    fprintf(out, "<td class=\"n\">%llu</td>", (unsigned long long)value);
}

static void percent_cell(FILE *out, double part, double whole)
{
    char text[READABLE_MAX];
    double value = whole > 0 ? part / whole : 0;
    fprintf(out, "<td class=\"n\" data-v=\"%.9g\">%s</td>", value, readable_percent(text, value));
}

static void seconds_cell(FILE *out, double seconds)
{
    char text[READABLE_MAX];
    if (isfinite(seconds))
        fprintf(out, "<td class=\"n\" data-v=\"%.9g\">%s</td>", seconds, readable_seconds(text, seconds));
    else
        fputs("<td class=\"n\">-</td>", out);
}

static size_t best_way(const struct idle_view *view)
{
    size_t best = 0;
    for (size_t i = 1; i < view->way_count; i++)
        if (view->ways[i].work > view->ways[best].work)
            best = i;
    return best;
}

static void verdict(FILE *out, const struct idle_view *view)
{
    char reached[READABLE_MAX], efficiency[READABLE_MAX], used[READABLE_MAX];
    const struct idle_way *way = &view->ways[best_way(view)];
    fputs("<p class=\"verdict\">With ", out);
    html_text(out, way->name);
    fprintf(out, " the jobs do %.4g ", way->work);
    html_text(out, view->unit);
    fprintf(out,
            ", %s of the most that the idle nodes could have done with these jobs, and %s of what as many nodes of "
            "their own would have. %s of the idle node time is used.</p>\n",
            readable_percent(reached, idle_way_attainment(way)), readable_percent(efficiency, idle_way_efficiency(way)),
            readable_percent(used, view->idle_time > 0 ? way->used_time / view->idle_time : 0));
}

static void ways(FILE *out, const struct idle_view *view)
{
    size_t best = best_way(view);
    fputs(
        "<h2>Ways to decide</h2>\n<div class=\"wide\"><table class=\"sort\"><thead><tr><th>method</th>"
        "<th class=\"n\">decisions</th><th class=\"n\"><dfn title=\"Sizes that decisions changed\">rescales</dfn></th>"
        "<th class=\"n\"><dfn title=\"Times that nodes left a job\">preemptions</dfn></th>"
        "<th class=\"n\">nodes used</th><th class=\"n\">work</th>"
        "<th class=\"n\"><dfn title=\"Work over that of as many nodes of their own\">efficiency</dfn></th>"
        "<th class=\"n\"><dfn title=\"Work over the most that the idle nodes could have done\">of the best</dfn></th>"
        "</tr></thead>\n",
        out);
    for (size_t i = 0; i < view->way_count; i++) {
        const struct idle_way *way = &view->ways[i];
        fprintf(out, "<tr%s><td>", i == best && view->way_count > 1 ? " class=\"best\"" : "");
        html_text(out, way->name);
        fputs("</td>", out);
        count_cell(out, way->decisions);
        count_cell(out, way->rescales);
        count_cell(out, way->preemptions);
        percent_cell(out, way->used_time, view->idle_time);
        number_cell(out, way->work);
        percent_cell(out, way->work, way->dedicated);
        percent_cell(out, way->work, way->best);
        fputs("</tr>\n", out);
    }
    fputs("</table></div>\n", out);
}

static void jobs(FILE *out, const struct idle_view *view)
{
    fputs("<h2>Jobs</h2>\n<div class=\"wide\"><table class=\"sort\"><thead><tr><th>job</th><th class=\"n\">began</th>"
          "<th class=\"n\">ended</th><th class=\"n\">node hours</th><th class=\"n\">samples</th>"
          "<th class=\"n\"><dfn title=\"Samples over those of its even share of dedicated nodes\">efficiency</dfn></th>"
          "<th class=\"n\"><dfn title=\"Share of its samples that changes of size did not cost\">kept</dfn></th>"
          "<th class=\"n\">grown</th><th class=\"n\">shrunk</th><th class=\"n\">preempted</th></tr></thead>\n",
          out);
    for (size_t i = 0; i < view->job_count; i++) {
        const struct idle_shown_job *job = &view->jobs[i];
        fputs("<tr><td>", out);
        html_text(out, job->name);
        fputs("</td>", out);
        seconds_cell(out, job->began);
        seconds_cell(out, job->ended);
        number_cell(out, job->node_time / 3600);
        number_cell(out, job->samples);
        percent_cell(out, job->samples, job->dedicated);
        percent_cell(out, job->samples, job->gross);
        count_cell(out, job->grown);
        count_cell(out, job->shrunk);
        count_cell(out, job->preempted);
        fputs("</tr>\n", out);
    }
    fputs("</table></div>\n", out);
}

static bool draw(FILE *out, const struct picture_form *form, void *user, struct fault *fault)
{
    return idle_picture(user, CANVAS_SVG, form, out, fault);
}

bool idle_page_write(FILE *out, const struct idle_view *view, struct fault *fault)
{
    struct idle_view drawn = *view;
    struct arena *arena = arena_create();
    html_begin(out, view->name,
               arena_print(arena, "%u nodes, %.2f of them idle on average in %s; %zu elastic job%s", view->nodes,
                           view->idle_time / view->duration, idle_duration(view->duration, arena), view->job_count,
                           readable_plural(view->job_count)));
    verdict(out, view);
    if (view->way_count > 1) {
        fputs("<p class=\"note\">Picture and jobs: ", out);
        html_text(out, view->ways[0].name);
        fputs(".</p>\n", out);
    }
    bool done = html_chart(out, draw, &drawn, "i", "j", false, fault);
    ways(out, view);
    jobs(out, view);
    html_end(out);
    arena_destroy(arena);
    return done;
}

bool idle_view_draw(const struct run_files *files, const struct idle_view *view, struct fault *fault)
{
    for (int format = 0; format < PICTURE_FORMATS; format++)
        if (files->pictures[format] &&
            !idle_picture(view, (enum canvas_format)format, &files->form, files->pictures[format], fault))
            return false;
    return !files->html || idle_page_write(files->html, view, fault);
}
