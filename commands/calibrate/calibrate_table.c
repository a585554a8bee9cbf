/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/calibrate/calibrate_output.h"

#include "base/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void seconds_cell(struct table *table, double seconds)
{
    char text[READABLE_MAX];
    if (isnan(seconds)) {
        table_cell(table, "%s", "");
        return;
    }
    table_cell(table, "%s", readable_seconds(text, seconds));
    table_value(table, seconds);
}

/* Predicted over measured. */
static void error_cell(struct table *table, double predicted, double measured)
{
    if (isnan(predicted)) {
        table_cell(table, "%s", "");
        return;
    }
    table_cell(table, "%+.1f %%", 100 * (predicted / measured - 1));
    table_value(table, predicted / measured - 1);
}

static void print_rows(const struct calibration *c, enum table_format format, FILE *out)
{
    struct table *table = table_create();
    table_columns(table, "<job", ">measured", ">predicted", ">predicted error", ">calibrated", ">calibrated error",
                  ">left out", ">left-out error", "<measured from", "<remark", NULL);
    for (size_t i = 0; i < c->count; i++) {
        const struct calibration_row *row = &c->rows[i];
        table_cell(table, "%s", row->text);
        seconds_cell(table, row->seconds);
        seconds_cell(table, row->before);
        error_cell(table, row->before, row->seconds);
        seconds_cell(table, row->after);
        error_cell(table, row->after, row->seconds);
        seconds_cell(table, row->left_out);
        error_cell(table, row->left_out, row->seconds);
        if (row->at.line)
            table_cell(table, "%s:%u", row->source, row->at.line);
        else
            table_cell(table, "%s", row->source);
        table_cell(table, "%s", row->contradicts ? "contradicts the others" : "");
    }
    table_finish(table, out, table_style_of(format, out));
}

/* ---- in words ---- */

/* "12 steps kept; 3 warm-up, 1 far from others left out". */
static void print_log(const struct calibration_row *row, FILE *out)
{
    const struct training_log *log = row->log;
    const char *between = "; ";
    fprintf(out, "%s: %s, %zu step%s", row->source, log->format, log->counts[LOG_KEPT],
            log->counts[LOG_KEPT] == 1 ? " counts" : "s count");
    for (int sort = LOG_KEPT + 1; sort < LOG_SORTS; sort++)
        if (log->counts[sort]) {
            fprintf(out, "%s%zu %s", between, log->counts[sort], log_sort_names[sort]);
            between = ", ";
        }
    fprintf(out, "%s\n", *between == ';' ? "" : " left out");
}

static void print_value(const struct calibration *c, int p, FILE *out)
{
    char value[READABLE_MAX], low[READABLE_MAX], high[READABLE_MAX];
    const struct calibration_key *key = &calibration_keys[p];
    bool sure = !isnan(c->tuning.low[p]);
    if (key->seconds) {
        fprintf(out, "%-20s %s", key->key, readable_seconds(value, c->tuning.values.value[p]));
        if (sure)
            fprintf(out, ", %s to %s in 8 of 10 cases", readable_seconds(low, c->tuning.low[p]),
                    readable_seconds(high, c->tuning.high[p]));
    } else {
        fprintf(out, "%-20s %.4g", key->key, c->tuning.values.value[p]);
        if (sure)
            fprintf(out, ", %.4g to %.4g in 8 of 10 cases", c->tuning.low[p], c->tuning.high[p]);
    }
    fprintf(out, "%s\n", c->tuning.at_limit[p] ? " (at its limit)" : "");
}

static void print_memory(const struct calibration *c, FILE *out)
{
    char value[READABLE_MAX], low[READABLE_MAX], high[READABLE_MAX];
    if (!c->memory)
        return;
    fprintf(out, "%-20s %s", "extra_memory", readable_binary_bytes(value, c->extra_memory));
    if (!isnan(c->memory_low))
        fprintf(out, ", %s to %s in 8 of 10 runs", readable_binary_bytes(low, c->memory_low),
                readable_binary_bytes(high, c->memory_high));
    fputc('\n', out);
}

/* What links reach, as tables of collectives say. */
static void print_reach(const struct calibration *c, FILE *out)
{
    const struct reach *reach = &c->reach;
    for (size_t i = 0; i < reach->count; i++) {
        const struct reach_level *level = &reach->levels[i];
        fprintf(out, "links: %-13s %.4g of the platform's rate", level->kind, level->rate * level->before);
        if (!isnan(level->low) && !isnan(level->high))
            fprintf(out, ", %.4g to %.4g in 8 of 10 cases", level->low * level->before, level->high * level->before);
        fprintf(out, ", by %zu row%s%s\n", level->rows, readable_plural(level->rows),
                level->at_limit ? " (at its limit)" : "");
    }
    if (reach->rows && !isnan(reach->error_after))
        fprintf(out, "%-20s %.1f %% before, %.1f %% with these links\n", "collectives' error",
                100 * reach->error_before, 100 * reach->error_after);
    if (reach->silent)
        fprintf(
            out,
            "%zu of %zu rows of collectives say nothing of rates of links: they are small, or something else limits "
            "them (see platform fit)\n",
            reach->silent, reach->rows);
    if (c->operators)
        fprintf(out, "%-20s measured operators\n", "compute.table");
}

static double mean_error(const struct calibration *c, bool after)
{
    double sum = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct calibration_row *row = &c->rows[i];
        sum += fabs((after ? row->after : row->before) / row->seconds - 1);
    }
    return sum / (double)c->count;
}

static void print_errors(const struct calibration *c, FILE *out)
{
    double left_out = 0;
    for (size_t i = 0; i < c->count && c->count > 1; i++)
        left_out += fabs(c->rows[i].left_out / c->rows[i].seconds - 1) / (double)c->count;
    fprintf(out, "%-20s %.1f %% before, %.1f %% calibrated", "mean error", 100 * mean_error(c, false),
            100 * mean_error(c, true));
    if (c->count > 1)
        fprintf(out, ", %.1f %% where the row itself was left out", 100 * left_out);
    fputc('\n', out);
}

void calibration_say(const struct calibration *c, FILE *out)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->rows[i].log)
            print_log(&c->rows[i], out);
    for (int p = 0; p < TUNING_PARAMETERS; p++)
        if (c->tuning.values.fitted & 1u << p)
            print_value(c, p, out);
    print_reach(c, out);
    print_memory(c, out);
    if (c->count)
        print_errors(c, out);
    for (size_t i = 0; i < c->advice_count; i++)
        fprintf(out, "%s\n", c->advice[i]);
}

void calibration_print(const struct calibration *c, enum table_format format, FILE *out)
{
    char *lines;
    size_t size;
    if (c->count || !table_is_read(format))
        print_rows(c, format, out);
    if (!table_is_read(format))
        return;
    FILE *remarks = table_remarks_begin(&lines, &size);
    if (c->count)
        fputc('\n', remarks);
    calibration_say(c, remarks);
    table_remarks_end(out, format, remarks, &lines);
}
