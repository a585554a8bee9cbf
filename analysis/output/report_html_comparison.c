/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/html.h"
#include "analysis/output/report_html.h"
#include "analysis/pictures/picture_comparison.h"
#include "analysis/pictures/picture_timeline.h"
#include "base/table.h"

#include <math.h>
#include <string.h>

enum { TIMELINES_MOST = 32 }; /* more make the page too large to open */

/* Which columns say something. */
struct columns {
    bool scenario, schedule, engine, samples, bytes, fits;
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
    fputs("<th class=\"n\"><dfn title=\"1 &minus; mean over ranks of busy time / T\">bubble</dfn></th><th>why workers "
          "are idle</th>"
          "<th class=\"n\"><dfn title=\"Most stashed activations on a rank, in micro-batches of one worker's "
          "share\">in flight</dfn></th>",
          out);
    if (columns->bytes)
        fputs("<th class=\"n\">peak memory</th>", out);
    if (columns->fits)
        fputs("<th>fits</th>", out);
    fputs("</tr></thead>\n", out);
}

static void text_cell(FILE *out, const char *text, const char *link)
{
    fputs("<td>", out);
    if (link) {
        fputs("<a href=\"", out);
        html_text(out, link);
        fputs("\">", out);
    }
    html_text(out, text);
    fputs(link ? "</a></td>" : "</td>", out);
}

static void table_row(FILE *out, const struct columns *columns, const struct comparison_row *row,
                      const struct comparison_row *first, const char *link, double whole)
{
    char text[READABLE_MAX];
    fputs("<tr>", out);
    if (columns->scenario)
        text_cell(out, row->scenario, NULL);
    text_cell(out, row->schedule, link);
    if (columns->engine)
        text_cell(out, row->engine, NULL);
    fprintf(out, "<td class=\"n\">%s</td>", readable_seconds(text, row->iteration));
    if (first->iteration > 0)
        fprintf(out, "<td class=\"n\">%.3f</td>", row->iteration / first->iteration);
    else
        fputs("<td></td>", out);
    if (columns->samples)
        fprintf(out, "<td class=\"n\">%.4g</td>", row->samples_per_s);
    fprintf(out, "<td class=\"n\">%s</td><td>", readable_percent(text, row->bubble));
    html_cause_bar(out, row->causes, whole);
    fprintf(out, "</td><td class=\"n\">%.4g</td>", row->peak_in_flight);
    if (columns->bytes)
        fprintf(out, "<td class=\"n\">%s</td>", readable_binary_bytes(text, row->peak_bytes));
    if (columns->fits)
        fprintf(out, "<td>%s</td>", !row->capacity_known ? "" : row->fits ? "yes" : "no");
    fputs("</tr>\n", out);
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
    fputs("<div class=\"wide\"><table>\n", out);
    table_head(out, &columns);
    fputs("<tbody>\n", out);
    for (size_t i = 0; i < count; i++)
        table_row(out, &columns, &rows[i], &rows[0], links ? links[i] : NULL, whole);
    fputs("</tbody>\n</table></div>\n", out);
    html_cause_legend(out);
    for (size_t i = 0; i < count && asynchronous; i++) {
        if (!rows[i].asynchronous)
            continue;
        fputs("<p class=\"note\">", out);
        html_text(out, rows[i].schedule);
        fputs(" is asynchronous: not equivalent to synchronous training.</p>\n", out);
    }
}

static bool timelines(FILE *out, const struct gantt *const *gantts, size_t count, struct fault *fault)
{
    bool done = true;
    fputs("<h2>Each run</h2>\n", out);
    for (size_t i = 0; i < count && done; i++) {
        char prefix[32];
        snprintf(prefix, sizeof prefix, "run%zu-", i);
        fputs("<details>\n<summary>", out);
        html_text(out, gantts[i]->title);
        fputs("</summary>\n<figure>\n", out);
        done = picture_timeline(gantts[i], CANVAS_SVG, prefix, out, fault);
        fputs("</figure>\n</details>\n", out);
    }
    return done;
}

bool report_html_comparison(FILE *out, const char *title, const struct comparison_row *rows,
                            const struct gantt *const *gantts, const char *const *links, size_t count,
                            struct fault *fault)
{
    html_begin(out, title, NULL);
    table(out, rows, links, count);
    fputs("<h2>Timelines on one axis</h2>\n<figure>\n", out);
    bool done = picture_comparison(gantts, count, title, CANVAS_SVG, "all-", out, fault);
    fputs("</figure>\n", out);
    if (done && count <= TIMELINES_MOST)
        done = timelines(out, gantts, count, fault);
    html_end(out);
    return done && (!ferror(out) || fault_set(fault, "the report could not be written"));
}
