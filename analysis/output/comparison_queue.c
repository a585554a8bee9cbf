/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/comparison_queue.h"

#include "analysis/output/comparison_parts.h"
#include "analysis/output/html.h"
#include "analysis/pictures/picture_comparison.h"

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

enum { QUEUE_COLUMNS = 9 };

static bool some_fail(const struct comparison_row *rows, size_t count)
{
    bool some = false;
    for (size_t i = 0; i < count; i++)
        some |= rows[i].queue.fails;
    return some;
}

static void put_row(struct table *table, const struct comparison_row *row, bool fails)
{
    const struct comparison_queue *queue = &row->queue;
    table_cell(table, "%s", row->scenario);
    table_cell(table, "%s", row->schedule);
    if (*row->reason) {
        table_cell(table, "%s", "not run");
        for (size_t i = 3; i < QUEUE_COLUMNS + (size_t)fails; i++)
            table_cell(table, "%s", "");
        return;
    }
    table_seconds(table, queue->wait);
    table_seconds(table, queue->completion);
    table_ratio(table, queue->bounded_slowdown);
    table_ratio(table, queue->fairness);
    table_seconds(table, queue->makespan);
    table_percent(table, queue->allocated);
    table_percent(table, queue->busy);
    if (fails)
        table_percent(table, queue->useful);
}

void comparison_queue_print(FILE *out, const struct comparison_row *rows, size_t count, enum table_format format)
{
    static const char *const titles[QUEUE_COLUMNS] = {
        "scenario", "policy", "waiting", "completion", "bounded slowdown", "fairness", "makespan", "allocated", "busy"};
    struct table *table = table_create();
    bool fails = some_fail(rows, count), directories = comparison_has_directories(rows, count, format);
    for (size_t i = 0; i < QUEUE_COLUMNS; i++)
        table_column(table, titles[i], i < 2 ? '<' : '>');
    if (fails)
        table_column(table, "useful", '>');
    if (directories)
        table_column(table, "directory", '<');
    for (size_t i = 0; i < count; i++) {
        put_row(table, &rows[i], fails);
        if (directories)
            table_cell(table, "%s", rows[i].directory);
    }
    table_finish(table, out, table_style_of(format, out));
    comparison_print_reasons(out, rows, count, format);
}

/* ---- the page ---- */

static void page_cell(FILE *out, const char *text, double value)
{
    fprintf(out, "<td class=\"n\" data-v=\"%.17g\">%s</td>", value, text);
}

static void page_ratio(FILE *out, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.4g", value);
    page_cell(out, text, value);
}

static void page_row(FILE *out, const struct comparison_view *view, size_t i, bool best, bool fails)
{
    const struct comparison_queue *queue = &view->rows[i].queue;
    char text[READABLE_MAX];
    comparison_page_names(out, view, i, best);
    page_cell(out, readable_seconds(text, queue->wait), queue->wait);
    page_cell(out, readable_seconds(text, queue->completion), queue->completion);
    page_ratio(out, queue->bounded_slowdown);
    page_ratio(out, queue->fairness);
    page_cell(out, readable_seconds(text, queue->makespan), queue->makespan);
    page_cell(out, readable_percent(text, queue->allocated), queue->allocated);
    page_cell(out, readable_percent(text, queue->busy), queue->busy);
    if (fails)
        page_cell(out, readable_percent(text, queue->useful), queue->useful);
    fputs("</tr>\n", out);
}

bool comparison_queue_page(FILE *out, const struct comparison_view *view, struct fault *fault)
{
    struct comparison_view shown = *view;
    char text[READABLE_MAX];
    bool fails = some_fail(view->rows, view->count);
    size_t best = 0;
    for (size_t i = 1; i < view->count; i++)
        if (view->rows[i].queue.completion < view->rows[best].queue.completion)
            best = i;
    html_begin(out, view->title, "stagesim compare");
    fputs("<p class=\"verdict\">Jobs are done soonest with ", out);
    html_text(out, view->rows[best].schedule);
    fprintf(out, ": %s after they come, on average.</p>\n", readable_seconds(text, view->rows[best].queue.completion));
    fputs("<div class=\"wide\"><table class=\"sort\">\n<thead><tr><th>scenario</th><th>policy</th>"
          "<th class=\"n\">waiting</th><th class=\"n\">completion</th><th class=\"n\">bounded slowdown</th>"
          "<th class=\"n\">fairness</th><th class=\"n\">makespan</th><th class=\"n\">allocated</th>"
          "<th class=\"n\">busy</th>",
          out);
    fputs(fails ? "<th class=\"n\">useful</th></tr></thead>\n<tbody>\n" : "</tr></thead>\n<tbody>\n", out);
    for (size_t i = 0; i < view->count; i++)
        page_row(out, view, i, i == best, fails);
    fputs("</tbody>\n</table></div>\n<p class=\"note\">Means over all jobs.</p>\n<h2>Nodes over time</h2>\n", out);
    bool done = html_chart(out, comparison_draw, &shown, "compare", "slim", false, fault);
    html_end(out);
    return done;
}
