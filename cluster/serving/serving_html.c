/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/html.h"
#include "base/table.h"
#include "cluster/serving/serving_output.h"

static void put_tiles(FILE *out, const struct serving_view *view)
{
    const struct serving_figures *f = view->figures;
    char text[READABLE_MAX + 16];
    fputs("<div class=\"tiles\">\n", out);
    snprintf(text, sizeof text, "%.6g", f->outputs / f->makespan);
    html_tile(out, text, "tokens a second");
    snprintf(text, sizeof text, "%.4g", f->batch);
    html_tile(out, text, "sequences in a step, mean");
    html_tile(out, readable_percent(text, f->filled), "of the cache in use, at most");
    html_tile(out, readable_percent(text, f->least), "of a step is the roofline");
    fputs("</div>\n", out);
}

static void put_row(FILE *out, const char *name, const struct serving_quantiles *q)
{
    const double values[] = {q->mean, q->p50, q->p90, q->p99, q->most};
    char text[READABLE_MAX];
    fprintf(out, "<tr><td>%s</td>", name);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        fprintf(out, "<td class=\"n\">%s</td>", readable_seconds(text, values[i]));
    fputs("</tr>\n", out);
}

static bool draw(FILE *out, const struct picture_form *form, void *user, struct fault *fault)
{
    return serving_picture(out, user, CANVAS_SVG, form, fault);
}

bool serving_html(FILE *out, const struct serving_view *view, struct fault *fault)
{
    struct serving_view shown = *view;
    char line[400];
    uint32_t gpus = generation_gpus(&view->serving->settings);
    snprintf(line, sizeof line, "%u request%s to an engine of %u GPU%s of %.200s", view->serving->count,
             readable_plural(view->serving->count), gpus, readable_plural(gpus), view->scenario->platform_name);
    html_begin(out, view->scenario->name, line);
    put_tiles(out, view);
    fputs("<h2>Requests over time</h2>\n", out);
    bool done = html_chart(out, draw, &shown, "serving", "slim", false, fault);
    fputs("<h2>Latency</h2>\n<table>\n<thead><tr><th></th><th class=\"n\">mean</th><th class=\"n\">50 %</th>"
          "<th class=\"n\">90 %</th><th class=\"n\">99 %</th><th class=\"n\">most</th></tr></thead>\n<tbody>\n",
          out);
    put_row(out, "first token", &view->figures->first);
    put_row(out, "each further token", &view->figures->next);
    put_row(out, "whole request", &view->figures->whole);
    fputs("</tbody>\n</table>\n", out);
    html_end(out);
    return done;
}
