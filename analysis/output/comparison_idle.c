/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/comparison_idle.h"

#include "analysis/output/comparison_parts.h"
#include "analysis/output/html.h"
#include "analysis/pictures/picture_comparison.h"

#include <string.h>

bool comparison_is_of_idle(const struct comparison_row *rows, size_t count)
{
    bool some = false;
    for (size_t i = 0; i < count; i++) {
        if (!*rows[i].reason && !rows[i].idle_nodes.known)
            return false;
        some |= rows[i].idle_nodes.known;
    }
    return some;
}

/* What a row has behind its names. */
enum figure { WORK, EFFICIENCY, ATTAINMENT, USED, RESCALES, PREEMPTIONS, FIGURES };
static const struct {
    const char *title;
    size_t offset;
} columns[FIGURES] = {
    {"work", offsetof(struct comparison_idle, work)},
    {"efficiency", offsetof(struct comparison_idle, efficiency)},
    {"of the best", offsetof(struct comparison_idle, attainment)},
    {"nodes used", offsetof(struct comparison_idle, used)},
    {"rescales", offsetof(struct comparison_idle, rescales)},
    {"preemptions", offsetof(struct comparison_idle, preemptions)},
};

static double value_of(const struct comparison_row *row, enum figure figure)
{
    return *(const double *)((const char *)&row->idle_nodes + columns[figure].offset);
}

bool comparison_idle_set(struct comparison_row *row, const char *key, double value)
{
    char own[TABLE_CELL_MAX];
    for (enum figure i = 0; i < FIGURES; i++) {
        table_key(own, sizeof own, columns[i].title);
        if (!strcmp(key, own)) {
            row->idle_nodes.known = true;
            *(double *)((char *)&row->idle_nodes + columns[i].offset) = value;
            return true;
        }
    }
    return false;
}

static const char *text_of(char *text, enum figure figure, double value)
{
    if (figure == EFFICIENCY || figure == ATTAINMENT || figure == USED)
        return readable_percent(text, value);
    snprintf(text, READABLE_MAX, figure == WORK ? "%.4g" : "%.0f", value);
    return text;
}

void comparison_idle_print(FILE *out, const struct comparison_row *rows, size_t count, enum table_format format)
{
    bool directories = comparison_has_directories(rows, count, format);
    char text[READABLE_MAX];
    struct table *table = table_create();
    table_column(table, "scenario", '<');
    table_column(table, "decided by", '<');
    for (int i = 0; i < FIGURES; i++)
        table_column(table, columns[i].title, '>');
    if (directories)
        table_column(table, "directory", '<');
    for (size_t i = 0; i < count; i++) {
        table_cell(table, "%s", rows[i].scenario);
        table_cell(table, "%s", rows[i].schedule);
        for (enum figure k = 0; k < FIGURES; k++) {
            if (*rows[i].reason) {
                table_cell(table, "%s", k ? "" : "not run");
                continue;
            }
            table_cell(table, "%s", text_of(text, k, value_of(&rows[i], k)));
            table_value(table, value_of(&rows[i], k));
        }
        if (directories)
            table_cell(table, "%s", rows[i].directory);
    }
    table_finish(table, out, table_style_of(format, out));
    comparison_print_reasons(out, rows, count, format);
}

/* ---- the page ---- */

static void page_row(FILE *out, const struct comparison_view *view, size_t i, bool best)
{
    char text[READABLE_MAX];
    comparison_page_names(out, view, i, best);
    for (enum figure k = 0; k < FIGURES; k++)
        fprintf(out, "<td class=\"n\" data-v=\"%.17g\">%s</td>", value_of(&view->rows[i], k),
                text_of(text, k, value_of(&view->rows[i], k)));
    fputs("</tr>\n", out);
}

bool comparison_idle_page(FILE *out, const struct comparison_view *view, struct fault *fault)
{
    struct comparison_view shown = *view;
    char text[READABLE_MAX];
    size_t best = 0;
    for (size_t i = 1; i < view->count; i++)
        if (view->rows[i].idle_nodes.work > view->rows[best].idle_nodes.work)
            best = i;
    html_begin(out, view->title, "stagesim compare");
    fputs("<p class=\"verdict\">The jobs do most with ", out);
    html_text(out, view->rows[best].schedule);
    fprintf(out, ": %s of the most that the idle nodes could have done with them.</p>\n",
            readable_percent(text, view->rows[best].idle_nodes.attainment));
    fputs("<div class=\"wide\"><table class=\"sort\">\n<thead><tr><th>scenario</th><th>decided by</th>", out);
    for (int i = 0; i < FIGURES; i++)
        fprintf(out, "<th class=\"n\">%s</th>", columns[i].title);
    fputs("</tr></thead>\n<tbody>\n", out);
    for (size_t i = 0; i < view->count; i++)
        page_row(out, view, i, i == best);
    fputs("</tbody>\n</table></div>\n<h2>Jobs over time</h2>\n", out);
    bool done = html_chart(out, comparison_draw, &shown, "compare", "slim", false, fault);
    html_end(out);
    return done;
}
