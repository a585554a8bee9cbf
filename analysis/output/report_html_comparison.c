/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/comparison_output.h"
#include "analysis/output/comparison_steps.h"
#include "analysis/output/html.h"
#include "analysis/output/page_timeline.h"
#include "analysis/output/report_html.h"
#include "base/arena.h"
#include "base/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Which columns say something. */
struct columns {
    bool scenario, schedule, engine, samples, bytes, fits, idle;
};

static struct columns choose_columns(const struct comparison_row *rows, size_t count)
{
    struct columns columns = {.schedule = true};
    for (size_t i = 0; i < count; i++) {
        columns.scenario |= strcmp(rows[i].scenario, rows[0].scenario) != 0;
        columns.engine |= strcmp(rows[i].engine, rows[0].engine) != 0;
        columns.samples |= rows[i].samples_per_s > 0;
        columns.bytes |= rows[i].peak_bytes > 0;
        columns.fits |= rows[i].capacity_known;
        columns.idle |= rows[i].idle_known;
    }
    return columns;
}

static void table_head(FILE *out, const struct columns *columns)
{
    fputs("<thead><tr>", out);
    if (columns->scenario)
        fputs("<th>scenario</th>", out);
    fputs("<th>schedule</th>", out);
    if (columns->engine)
        fputs("<th>engine</th>", out);
    fputs("<th class=\"n\"><dfn title=\"Iteration time\">T</dfn></th>"
          "<th class=\"n\"><dfn title=\"T divided by that of the first run\">relative</dfn></th>",
          out);
    if (columns->samples)
        fputs("<th class=\"n\">samples/s</th>", out);
    fputs("<th class=\"n\"><dfn title=\"1 &minus; mean over ranks of busy time / T\">bubble</dfn></th><th>what workers "
          "wait for</th>",
          out);
    if (columns->idle)
        fputs("<th>what makes them idle</th>", out);
    fputs("<th class=\"n\"><dfn title=\"Most stashed activations on a rank, in micro-batches of one worker's "
          "share\">in flight</dfn></th>",
          out);
    if (columns->bytes)
        fputs("<th class=\"n\">peak memory</th>", out);
    if (columns->fits)
        fputs("<th>fits</th>", out);
    fputs("</tr></thead>\n", out);
}

static void text_cell(FILE *out, const char *text, const char *link, const char *badge)
{
    fputs("<td>", out);
    if (link) {
        fputs("<a href=\"", out);
        html_text(out, link);
        fputs("\">", out);
    }
    html_text(out, text);
    fprintf(out, "%s%s</td>", link ? "</a>" : "", badge);
}

/* A number and what to sort it by. */
static void number_cell(FILE *out, double value, const char *text)
{
    fprintf(out, "<td class=\"n\" data-v=\"%.9g\">%s</td>", value, text);
}

/* "yes, in 94 of 100": such jobs. */
static void put_fits(FILE *out, const struct comparison_row *row)
{
    const struct memory_outlook *outlook = &row->outlook;
    fprintf(out, "<td>%s", !row->capacity_known ? "" : row->fits ? "yes" : "no");
    if (row->capacity_known && outlook->jobs && outlook->sure >= 0)
        fprintf(out, ", <dfn title=\"So many of 100 such jobs would fit, from %u published ones\">%.0f of 100</dfn>",
                outlook->jobs, memory_band_hundredths(outlook->sure));
    fputs("</td>", out);
}

static void table_row(FILE *out, const struct columns *columns, const struct comparison_row *row,
                      const struct comparison_row *first, const char *link, double whole, bool best)
{
    char text[READABLE_MAX];
    fputs(best ? "<tr class=\"best\">" : "<tr>", out);
    if (columns->scenario)
        text_cell(out, row->scenario, NULL, "");
    text_cell(out, row->schedule, link, best ? " <span class=\"badge\">best</span>" : "");
    if (*row->reason) {
        fputs("<td colspan=\"12\" class=\"d\">not run: ", out);
        html_text(out, row->reason);
        fputs("</td></tr>\n", out);
        return;
    }
    if (columns->engine)
        text_cell(out, row->engine, NULL, "");
    number_cell(out, row->iteration, readable_seconds(text, row->iteration));
    if (first->iteration > 0)
        fprintf(out, "<td class=\"n\">%.3f</td>", row->iteration / first->iteration);
    else
        fputs("<td></td>", out);
    if (columns->samples)
        fprintf(out, "<td class=\"n\">%.4g</td>", row->samples_per_s);
    number_cell(out, row->bubble, readable_percent(text, row->bubble));
    fprintf(out, "<td data-v=\"%.9g\">", row->causes[CAUSE_RECEIVE] + row->causes[CAUSE_COLLECTIVE]);
    html_cause_bar(out, row->causes, whole);
    if (columns->idle) {
        fprintf(out, "</td><td data-v=\"%.9g\">", row->idle[IDLE_ORDER]);
        html_idle_bar(out, row->idle, whole);
    }
    fprintf(out, "</td><td class=\"n\">%.4g</td>", row->peak_in_flight);
    if (columns->bytes)
        number_cell(out, row->peak_bytes, readable_binary_bytes(text, row->peak_bytes));
    if (columns->fits)
        put_fits(out, row);
    fputs("</tr>\n", out);
}

static void put_name(FILE *out, const struct comparison_row *rows, size_t count, size_t index)
{
    bool several = false;
    for (size_t i = 1; i < count; i++)
        several |= strcmp(rows[i].scenario, rows[0].scenario) != 0;
    if (several || !*rows[index].schedule) {
        html_text(out, rows[index].scenario);
        fputs(*rows[index].schedule ? " with " : "", out);
    }
    html_text(out, rows[index].schedule);
}

static void verdict(FILE *out, const struct comparison_row *rows, size_t count)
{
    char text[READABLE_MAX];
    size_t best = comparison_find_best(rows, count).time;
    if (best == count || count < 2)
        return;
    fprintf(out, "<p class=\"verdict\">Of %zu runs, <b>", count);
    put_name(out, rows, count, best);
    fprintf(out, "</b> is the fastest%s: <b>%s an iteration</b>", rows[best].capacity_known ? " that fits" : "",
            readable_seconds(text, rows[best].iteration));
    if (best && rows[0].iteration > 0) {
        double gain = 1 - rows[best].iteration / rows[0].iteration;
        fprintf(out, ", %s %s than ", readable_percent(text, fabs(gain)), gain >= 0 ? "less" : "more");
        put_name(out, rows, count, 0);
    }
    fprintf(out, ", with GPUs idle for %s of the time.</p>\n", readable_percent(text, rows[best].bubble));
}

static void table(FILE *out, const struct comparison_row *rows, const char *const *links, size_t count)
{
    struct columns columns = choose_columns(rows, count);
    double whole = 0;
    bool asynchronous = false;
    for (size_t i = 0; i < count; i++) {
        whole = fmax(whole, rows[i].bubble);
        asynchronous |= rows[i].asynchronous;
    }
    size_t best = comparison_find_best(rows, count).time;
    fputs("<div class=\"wide\"><table class=\"sort\">\n", out);
    table_head(out, &columns);
    fputs("<tbody>\n", out);
    for (size_t i = 0; i < count; i++)
        table_row(out, &columns, &rows[i], &rows[0], links ? links[i] : NULL, whole, count > 1 && i == best);
    fputs("</tbody>\n</table></div>\n", out);
    html_cause_legend(out);
    if (columns.idle)
        html_idle_legend(out);
    for (size_t i = 0; i < count && asynchronous; i++) {
        if (!rows[i].asynchronous)
            continue;
        fputs("<p class=\"note\">", out);
        html_text(out, rows[i].schedule);
        fputs(" is asynchronous: not equivalent to synchronous training.</p>\n", out);
    }
}

static int compare_ends(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Where the common axis ends: a quarter of the runs at most go beyond it, if they are at least twice as long as all
 * others. */
static double choose_end(struct gantt *const *gantts, size_t count)
{
    size_t none = 0;
    double *ends = array_grow(NULL, &none, count + 1, sizeof *ends);
    for (size_t i = 0; i < count; i++)
        ends[i] = gantts[i]->end;
    qsort(ends, count, sizeof *ends, compare_ends);
    size_t shown = count;
    for (size_t i = 1; i < count && shown == count; i++)
        if (ends[i] > 2 * ends[i - 1] && count - i <= count / 4)
            shown = i;
    double end = ends[shown - 1];
    free(ends);
    return end;
}

static void timelines(FILE *out, const struct gantt *const *gantts, const char *const *links, size_t count)
{
    size_t none = 0;
    struct gantt **shown = array_grow(NULL, &none, count + 1, sizeof *shown);
    for (size_t i = 0; i < count; i++)
        shown[i] = gantt_one_iteration(gantts[i]);
    double end = choose_end(shown, count);
    fputs("<h2>Timelines on one axis</h2>\n<div class=\"timelines\">\n", out);
    page_timeline_styles(out, (const struct gantt *const *)shown, count);
    for (size_t i = 0; i < count; i++) {
        double own = shown[i]->end;
        if (own > end)
            gantt_cut(shown[i], end);
        page_timeline(out, shown[i], end, links ? links[i] : NULL);
        if (own > end)
            fputs("<p class=\"note\">It goes on beyond the end of the axis.</p>\n", out);
    }
    fputs("</div>\n", out);
    page_timeline_legend(out, (const struct gantt *const *)shown, count);
    for (size_t i = 0; i < count; i++)
        gantt_destroy(shown[i]);
    free(shown);
}

/* How far each layout is from the best; runs of one scenario have the same best. */
static void nearest(FILE *out, const struct comparison_view *view)
{
    struct arena *arena = arena_create();
    const char *said = "";
    bool any = false;
    for (size_t i = 0; view->nearest && i < view->count; i++) {
        const struct nearest *near = view->nearest[i];
        if (!near->layouts)
            continue;
        fputs(any ? "" : "<h2>The nearest better layout</h2>\n<ul>\n", out);
        any = true;
        fputs("<li>", out);
        html_text(out, view->rows[i].scenario);
        fputs(", ", out);
        html_text(out, view->rows[i].schedule);
        fputs(": without contention, ", out);
        html_text(out, nearest_sentence(near, arena));
        if (strcmp(said, near->command) != 0) {
            fputs(". It is run by <code>", out);
            html_text(out, near->command);
            fputs("</code>", out);
        }
        fputs("</li>\n", out);
        said = near->command;
    }
    fputs(any ? "</ul>\n" : "", out);
    arena_destroy(arena);
}

bool report_html_comparison(FILE *out, const struct comparison_view *view, struct fault *fault)
{
    html_begin(out, view->title, NULL);
    verdict(out, view->rows, view->count);
    table(out, view->rows, view->links, view->count);
    bool done = comparison_steps_section(out, view->rows, view->count, fault);
    nearest(out, view);
    timelines(out, view->gantts, view->links, view->count);
    html_end(out);
    return done;
}
