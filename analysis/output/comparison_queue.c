/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/comparison_queue.h"

#include "analysis/output/comparison_parts.h"
#include "analysis/output/html.h"
#include "analysis/pictures/picture_comparison.h"

#include <math.h>
#include <string.h>

bool comparison_is_of_queues(const struct comparison_row *rows, size_t count)
{
    bool some = false;
    for (size_t i = 0; i < count; i++) {
        if (!*rows[i].reason && !rows[i].queue.known)
            return false;
        some |= rows[i].queue.known;
    }
    return some;
}

/* ---- figures ---- */

enum unit { SECONDS, RATIO, PERCENT, JOULES };

/* Those that are not always known have a column where some queue has them. */
static const struct column {
    const char *title;
    size_t offset;
    enum unit unit;
} columns[] = {
    {"waiting", offsetof(struct comparison_queue, wait), SECONDS},
    {"completion", offsetof(struct comparison_queue, completion), SECONDS},
    {"bounded slowdown", offsetof(struct comparison_queue, bounded_slowdown), RATIO},
    {"fairness", offsetof(struct comparison_queue, fairness), RATIO},
    {"makespan", offsetof(struct comparison_queue, makespan), SECONDS},
    {"allocated", offsetof(struct comparison_queue, allocated), PERCENT},
    {"busy", offsetof(struct comparison_queue, busy), PERCENT},
    {"useful", offsetof(struct comparison_queue, useful), PERCENT},
    {"energy", offsetof(struct comparison_queue, joules), JOULES},
    {"kg of CO2", offsetof(struct comparison_queue, kilograms), RATIO},
    {"price", offsetof(struct comparison_queue, cost), RATIO},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static double value_of(const struct comparison_row *row, const struct column *column)
{
    return *(const double *)((const char *)&row->queue + column->offset);
}

bool comparison_queue_set(struct comparison_row *row, const char *key, double value)
{
    char own[TABLE_CELL_MAX];
    for (size_t i = 0; i < COLUMNS; i++) {
        table_key(own, sizeof own, columns[i].title);
        if (!strcmp(key, own)) {
            *(double *)((char *)&row->queue + columns[i].offset) = value;
            row->queue.fails |= columns[i].offset == offsetof(struct comparison_queue, useful);
            return true;
        }
    }
    return false;
}

static bool is_shown(const struct column *column, const struct comparison_row *rows, size_t count)
{
    bool some = false, fails = column->offset == offsetof(struct comparison_queue, useful);
    for (size_t i = 0; i < count; i++)
        some |= !*rows[i].reason && (fails ? rows[i].queue.fails : !isnan(value_of(&rows[i], column)));
    return some;
}

static const char *readable(char text[READABLE_MAX], enum unit unit, double value)
{
    if (unit == SECONDS)
        return readable_seconds(text, value);
    if (unit == PERCENT)
        return readable_percent(text, value);
    if (unit == JOULES)
        return readable_watt_hours(text, value);
    snprintf(text, READABLE_MAX, "%.4g", value);
    return text;
}

/* ---- the table ---- */

static void put_row(struct table *table, const struct comparison_row *row, const bool *shown)
{
    char text[READABLE_MAX];
    bool first = true;
    table_cell(table, "%s", row->scenario);
    table_cell(table, "%s", row->schedule);
    for (size_t i = 0; i < COLUMNS; i++) {
        if (!shown[i])
            continue;
        double value = *row->reason ? NAN : value_of(row, &columns[i]);
        if (isnan(value)) {
            table_cell(table, "%s", *row->reason && first ? "not run" : "");
        } else {
            table_cell(table, "%s", readable(text, columns[i].unit, value));
            table_value(table, value);
        }
        first = false;
    }
}

void comparison_queue_print(FILE *out, const struct comparison_row *rows, size_t count, enum table_format format)
{
    struct table *table = table_create();
    bool shown[COLUMNS], directories = comparison_has_directories(rows, count, format);
    table_columns(table, "<scenario", "<policy", NULL);
    for (size_t i = 0; i < COLUMNS; i++) {
        shown[i] = is_shown(&columns[i], rows, count);
        if (shown[i])
            table_column(table, columns[i].title, '>');
    }
    if (directories)
        table_column(table, "directory", '<');
    for (size_t i = 0; i < count; i++) {
        put_row(table, &rows[i], shown);
        if (directories)
            table_cell(table, "%s", rows[i].directory);
    }
    table_finish(table, out, table_style_of(format, out));
    comparison_print_reasons(out, rows, count, format);
}

/* ---- the page ---- */

static void page_row(FILE *out, const struct comparison_view *view, size_t i, bool best, const bool *shown)
{
    char text[READABLE_MAX];
    comparison_page_names(out, view, i, best);
    for (size_t k = 0; k < COLUMNS; k++) {
        double value = value_of(&view->rows[i], &columns[k]);
        if (shown[k] && isnan(value))
            fputs("<td></td>", out);
        else if (shown[k])
            fprintf(out, "<td class=\"n\" data-v=\"%.17g\">%s</td>", value, readable(text, columns[k].unit, value));
    }
    fputs("</tr>\n", out);
}

bool comparison_queue_page(FILE *out, const struct comparison_view *view, struct fault *fault)
{
    struct comparison_view drawn = *view;
    char text[READABLE_MAX];
    bool shown[COLUMNS];
    size_t best = 0;
    for (size_t i = 1; i < view->count; i++)
        if (view->rows[i].queue.completion < view->rows[best].queue.completion)
            best = i;
    html_begin(out, view->title, "stagesim compare");
    fputs("<p class=\"verdict\">Jobs are done soonest with ", out);
    html_text(out, view->rows[best].schedule);
    fprintf(out, ": %s after they come, on average.</p>\n", readable_seconds(text, view->rows[best].queue.completion));
    fputs("<div class=\"wide\"><table class=\"sort\">\n<thead><tr><th>scenario</th><th>policy</th>", out);
    for (size_t i = 0; i < COLUMNS; i++) {
        shown[i] = is_shown(&columns[i], view->rows, view->count);
        if (shown[i])
            fprintf(out, "<th class=\"n\">%s</th>", columns[i].title);
    }
    fputs("</tr></thead>\n<tbody>\n", out);
    for (size_t i = 0; i < view->count; i++)
        page_row(out, view, i, i == best, shown);
    fputs("</tbody>\n</table></div>\n<p class=\"note\">Means over all jobs.</p>\n<h2>Nodes over time</h2>\n", out);
    bool done = html_chart(out, comparison_draw, &drawn, "compare", "slim", false, fault);
    html_end(out);
    return done;
}
