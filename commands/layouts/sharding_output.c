/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/layouts/sharding_output.h"

#include "base/json_writer.h"
#include "base/table.h"
#include "base/text_writer.h"

#include <math.h>

static double imbalance(const struct sharding_row *row)
{
    return row->mean > 0 ? row->computing / row->mean : 1;
}

/* ---- table ---- */

static void table_row(struct table *text, const struct sharding_row *row)
{
    char buffer[READABLE_MAX];
    table_cell(text, "%s", row->name);
    table_cell(text, "%s", readable_seconds(buffer, row->analytic));
    table_cell(text, "%s", isnan(row->simgrid) ? "" : readable_seconds(buffer, row->simgrid));
    table_cell(text, "%s", readable_seconds(buffer, row->computing));
    table_cell(text, "%.3f", imbalance(row));
    if (isnan(row->cost))
        table_cell(text, "%s", "");
    else
        table_cell(text, "%.2f", row->cost);
    table_cell(text, "%u", row->cut);
    table_cell(text, "%u", row->replicated);
    table_cell(text, "%s", row->memory > 0 ? readable_binary_bytes(buffer, row->memory) : "");
    table_cell(text, "%s", row->fits ? "yes" : "no");
}

static void print_remarks(FILE *out, const struct sharding_rows *rows, size_t shown)
{
    char whole[READABLE_MAX], mean[READABLE_MAX];
    fprintf(out, "%zu shardings, of which %zu fit in memory", rows->count, rows->fitting);
    fprintf(out, shown < rows->count ? "; the first %zu are shown\n" : "\n", shown);
    fprintf(out, "lower bound: whole tables %s, tables cut as evenly as can be %s\n",
            readable_seconds(whole, rows->whole), readable_seconds(mean, rows->mean));
}

static void print_table(FILE *out, const struct sharding_rows *rows, size_t shown, enum table_format format)
{
    char *lines = NULL;
    size_t size = 0;
    static const char *const titles[] = {"sharding",     "analytic", "simgrid",    "busiest", "over mean",
                                         "planner cost", "cut",      "replicated", "memory",  "fits"};
    struct table *text = table_create();
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        table_column(text, titles[i], i ? '>' : '<');
    for (size_t i = 0; i < rows->count && i < shown; i++)
        table_row(text, &rows->rows[i]);
    table_finish(text, out, table_style_of(format, out));
    table_remarks(out, format, "\n");
    FILE *remarks = table_remarks_begin(&lines, &size);
    print_remarks(remarks, rows, shown);
    table_remarks_end(out, format, remarks, &lines);
}

/* ---- csv, json ---- */

static void print_csv(FILE *out, const struct sharding_rows *rows)
{
    struct text_writer *writer = text_writer_create(out);
    text_string(writer, "sharding,analytic_s,simgrid_s,busiest_s,mean_s,planner_cost,cut,replicated,peak_bytes,fits\n");
    for (size_t i = 0; i < rows->count; i++) {
        const struct sharding_row *row = &rows->rows[i];
        const double numbers[] = {row->analytic, row->simgrid,     row->computing,          row->mean,
                                  row->cost,     (double)row->cut, (double)row->replicated, row->memory};
        text_string(writer, row->name);
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            text_char(writer, ',');
            if (!isnan(numbers[k]))
                text_number(writer, numbers[k]);
        }
        text_string(writer, row->fits ? ",yes\n" : ",no\n");
    }
    text_writer_destroy(writer);
}

static void print_json(FILE *out, const struct sharding_rows *rows, const char *method)
{
    struct json_writer json = json_writer_init(out);
    json_object_begin(&json, NULL, true);
    json_integer(&json, "schema", 1);
    json_text(&json, "method", method);
    json_object_begin(&json, "lower_bound", false);
    json_number(&json, "whole_s", rows->whole);
    json_number(&json, "cut_s", rows->mean);
    json_object_end(&json);
    json_array_begin(&json, "shardings", true);
    for (size_t i = 0; i < rows->count; i++) {
        const struct sharding_row *row = &rows->rows[i];
        json_object_begin(&json, NULL, false);
        json_text(&json, "sharding", row->name);
        json_number(&json, "analytic_s", row->analytic);
        json_number(&json, "simgrid_s", row->simgrid);
        json_number(&json, "busiest_s", row->computing);
        json_number(&json, "mean_s", row->mean);
        json_number(&json, "planner_cost", row->cost);
        json_integer(&json, "cut", row->cut);
        json_integer(&json, "replicated", row->replicated);
        if (row->memory > 0)
            json_number(&json, "peak_bytes", row->memory);
        json_flag(&json, "fits", row->fits);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_object_end(&json);
    fputc('\n', out);
}

void shardings_print(FILE *out, const struct sharding_rows *rows, const char *method, size_t shown,
                     enum table_format format)
{
    if (table_is_read(format))
        print_table(out, rows, shown, format);
    else if (format == TABLE_CSV)
        print_csv(out, rows);
    else
        print_json(out, rows, method);
}
