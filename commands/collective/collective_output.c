/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/collective/collective_output.h"

#include "analysis/pictures/picture_chart.h"
#include "base/arena.h"
#include "base/json_writer.h"
#include "base/text_writer.h"
#include "simulator/program/program.h"

#include <stdlib.h>
#include <string.h>

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *size_text(char *text, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    unsigned unit = 0;
    while (unit < 4 && bytes >= 1024) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, READABLE_MAX, "%.4g %s", bytes, units[unit]);
    return text;
}

static bool has_protocols(const struct collective_table *table)
{
    return table->count && table->rows[0].protocol[0];
}

/* Where a program was not taken since it is for other sizes. */
static void print_range(FILE *out, const struct collective_request *request, const struct collective_table *table)
{
    const struct collective_algorithm *program = request->own;
    bool left = false;
    for (size_t i = 0; program && i < table->count; i++)
        left |= !collective_algorithm_takes(program, table->rows[i].bytes);
    char least[READABLE_MAX], most[READABLE_MAX];
    if (left)
        diag_print(out, "%s is for %s to %s: other sizes take what auto chooses\n", program->name,
                   size_text(least, program->own->least), size_text(most, program->own->most));
}

void collective_text_write(FILE *out, const struct collective_request *request, const struct collective_table *table,
                           enum table_format format)
{
    char *lines = NULL;
    size_t size = 0;
    FILE *remarks = table_remarks_begin(&lines, &size);
    if (remarks)
        diag_print(remarks, "%s, %u ranks of %s, engine %s\n", collective_name(request->kind), table->ranks,
                   request->file, request->engine->name);
    table_remarks_end(out, format, remarks, &lines);
    if (format == TABLE_MARKDOWN)
        putc('\n', out);
    struct table *text = table_create();
    table_columns(text, ">size", ">time", ">algbw GB/s", ">busbw GB/s", "<algorithm", NULL);
    if (has_protocols(table))
        table_column(text, "protocol", '<');
    char buffer[READABLE_MAX];
    for (size_t i = 0; i < table->count; i++) {
        const struct collective_row *row = &table->rows[i];
        table_cell(text, "%s", size_text(buffer, row->bytes));
        table_cell(text, "%s", readable_seconds(buffer, row->seconds));
        table_cell(text, "%.4g", collective_bandwidth(row) / 1e9);
        table_cell(text, "%.4g", collective_bus_bandwidth(row, request->kind, table->ranks) / 1e9);
        table_cell(text, row->chosen ? "auto: %s" : "%s", row->algorithm->name);
        if (has_protocols(table))
            table_cell(text, "%s", row->protocol);
    }
    table_finish(text, out, table_style_of(format, out));
    remarks = table_remarks_begin(&lines, &size);
    for (uint32_t i = 0; i < table->refusal_count && remarks; i++)
        fprintf(remarks, "left out: %s %s\n", table->refusals[i].algorithm->name, table->refusals[i].reason);
    if (remarks && *table->capped)
        diag_print(remarks, "%s\n", table->capped);
    if (remarks)
        print_range(remarks, request, table);
    table_remarks_end(out, format, remarks, &lines);
}

void collective_csv_write(FILE *out, const struct collective_request *request, const struct collective_table *table)
{
    struct text_writer *writer = text_writer_create(out);
    fprintf(out, "# collective: %s\n# ranks: %u\n# platform: %s\n", collective_name(request->kind), table->ranks,
            last_part(request->file));
    for (uint32_t i = 0; i < table->refusal_count; i++)
        fprintf(out, "# left out: %s %s\n", table->refusals[i].algorithm->name, table->refusals[i].reason);
    text_string(writer, request->all ? "size_bytes,time_us,algbw_GBps,busbw_GBps,algorithm\n"
                                     : "size_bytes,time_us,algbw_GBps,busbw_GBps\n");
    for (size_t i = 0; i < table->count; i++) {
        const struct collective_row *row = &table->rows[i];
        const double numbers[] = {row->bytes, row->seconds * 1e6, collective_bandwidth(row) / 1e9,
                                  collective_bus_bandwidth(row, request->kind, table->ranks) / 1e9};
        for (int k = 0; k < 4; k++) {
            if (k)
                text_char(writer, ',');
            text_number(writer, numbers[k]);
        }
        if (request->all) {
            text_char(writer, ',');
            text_string(writer, row->chosen ? "auto" : row->algorithm->name);
        }
        text_char(writer, '\n');
    }
    text_writer_destroy(writer);
}

void collective_json_write(FILE *out, const struct collective_request *request, const struct collective_table *table)
{
    struct json_writer json = json_writer_init(out);
    json_object_begin(&json, NULL, true);
    json_integer(&json, "schema", 1);
    json_text(&json, "collective", collective_name(request->kind));
    json_text(&json, "platform", request->file);
    json_text(&json, "engine", request->engine->name);
    json_integer(&json, "ranks", table->ranks);
    json_array_begin(&json, "rows", true);
    for (size_t i = 0; i < table->count; i++) {
        const struct collective_row *row = &table->rows[i];
        json_object_begin(&json, NULL, false);
        json_number(&json, "size_bytes", row->bytes);
        json_number(&json, "time_us", row->seconds * 1e6);
        json_number(&json, "algbw_GBps", collective_bandwidth(row) / 1e9);
        json_number(&json, "busbw_GBps", collective_bus_bandwidth(row, request->kind, table->ranks) / 1e9);
        json_text(&json, "algorithm", row->algorithm->name);
        if (row->protocol[0])
            json_text(&json, "protocol", row->protocol);
        json_flag(&json, "auto", row->chosen);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_array_begin(&json, "left_out", true);
    for (uint32_t i = 0; i < table->refusal_count; i++) {
        json_object_begin(&json, NULL, false);
        json_text(&json, "algorithm", table->refusals[i].algorithm->name);
        json_text(&json, "reason", table->refusals[i].reason);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_object_end(&json);
    fputc('\n', out);
}

bool collective_picture_write(FILE *out, const struct collective_request *request, const struct collective_table *table,
                              enum canvas_format format, const struct picture_form *form, struct fault *fault)
{
    struct arena *arena = arena_create();
    size_t sizes = request->size_count, count = table->count / sizes;
    struct chart_series *series = arena_array(arena, count, sizeof *series);
    double *x = arena_array(arena, table->count, sizeof *x), *y = arena_array(arena, table->count, sizeof *y);
    for (size_t i = 0; i < table->count; i++) {
        x[i] = table->rows[i].bytes;
        y[i] = table->rows[i].seconds;
    }
    for (size_t i = 0; i < count; i++) {
        const struct collective_row *row = &table->rows[i * sizes];
        series[i] = (struct chart_series){row->chosen ? "auto chooses" : row->algorithm->name,
                                          row->chosen && count > 1 ? CHART_POINTS : CHART_LINE, x + i * sizes,
                                          y + i * sizes, sizes};
    }
    struct chart chart = {.title = arena_print(arena, "%s over %u ranks", collective_name(request->kind), table->ranks),
                          .subtitle =
                              arena_print(arena, "%s, engine %s", last_part(request->file), request->engine->name),
                          .x = {"size", CHART_BYTES, true},
                          .y = {"time", CHART_SECONDS, true},
                          .series = series,
                          .series_count = count};
    bool done = picture_chart(&chart, format, form, out, fault);
    arena_destroy(arena);
    return done;
}
