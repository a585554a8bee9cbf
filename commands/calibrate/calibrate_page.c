/* SPDX-License-Identifier: Apache-2.0 */
/* Measured runs beside predictions, before and after, and each left out: a page, and a picture. */
#include "analysis/output/html.h"
#include "analysis/pictures/picture_chart.h"
#include "base/arena.h"
#include "base/bulk.h"
#include "base/table.h"
#include "commands/calibrate/calibrate_output.h"
#include "commands/cli/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the picture ---- */

static struct chart_series series_of(const struct calibration *c, const char *name, bool before, struct arena *arena)
{
    double *x = arena_array(arena, c->count, sizeof *x), *y = arena_array(arena, c->count, sizeof *y);
    for (size_t i = 0; i < c->count; i++) {
        const struct calibration_row *row = &c->rows[i];
        double after = c->count > 1 ? row->left_out : row->after;
        x[i] = row->seconds;
        y[i] = (before ? row->before : after) / row->seconds;
    }
    return (struct chart_series){.name = name, .form = CHART_POINTS, .x = x, .y = y, .count = c->count};
}

bool calibration_picture(const struct calibration *c, enum canvas_format format, const struct picture_form *form,
                         FILE *out, struct fault *fault)
{
    if (!c->count)
        return fault_set(fault, "no run was measured, so that there is nothing to draw");
    struct arena *arena = arena_create();
    const struct chart_series series[] = {
        series_of(c, "before", true, arena),
        series_of(c, c->count > 1 ? "calibrated with the other runs" : "calibrated", false, arena)};
    struct chart chart = {.title = "Predicted over measured iterations",
                          .x = {"measured iteration", CHART_SECONDS, true},
                          .y = {"predicted / measured", CHART_PERCENT, .fitted = true},
                          .series = series,
                          .series_count = 2,
                          .limit = 1,
                          .limit_name = "as measured"};
    bool done = picture_chart(&chart, format, form, out, fault);
    arena_destroy(arena);
    return done;
}

static bool draw(FILE *out, const struct picture_form *form, void *user, struct fault *fault)
{
    return calibration_picture(user, CANVAS_SVG, form, out, fault);
}

/* ---- the page ---- */

static void put_seconds(FILE *out, double seconds, double measured)
{
    char text[READABLE_MAX];
    if (isnan(seconds)) {
        fputs("<td></td><td></td>", out);
        return;
    }
    fprintf(out, "<td class=\"n\" data-v=\"%.9g\">%s</td>", seconds, readable_seconds(text, seconds));
    fprintf(out, "<td class=\"n\" data-v=\"%.9g\">%+.1f %%</td>", seconds / measured - 1,
            100 * (seconds / measured - 1));
}

static void put_row(FILE *out, const struct calibration_row *row, bool several)
{
    char text[READABLE_MAX];
    fputs("<tr><td>", out);
    html_text(out, row->text);
    fprintf(out, "</td><td class=\"n\" data-v=\"%.9g\">%s</td>", row->seconds, readable_seconds(text, row->seconds));
    put_seconds(out, row->before, row->seconds);
    put_seconds(out, row->after, row->seconds);
    if (several)
        put_seconds(out, row->left_out, row->seconds);
    fputs("<td>", out);
    html_text(out, row->source);
    if (row->at.line)
        fprintf(out, ":%u", row->at.line);
    fprintf(out, "</td><td>%s</td></tr>\n", row->contradicts ? "contradicts the others" : "");
}

static void put_rows(FILE *out, const struct calibration *c)
{
    bool several = c->count > 1;
    fprintf(out,
            "<h2>The runs</h2>\n<div class=\"wide\"><table class=\"sort\">\n<thead><tr><th>job</th>"
            "<th class=\"n\">measured</th><th class=\"n\">predicted</th><th class=\"n\">error</th>"
            "<th class=\"n\">calibrated</th><th class=\"n\">error</th>%s<th>measured from</th><th>remark</th></tr>"
            "</thead>\n<tbody>\n",
            several ? "<th class=\"n\"><dfn title=\"Predicted with what the other runs give\">left out</dfn></th>"
                      "<th class=\"n\">error</th>"
                    : "");
    for (size_t i = 0; i < c->count; i++)
        put_row(out, &c->rows[i], several);
    fputs("</tbody>\n</table></div>\n", out);
}

/* What the terminal says of the calibration, a line each. */
static void put_words(FILE *out, const struct calibration *c)
{
    char *text = NULL;
    size_t size = 0;
    FILE *lines = memory_stream_open(&text, &size);
    calibration_say(c, lines);
    memory_stream_close(lines);
    fputs("<h2>What was fitted</h2>\n<ul>\n", out);
    for (char *line = text, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        *end = '\0';
        fputs("<li>", out);
        html_text(out, line);
        fputs("</li>\n", out);
    }
    fputs("</ul>\n", out);
    free(text);
}

static bool write_page(FILE *out, void *user, struct fault *fault)
{
    const struct calibration *c = user;
    struct arena *arena = arena_create();
    double before = 0, after = 0;
    for (size_t i = 0; i < c->count; i++) {
        before += fabs(c->rows[i].before / c->rows[i].seconds - 1) / (double)c->count;
        after += fabs(c->rows[i].left_out / c->rows[i].seconds - 1) / (double)c->count;
    }
    html_begin(out, arena_print(arena, "%.100s, calibrated", c->base_name ? c->base_name : "No framework"),
               arena_print(arena, "stagesim calibrate, %zu measured run%s", c->count, readable_plural(c->count)));
    if (c->count)
        fprintf(out, "<p class=\"verdict\">Predictions were off by <b>%.1f %%</b> in the mean", 100 * before);
    else
        fputs("<p class=\"verdict\">No run was measured: what tables say is below", out);
    if (c->count > 1)
        fprintf(out, "; with values that the other runs give, each run's is off by <b>%.1f %%</b>", 100 * after);
    fputs(".</p>\n", out);
    bool done = !c->count || html_no_picture(out) || html_chart(out, draw, user, "runs", "runs-slim", false, fault);
    put_words(out, c);
    if (c->count)
        put_rows(out, c);
    html_end(out);
    arena_destroy(arena);
    return done;
}

int calibration_write_page(const struct calibration *calibration, const char *file)
{
    return result_write("calibrate", file, write_page, (void *)(uintptr_t)calibration);
}
