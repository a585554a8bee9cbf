/* SPDX-License-Identifier: Apache-2.0 */
#include "base/table.h"
#include "commands/schedule/schedule_output.h"

#include <math.h>
#include <stdlib.h>

/* From the first slot's start to the last one's end; nothing of a worker without slots. */
static struct plan_span span_of(const struct schedule_view *view, uint32_t worker)
{
    struct plan_span all = {INFINITY, -INFINITY};
    for (size_t i = 0; i < view->plan->orders[worker].count; i++) {
        struct plan_span span = plan_timing_span(view->timing, worker, i);
        all.start = fmin(all.start, span.start);
        all.end = fmax(all.end, span.end);
    }
    return all.end >= all.start ? all : (struct plan_span){0, 0};
}

static void add_row(struct table *table, const struct schedule_view *view, uint32_t worker, bool versions)
{
    char text[READABLE_MAX];
    const struct plan_timing *timing = view->timing;
    struct plan_span span = span_of(view, worker);
    double length = span.end - span.start, busy = timing->busy[worker];
    table_cell(table, "%u", worker);
    table_cell(table, "%.6g", span.start);
    table_cell(table, "%.6g", span.end);
    table_cell(table, "%.6g", busy);
    table_cell(table, "%s", length > 0 ? readable_percent(text, 1 - busy / length) : "");
    table_cell(table, "%.4g", timing->peak_in_flight[worker]);
    if (versions)
        table_cell(table, "%.4g", view->plan->weight_versions[worker]);
}

void schedule_table_write(FILE *out, const struct schedule_view *view, enum table_format format)
{
    const struct plan *plan = view->plan;
    bool versions = false;
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        versions |= plan->weight_versions[worker] != 1;
    struct table *table = table_create();
    table_columns(table, ">worker", ">start", ">end", ">busy", ">idle in between", ">in flight", NULL);
    if (versions)
        table_column(table, "weight versions", '>');
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        add_row(table, view, worker, versions);
    table_finish(table, out, (struct table_style){format, 0});
    char *lines = NULL;
    size_t size = 0;
    FILE *remarks = table_remarks_begin(&lines, &size);
    schedule_figures_write(remarks, view);
    table_remarks_end(out, format, remarks, &lines);
}
