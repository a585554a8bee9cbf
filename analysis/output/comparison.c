/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/comparison.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/json_writer.h"
#include "base/number_text.h"
#include "base/table.h"

#include <math.h>
#include <string.h>

static void copy(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text ? text : "");
}

struct comparison_row comparison_row_of(const struct report *report)
{
    struct comparison_row row;
    memset(&row, 0, sizeof row); /* padding, too: rows are written to pipes */
    copy(row.scenario, sizeof row.scenario, report->run.scenario_name);
    copy(row.schedule, sizeof row.schedule, report->run.schedule);
    copy(row.engine, sizeof row.engine, report->run.engine);
    row.asynchronous = report->run.asynchronous;
    row.iteration = report->iteration;
    row.samples_per_s = report->samples_per_s;
    row.bubble = report->bubble;
    memcpy(row.causes, report->causes, sizeof row.causes);
    row.peak_in_flight = report->peak_in_flight;
    row.peak_bytes = report->peak_bytes;
    row.capacity_known = report->capacity_bytes > 0 && report->peak_bytes > 0;
    row.fits = report->fits;
    row.limits = report->limits;
    return row;
}

/* NaN: nothing to compare with. */
static double relative_time(const struct comparison_row *rows, size_t index)
{
    return rows[0].iteration > 0 ? rows[index].iteration / rows[0].iteration : NAN;
}

/* ---- csv ---- */

/* Empty where the figure does not apply. */
static void put_number(FILE *out, double value, bool applies)
{
    char text[NUMBER_TEXT_MAX];
    putc(',', out);
    if (applies && isfinite(value))
        fwrite(text, 1, number_write(text, value), out);
}

static void print_csv(FILE *out, const struct comparison_row *rows, size_t count)
{
    fputs("scenario,schedule,engine,iteration_s,samples_per_s,bubble_ratio,fill,drain,receive,collective,dependency,"
          "peak_in_flight,peak_bytes,fits,relative_time,limited_by\n",
          out);
    struct arena *arena = arena_create();
    for (size_t i = 0; i < count; i++) {
        const struct comparison_row *row = &rows[i];
        fprintf(out, "%s,%s,%s", csv_cell(row->scenario, arena), csv_cell(row->schedule, arena),
                csv_cell(row->engine, arena));
        put_number(out, row->iteration, true);
        put_number(out, row->samples_per_s, row->samples_per_s > 0);
        put_number(out, row->bubble, true);
        for (int cause = 0; cause < CAUSES; cause++)
            put_number(out, row->causes[cause], true);
        put_number(out, row->peak_in_flight, true);
        put_number(out, row->peak_bytes, row->peak_bytes > 0);
        fprintf(out, ",%s", !row->capacity_known ? "" : row->fits ? "true" : "false");
        put_number(out, relative_time(rows, i), true);
        fprintf(out, ",%s\n", row->limits.known ? limit_names[limits_by(&row->limits)] : "");
    }
    arena_destroy(arena);
}

/* ---- json ---- */

static void print_json(FILE *out, const struct comparison_row *rows, size_t count)
{
    struct json_writer json = json_writer_init(out);
    json_array_begin(&json, NULL, true);
    for (size_t i = 0; i < count; i++) {
        const struct comparison_row *row = &rows[i];
        json_object_begin(&json, NULL, false);
        json_text(&json, "scenario", row->scenario);
        json_text(&json, "schedule", row->schedule);
        json_text(&json, "engine", row->engine);
        json_number(&json, "iteration_s", row->iteration);
        if (row->samples_per_s > 0)
            json_number(&json, "samples_per_s", row->samples_per_s);
        json_number(&json, "bubble_ratio", row->bubble);
        for (int cause = 0; cause < CAUSES; cause++)
            json_number(&json, cause_names[cause], row->causes[cause]);
        json_number(&json, "peak_in_flight", row->peak_in_flight);
        if (row->peak_bytes > 0)
            json_number(&json, "peak_bytes", row->peak_bytes);
        if (row->capacity_known)
            json_flag(&json, "fits", row->fits);
        json_number(&json, "relative_time", relative_time(rows, i));
        if (row->limits.known)
            json_text(&json, "limited_by", limit_names[limits_by(&row->limits)]);
        json_flag(&json, "synchronous", !row->asynchronous);
        if (*row->directory)
            json_text(&json, "directory", row->directory);
        json_object_end(&json);
    }
    json_array_end(&json);
}

/* ---- table ---- */

/* Which columns have anything to say. */
struct columns {
    bool engine, samples, bytes, fits, causes[CAUSES], relative, limits;
};

static struct columns choose_columns(const struct comparison_row *rows, size_t count)
{
    struct columns columns = {.relative = count > 1};
    for (size_t i = 0; i < count; i++) {
        columns.engine |= strcmp(rows[i].engine, rows[0].engine) != 0;
        columns.samples |= rows[i].samples_per_s > 0;
        columns.bytes |= rows[i].peak_bytes > 0;
        columns.fits |= rows[i].capacity_known;
        columns.limits |= rows[i].limits.known;
        for (int cause = 0; cause < CAUSES; cause++)
            columns.causes[cause] |= rows[i].causes[cause] != 0;
    }
    return columns;
}

static void add_columns(struct table *table, const struct columns *columns)
{
    table_column(table, "scenario", '<');
    table_column(table, "schedule", '<');
    if (columns->engine)
        table_column(table, "engine", '<');
    table_column(table, "iteration", '>');
    if (columns->relative)
        table_column(table, "relative", '>');
    if (columns->samples)
        table_column(table, "samples/s", '>');
    table_column(table, "bubble", '>');
    for (int cause = 0; cause < CAUSES; cause++)
        if (columns->causes[cause])
            table_column(table, cause_names[cause], '>');
    table_column(table, "in flight", '>');
    if (columns->bytes)
        table_column(table, "memory", '>');
    if (columns->fits)
        table_column(table, "fits", '<');
    if (columns->limits)
        table_column(table, "limited by", '<');
}

/* NaN: an empty cell. */
static void add_number(struct table *table, int decimals, double value)
{
    if (isnan(value))
        table_cell(table, "%s", "");
    else
        table_cell(table, "%.*f", decimals, value);
}

static void add_row(struct table *table, const struct columns *columns, const struct comparison_row *rows, size_t index)
{
    const struct comparison_row *row = &rows[index];
    char text[READABLE_MAX];
    table_cell(table, "%s", row->scenario);
    table_cell(table, "%s%s", row->schedule, row->asynchronous ? " *" : "");
    if (columns->engine)
        table_cell(table, "%s", row->engine);
    table_cell(table, "%s", readable_seconds(text, row->iteration));
    if (columns->relative)
        add_number(table, 3, relative_time(rows, index));
    if (columns->samples)
        add_number(table, 1, row->samples_per_s > 0 ? row->samples_per_s : NAN);
    table_cell(table, "%s", readable_percent(text, row->bubble));
    for (int cause = 0; cause < CAUSES; cause++)
        if (columns->causes[cause])
            table_cell(table, "%s", readable_percent(text, row->causes[cause]));
    table_cell(table, "%.4g", row->peak_in_flight);
    if (columns->bytes)
        table_cell(table, "%s", row->peak_bytes > 0 ? readable_binary_bytes(text, row->peak_bytes) : "");
    if (columns->fits)
        table_cell(table, "%s", !row->capacity_known ? "" : row->fits ? "yes" : "no");
    if (columns->limits)
        table_cell(table, "%s%s%s", row->limits.known ? limit_names[limits_by(&row->limits)] : "",
                   row->limits.known ? " " : "",
                   row->limits.known ? readable_percent(text, row->limits.shares[limits_by(&row->limits)]) : "");
}

static void print_table(FILE *out, const struct comparison_row *rows, size_t count)
{
    struct columns columns = choose_columns(rows, count);
    struct table *table = table_create();
    bool asynchronous = false;
    add_columns(table, &columns);
    for (size_t i = 0; i < count; i++) {
        add_row(table, &columns, rows, i);
        asynchronous |= rows[i].asynchronous;
    }
    table_print(table, out, 0);
    table_destroy(table);
    if (asynchronous)
        fputs("* asynchronous: the time between updates in steady state; not equivalent to synchronous training\n",
              out);
}

void comparison_print(FILE *out, const struct comparison_row *rows, size_t count, enum comparison_format format)
{
    if (format == COMPARISON_CSV)
        print_csv(out, rows, count);
    else if (format == COMPARISON_JSON)
        print_json(out, rows, count);
    else
        print_table(out, rows, count);
}
