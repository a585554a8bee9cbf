/* SPDX-License-Identifier: Apache-2.0 */
/* The rows, tables and pictures of a comparison. */
#include "commands/compared.h"

#include "base/arena.h"
#include "base/table.h"
#include "commands/cli/words.h"
#include "studies/wanted.h"

#include <stdlib.h>
#include <string.h>

/* More workers do not fit a terminal's line. */
enum { UTILIZATION_WORKERS_MAX = 16 };

static struct comparison_row refused_row(const struct comparison_run *run)
{
    struct comparison_row row;
    memset(&row, 0, sizeof row);
    snprintf(row.scenario, sizeof row.scenario, "%s", run->name);
    snprintf(row.schedule, sizeof row.schedule, "%s", run->schedule);
    snprintf(row.reason, sizeof row.reason, "%s", run->reason);
    return row;
}

/* By iteration time; what was not run comes last. */
static int by_time(const void *left, const void *right)
{
    const struct comparison_row *a = left, *b = right;
    if (!*a->reason != !*b->reason)
        return *a->reason ? 1 : -1;
    return (a->iteration > b->iteration) - (a->iteration < b->iteration);
}

static int by_memory(const void *left, const void *right)
{
    const struct comparison_row *a = left, *b = right;
    if (!*a->reason != !*b->reason)
        return *a->reason ? 1 : -1;
    return (a->peak_bytes > b->peak_bytes) - (a->peak_bytes < b->peak_bytes);
}

/* By the time that one step in twenty exceeds; runs of which that is not known stand behind the others, by time. */
static int by_p95(const void *left, const void *right)
{
    const struct comparison_row *a = left, *b = right;
    if (a->tails.known != b->tails.known)
        return a->tails.known ? -1 : 1;
    if (!a->tails.known)
        return by_time(left, right);
    return (a->tails.p95.value > b->tails.p95.value) - (a->tails.p95.value < b->tails.p95.value);
}

static void sort_rows(const struct comparison *comparison, struct comparison_row *rows, size_t count)
{
    static int (*const orders[])(const void *, const void *) = {by_time, by_time, by_memory, by_p95};
    enum options_sort sort = comparison->options->sort;
    if (!sort && comparison->options->quantiles)
        sort = SORT_P95;
    if (sort)
        qsort(rows, count, sizeof *rows, orders[sort]);
}

static struct comparison_row *collect_rows(const struct comparison *comparison, size_t *count)
{
    size_t most = 2 * comparison->count;
    for (size_t i = 0; i < comparison->count; i++)
        most += comparison->runs[i].result.part_count;
    struct comparison_row *rows = arena_array(comparison->arena, most, sizeof *rows);
    *count = 0;
    for (size_t i = 0; i < comparison->count; i++) {
        const struct comparison_run *run = &comparison->runs[i];
        if (run->reason)
            rows[(*count)++] = refused_row(run);
        for (size_t row = 0; row < run->result.row_count && !run->reason; row++, ++*count) {
            rows[*count] = run->result.rows[row];
            if (comparison->options->output)
                snprintf(rows[*count].directory, sizeof rows->directory, "%.*s", (int)strlen(run->directory) - 1,
                         run->directory);
        }
        for (size_t part = 0; part < run->result.part_count && !run->reason; part++)
            rows[(*count)++] = run->result.parts[part];
    }
    sort_rows(comparison, rows, *count);
    return rows;
}

static size_t most_workers(const struct comparison *comparison)
{
    size_t most = 0;
    for (size_t i = 0; i < comparison->count; i++)
        if (!comparison->runs[i].scenario->kind && comparison->runs[i].result.gantt &&
            comparison->runs[i].result.gantt->row_count > most)
            most = comparison->runs[i].result.gantt->row_count;
    return most;
}

static void print_utilization(const struct comparison *comparison)
{
    size_t workers = most_workers(comparison);
    if (!workers || workers > UTILIZATION_WORKERS_MAX)
        return;
    struct table *table = table_create();
    table_column(table, "utilization of worker", '<');
    for (size_t worker = 0; worker < workers; worker++) {
        char title[24];
        snprintf(title, sizeof title, "%zu", worker);
        table_column(table, title, '>');
    }
    for (size_t i = 0; i < comparison->count; i++) {
        const struct comparison_run *run = &comparison->runs[i];
        if (run->reason || run->scenario->kind)
            continue;
        table_cell(table, "%.*s", (int)strlen(run->directory) - 1, run->directory);
        for (size_t worker = 0; worker < workers; worker++) {
            char text[READABLE_MAX] = "";
            if (worker < run->result.gantt->row_count)
                readable_percent(text, run->result.gantt->rows[worker].busy);
            table_cell(table, "%s", text);
        }
    }
    putchar('\n');
    table_finish(table, stdout, table_style_of(comparison->options->format, stdout));
}

void compared_print(const struct comparison *comparison)
{
    size_t count;
    struct comparison_row *rows = collect_rows(comparison, &count);
    comparison_print(stdout, rows, count, comparison->options->format);
    if (table_is_read(comparison->options->format))
        print_utilization(comparison);
}

bool compared_write_rows(const struct comparison *comparison, struct output *output, struct fault *fault)
{
    size_t count;
    struct comparison_row *rows = collect_rows(comparison, &count);
    FILE *csv = output_open(output, "comparison.csv", fault),
         *json = csv ? output_open(output, "comparison.json", fault) : NULL;
    if (!json)
        return false;
    comparison_print(csv, rows, count, TABLE_CSV);
    comparison_print(json, rows, count, TABLE_JSON);
    return true;
}

/* The pictures and the report on top, where any of the scenarios asks for them. */
bool compared_write_drawn(const struct comparison *comparison, struct output *output, struct fault *fault)
{
    unsigned pictures = 0;
    struct picture_form form = wanted_form(comparison->runs[0].scenario);
    bool report = false;
    struct comparison_row *rows = arena_array(comparison->arena, comparison->count, sizeof *rows);
    const struct gantt **gantts = arena_array(comparison->arena, comparison->count, sizeof *gantts);
    const char **links = arena_array(comparison->arena, comparison->count, sizeof *links);
    const struct nearest **nearest = arena_array(comparison->arena, comparison->count, sizeof *nearest);
    size_t count = 0;
    for (size_t i = 0; i < comparison->count; i++) {
        const struct comparison_run *run = &comparison->runs[i];
        if (run->reason)
            continue;
        pictures |= run->scenario->pictures;
        report |= run->scenario->report;
        rows[count] = run->result.rows[run->result.row_count - 1];
        gantts[count] = run->result.gantt;
        nearest[count] = &run->nearest;
        links[count] = run->scenario->report ? arena_print(comparison->arena, "%sreport.html", run->directory) : NULL;
        count++;
    }
    struct comparison_view view = {comparison->runs[0].scenario->name, gantts, rows, links, nearest, count};
    return comparison_write_pictures(&view, pictures, &form, output, fault) &&
           (!report || comparison_write_report(&view, output, fault));
}
