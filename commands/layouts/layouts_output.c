/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/layouts/layouts_output.h"

#include "analysis/figures/rank_correlation.h"
#include "base/arena.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "base/text_writer.h"

#include <math.h>
#include <stdlib.h>

enum column { MODEL, ANALYTIC, SIMGRID, COLUMNS };

/* Values and their ranks: of model and engine among the layouts that fit, of SimGrid among those that it simulated. */
struct ranking {
    double *values[COLUMNS], *ranks[COLUMNS];
    size_t counts[COLUMNS];
};

static struct ranking rank_all(const struct layout_table *table)
{
    struct ranking ranking = {.counts = {table->fitting, table->fitting, table->simulated}};
    for (int column = 0; column < COLUMNS; column++) {
        ranking.values[column] = array_zeroed(table->count, sizeof(double));
        ranking.ranks[column] = array_zeroed(table->count, sizeof(double));
        for (size_t i = 0; i < ranking.counts[column]; i++) {
            const struct layout_row *row = &table->rows[i];
            ranking.values[column][i] = column == MODEL      ? row->model
                                        : column == ANALYTIC ? row->analytic
                                                             : row->simgrid;
        }
        rank_values(ranking.values[column], ranking.counts[column], ranking.ranks[column]);
    }
    return ranking;
}

static void ranking_finish(struct ranking *ranking)
{
    for (int column = 0; column < COLUMNS; column++) {
        free(ranking->values[column]);
        free(ranking->ranks[column]);
    }
}

/* Of two columns, over the layouts that have both. */
static double correlate(const struct ranking *ranking, enum column left, enum column right)
{
    size_t count = ranking->counts[left] < ranking->counts[right] ? ranking->counts[left] : ranking->counts[right];
    return rank_correlation(ranking->values[left], ranking->values[right], count);
}

/* Of SimGrid where it was asked. */
static double iteration_of(const struct layout_row *row)
{
    return isnan(row->simgrid) ? row->analytic : row->simgrid;
}

static bool has_band(const struct layout_row *row)
{
    return row->band.rows && !isnan(iteration_of(row));
}

/* ---- table ---- */

static void cell_rank(struct table *table, const struct ranking *ranking, enum column column, size_t index)
{
    if (index < ranking->counts[column])
        table_cell(table, "%.4g", ranking->ranks[column][index]);
    else
        table_cell(table, "%s", "");
}

static void table_row(struct table *text, const struct layout_row *row, const struct ranking *ranking, size_t index)
{
    char buffer[READABLE_MAX];
    cell_rank(text, ranking, MODEL, index);
    table_cell(text, "%u", row->x);
    table_cell(text, "%u", row->y);
    table_cell(text, "%u", row->z);
    table_cell(text, "%u", row->data);
    table_cell(text, "%s", isnan(row->model) ? "" : readable_seconds(buffer, row->model));
    table_cell(text, "%s", isnan(row->analytic) ? "" : readable_seconds(buffer, row->analytic));
    cell_rank(text, ranking, ANALYTIC, index);
    table_cell(text, "%s", isnan(row->simgrid) ? "" : readable_seconds(buffer, row->simgrid));
    cell_rank(text, ranking, SIMGRID, index);
    table_cell(text, "%s", row->memory > 0 ? readable_binary_bytes(buffer, row->memory) : "");
    table_cell(text, "%s", row->fits ? "yes" : "no");
}

static void print_correlation(FILE *out, const struct ranking *ranking, enum column left, enum column right,
                              const char *what)
{
    double value = correlate(ranking, left, right);
    size_t count = ranking->counts[left] < ranking->counts[right] ? ranking->counts[left] : ranking->counts[right];
    if (!isnan(value))
        fprintf(out, "%s: %.3f over %zu layouts\n", what, value, count);
}

static void print_remarks(FILE *out, const struct layout_table *table, const struct ranking *ranking, size_t shown)
{
    fprintf(out, "%zu layouts, of which %zu fit in memory", table->count, table->fitting);
    fprintf(out, shown < table->count ? "; the first %zu are shown\n" : "\n", shown);
    print_correlation(out, ranking, MODEL, ANALYTIC, "rank correlation of model and analytic engine");
    print_correlation(out, ranking, MODEL, SIMGRID, "rank correlation of model and SimGrid");
    print_correlation(out, ranking, ANALYTIC, SIMGRID, "rank correlation of analytic engine and SimGrid");
    if (table->fitting)
        band_say(out, &table->rows[0].band);
    if (table->fitting && table->rows[0].outlook.jobs)
        memory_band_say(out, &table->rows[0].memory_band);
}

static void print_table(FILE *out, const struct layout_table *table, const struct ranking *ranking, size_t shown,
                        enum table_format format)
{
    char *lines = NULL;
    size_t size = 0;
    static const char *const titles[] = {
        "model rank",   "x",      "y",   "z", "data", "model", "analytic", "analytic rank", "simgrid",
        "simgrid rank", "memory", "fits"};
    struct table *text = table_create();
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        table_column(text, titles[i], '>');
    for (size_t i = 0; i < table->count && i < shown; i++)
        table_row(text, &table->rows[i], ranking, i);
    table_finish(text, out, table_style_of(format, out));
    table_remarks(out, format, "\n");
    FILE *remarks = table_remarks_begin(&lines, &size);
    print_remarks(remarks, table, ranking, shown);
    table_remarks_end(out, format, remarks, &lines);
}

/* ---- csv ---- */

static void csv_outlook(struct text_writer *writer, const struct memory_outlook *outlook)
{
    const double values[] = {outlook->low, outlook->high, outlook->sure};
    for (int i = 0; i < 3; i++) {
        text_char(writer, ',');
        if (outlook->jobs && values[i] >= 0)
            text_number(writer, values[i]);
    }
}

static void print_csv(FILE *out, const struct layout_table *table, const struct ranking *ranking)
{
    struct text_writer *writer = text_writer_create(out);
    text_string(writer,
                "x,y,z,data,micro_batch,model_s,model_rank,analytic_s,analytic_rank,simgrid_s,simgrid_rank,"
                "peak_bytes,fits,iteration_low_s,iteration_high_s,memory_low_bytes,memory_high_bytes,fits_share\n");
    for (size_t i = 0; i < table->count; i++) {
        const struct layout_row *row = &table->rows[i];
        const double sizes[] = {row->x, row->y, row->z, row->data, row->micro_batch};
        const double times[] = {row->model, row->analytic, row->simgrid};
        for (int k = 0; k < 5; k++) {
            text_number(writer, sizes[k]);
            text_char(writer, ',');
        }
        for (int column = 0; column < COLUMNS; column++) {
            if (!isnan(times[column]))
                text_number(writer, times[column]);
            text_char(writer, ',');
            if (i < ranking->counts[column])
                text_number(writer, ranking->ranks[column][i]);
            text_char(writer, ',');
        }
        text_number(writer, row->memory);
        text_string(writer, row->fits ? ",yes," : ",no,");
        if (has_band(row))
            text_number(writer, iteration_of(row) * row->band.low);
        text_char(writer, ',');
        if (has_band(row))
            text_number(writer, iteration_of(row) * row->band.high);
        csv_outlook(writer, &row->outlook);
        text_char(writer, '\n');
    }
    text_writer_destroy(writer);
}

/* ---- json ---- */

static void json_row(struct json_writer *json, const struct layout_row *row, const struct ranking *ranking,
                     size_t index)
{
    static const char *const names[] = {"model_rank", "analytic_rank", "simgrid_rank"};
    json_object_begin(json, NULL, false);
    json_integer(json, "x", row->x);
    json_integer(json, "y", row->y);
    json_integer(json, "z", row->z);
    json_integer(json, "data", row->data);
    json_number(json, "micro_batch", row->micro_batch);
    json_number(json, "model_s", row->model);
    json_number(json, "analytic_s", row->analytic);
    json_number(json, "simgrid_s", row->simgrid);
    for (int column = 0; column < COLUMNS; column++)
        if (index < ranking->counts[column])
            json_number(json, names[column], ranking->ranks[column][index]);
    if (row->memory > 0)
        json_number(json, "peak_bytes", row->memory);
    json_flag(json, "fits", row->fits);
    if (has_band(row)) {
        json_number(json, "iteration_low_s", iteration_of(row) * row->band.low);
        json_number(json, "iteration_high_s", iteration_of(row) * row->band.high);
    }
    if (row->outlook.jobs) {
        json_number(json, "memory_low_bytes", row->outlook.low);
        json_number(json, "memory_high_bytes", row->outlook.high);
        if (row->outlook.sure >= 0)
            json_number(json, "fits_share", row->outlook.sure);
    }
    json_object_end(json);
}

static void print_json(FILE *out, const struct layout_table *table, const struct ranking *ranking,
                       enum layouts_method method)
{
    struct json_writer json = json_writer_init(out);
    json_object_begin(&json, NULL, true);
    json_integer(&json, "schema", 1);
    json_text(&json, "method", layouts_method_names[method]);
    json_object_begin(&json, "rank_correlation", false);
    json_number(&json, "model_analytic", correlate(ranking, MODEL, ANALYTIC));
    json_number(&json, "model_simgrid", correlate(ranking, MODEL, SIMGRID));
    json_number(&json, "analytic_simgrid", correlate(ranking, ANALYTIC, SIMGRID));
    json_object_end(&json);
    json_array_begin(&json, "layouts", true);
    for (size_t i = 0; i < table->count; i++)
        json_row(&json, &table->rows[i], ranking, i);
    json_array_end(&json);
    json_object_end(&json);
    fputc('\n', out);
}

void layouts_print(FILE *out, const struct layout_table *table, enum layouts_method method, size_t shown,
                   enum table_format format)
{
    struct ranking ranking = rank_all(table);
    if (table_is_read(format))
        print_table(out, table, &ranking, shown, format);
    else if (format == TABLE_CSV)
        print_csv(out, table, &ranking);
    else
        print_json(out, table, &ranking, method);
    ranking_finish(&ranking);
}
