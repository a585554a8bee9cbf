/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/comparison.h"

#include "analysis/output/comparison_idle.h"
#include "analysis/output/comparison_queue.h"
#include "analysis/output/comparison_remarks.h"
#include "base/arena.h"
#include "base/csv.h"
#include "base/figure.h"
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
    row.band = report->run.band;
    if (report->run.calibration)
        copy(row.calibration, sizeof row.calibration, report->run.calibration);
    row.samples_per_s = report->samples_per_s;
    row.bubble = report->bubble;
    row.exposed = report->exposed;
    memcpy(row.causes, report->causes, sizeof row.causes);
    row.idle_known = report->idle.known;
    memcpy(row.idle, report->idle.shares, sizeof row.idle);
    row.peak_in_flight = report->peak_in_flight;
    row.peak_bytes = report->peak_bytes;
    row.capacity_known = report->capacity_bytes > 0 && report->peak_bytes > 0;
    row.fits = report->fits;
    row.outlook = report->outlook;
    row.memory = report->run.memory;
    row.limits = report->limits;
    row.tokens_per_s = report->tokens_per_s;
    row.mfu = report->mfu;
    row.energy = report->energy;
    row.training_s = report->training_s;
    row.training_cost = report->training_cost;
    row.forecast = report->forecast;
    row.training = report->training;
    row.tails = report->tails;
    for (size_t i = 0, used = 0; i < report->run.note_count && used < sizeof row.notes; i++)
        used += (size_t)snprintf(row.notes + used, sizeof row.notes - used, "%s\n", report->run.notes[i]);
    comparison_check(&row);
    return row;
}

void comparison_check(const struct comparison_row *row)
{
    const struct {
        const char *name;
        double value;
    } figures[] = {
        {"iteration", row->iteration},
        {"samples per second", row->samples_per_s},
        {"bubble", row->bubble},
        {"exposed communication", row->exposed},
        {"in flight", row->peak_in_flight},
        {"memory", row->peak_bytes},
        {"bound", row->bound},
        {"tokens per second", row->tokens_per_s},
        {"MFU", row->mfu},
        {"energy", row->energy},
        {"training", row->training_s},
        {"cost of the training", row->training_cost},
        {"wait", row->queue.wait},
        {"completion", row->queue.completion},
        {"bounded slowdown", row->queue.bounded_slowdown},
        {"fairness", row->queue.fairness},
        {"makespan", row->queue.makespan},
        {"allocated", row->queue.allocated},
        {"busy", row->queue.busy},
        {"useful", row->queue.useful},
        {"work", row->idle_nodes.work},
        {"efficiency", row->idle_nodes.efficiency},
        {"of the best", row->idle_nodes.attainment},
        {"used", row->idle_nodes.used},
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        figure(figures[i].name, figures[i].value);
    for (int cause = 0; cause < CAUSES; cause++)
        figure(cause_names[cause], row->causes[cause]);
    for (int part = 0; part < IDLE_PARTS; part++)
        figure(idle_names[part], row->idle[part]);
    for (int limit = 0; limit < LIMITS; limit++)
        figure(limit_names[limit], row->limits.shares[limit]);
}

/* NaN: nothing to compare with. The first run is what times are relative to. */
static double relative_time(const struct comparison_row *rows, size_t index)
{
    size_t first = 0;
    while (first < index && *rows[first].reason)
        first++;
    bool known = rows[first].iteration > 0 && !*rows[index].reason;
    return known ? rows[index].iteration / rows[first].iteration : NAN;
}

bool comparison_is_choice(const struct comparison_row *row)
{
    return !*row->reason && !row->asynchronous && (!row->capacity_known || row->fits);
}

struct comparison_best comparison_find_best(const struct comparison_row *rows, size_t count)
{
    struct comparison_best best = {count, count};
    size_t choices = 0;
    const char *engine = ""; /* of two engines the one that simulates contention, which comes last */
    for (size_t i = 0; i < count; i++)
        engine = *rows[i].reason ? engine : rows[i].engine;
    for (size_t i = 0; i < count; i++) {
        if (!comparison_is_choice(&rows[i]) || strcmp(rows[i].engine, engine) != 0)
            continue;
        choices++;
        if (best.time == count || rows[i].iteration < rows[best.time].iteration)
            best.time = i;
        if (rows[i].peak_bytes > 0 && (best.memory == count || rows[i].peak_bytes < rows[best.memory].peak_bytes))
            best.memory = i;
    }
    return choices > 1 ? best : (struct comparison_best){count, count};
}

/* How far a run is above what no order takes less than. */
static double above_bound(const struct comparison_row *row)
{
    return fmax(row->iteration / row->bound - 1, 0);
}

/* ---- csv ---- */

/* Empty where the figure does not apply. */
static void put_number(FILE *out, double value, bool applies)
{
    char text[NUMBER_TEXT_MAX];
    putc(',', out);
    if (applies && !isnan(value))
        fwrite(text, 1, number_write(text, value), out);
}

void comparison_put_settled(FILE *out, const struct comparison_row *row)
{
    if (row->settled)
        fprintf(out, "%u", row->settled);
    fputs(row->unsettled ? ",true" : ",", out);
}

static void print_csv(FILE *out, const struct comparison_row *rows, size_t count)
{
    fputs("scenario,schedule,engine,iteration_s,samples_per_s,bubble_ratio,fill,drain,receive,collective,dependency,"
          "input,peak_in_flight,peak_bytes,fits,relative_time,limited_by,order,imbalance,transfer,contention,bound_s,"
          "above_bound,iteration_low_s,iteration_high_s,memory_low_bytes,memory_high_bytes,fits_share,step_p50_s,step_"
          "p95_s,step_p99_s," COMPARISON_SETTLED_COLUMNS ",reason\n",
          out);
    struct arena *arena = arena_create();
    for (size_t i = 0; i < count; i++) {
        const struct comparison_row *row = &rows[i];
        fprintf(out, "%s,%s,%s", csv_cell(row->scenario, arena), csv_cell(row->schedule, arena),
                csv_cell(row->engine, arena));
        bool ran = !*row->reason;
        put_number(out, row->iteration, ran);
        put_number(out, row->samples_per_s, row->samples_per_s > 0);
        put_number(out, row->bubble, ran);
        for (int cause = 0; cause < CAUSES; cause++)
            put_number(out, row->causes[cause], ran);
        put_number(out, row->peak_in_flight, ran);
        put_number(out, row->peak_bytes, row->peak_bytes > 0);
        fprintf(out, ",%s", !row->capacity_known ? "" : row->fits ? "true" : "false");
        put_number(out, relative_time(rows, i), true);
        fprintf(out, ",%s", row->limits.known ? limit_names[limits_by(&row->limits)] : "");
        for (int part = 0; part < IDLE_PARTS; part++)
            put_number(out, row->idle[part], row->idle_known);
        put_number(out, row->bound, row->bound > 0);
        put_number(out, above_bound(row), row->bound > 0);
        put_number(out, row->iteration * row->band.low, row->band.rows > 0);
        put_number(out, row->iteration * row->band.high, row->band.rows > 0);
        put_number(out, row->outlook.low, row->outlook.jobs > 0);
        put_number(out, row->outlook.high, row->outlook.jobs > 0);
        put_number(out, row->outlook.sure, row->outlook.jobs > 0 && row->outlook.sure >= 0);
        put_number(out, row->tails.p50.value, row->tails.known);
        put_number(out, row->tails.p95.value, row->tails.known);
        put_number(out, row->tails.p99.value, row->tails.known);
        putc(',', out);
        comparison_put_settled(out, row);
        fprintf(out, ",%s\n", csv_cell(row->reason, arena));
    }
    arena_destroy(arena);
}

/* ---- json ---- */

void comparison_write_settled(struct json_writer *json, const struct comparison_row *row)
{
    if (row->settled)
        json_integer(json, "settled_iterations", row->settled);
    if (row->unsettled)
        json_flag(json, "unsettled", true);
}

static void print_json_figures(struct json_writer *json, const struct comparison_row *rows, size_t i)
{
    const struct comparison_row *row = &rows[i];
    json_number(json, "iteration_s", row->iteration);
    if (row->samples_per_s > 0)
        json_number(json, "samples_per_s", row->samples_per_s);
    json_number(json, "bubble_ratio", row->bubble);
    for (int cause = 0; cause < CAUSES; cause++)
        json_number(json, cause_names[cause], row->causes[cause]);
    json_number(json, "peak_in_flight", row->peak_in_flight);
    if (row->peak_bytes > 0)
        json_number(json, "peak_bytes", row->peak_bytes);
    if (row->capacity_known)
        json_flag(json, "fits", row->fits);
    json_number(json, "relative_time", relative_time(rows, i));
    if (row->limits.known)
        json_text(json, "limited_by", limit_names[limits_by(&row->limits)]);
    for (int part = 0; part < IDLE_PARTS && row->idle_known; part++)
        json_number(json, idle_names[part], row->idle[part]);
    if (row->bound > 0) {
        json_number(json, "bound_s", row->bound);
        json_number(json, "above_bound", above_bound(row));
        json_text(json, "bound_of", row->bound_splits ? "split backwards" : "whole backwards");
    }
    if (row->band.rows) {
        json_number(json, "iteration_low_s", row->iteration * row->band.low);
        json_number(json, "iteration_high_s", row->iteration * row->band.high);
    }
    if (row->outlook.jobs) {
        json_number(json, "memory_low_bytes", row->outlook.low);
        json_number(json, "memory_high_bytes", row->outlook.high);
    }
    if (row->outlook.jobs && row->outlook.sure >= 0)
        json_number(json, "fits_share", row->outlook.sure);
    if (row->tails.known) {
        json_number(json, "step_p50_s", row->tails.p50.value);
        json_number(json, "step_p95_s", row->tails.p95.value);
        json_number(json, "step_p99_s", row->tails.p99.value);
    }
    comparison_write_settled(json, row);
    json_flag(json, "synchronous", !row->asynchronous);
}

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
        if (*row->reason)
            json_text(&json, "reason", row->reason);
        else
            print_json_figures(&json, rows, i);
        if (*row->directory)
            json_text(&json, "directory", row->directory);
        json_object_end(&json);
    }
    json_array_end(&json);
}

/* ---- table ---- */

/* Which columns have anything to say. */
struct columns {
    bool engine, samples, bytes, fits, sure, bound, causes[CAUSES], relative, limits, has_best, tails;
    size_t count;
    struct comparison_best best;
};

static struct columns choose_columns(const struct comparison_row *rows, size_t count)
{
    struct columns columns = {.relative = count > 1, .best = comparison_find_best(rows, count)};
    columns.has_best = columns.best.time < count || columns.best.memory < count;
    for (size_t i = 0; i < count; i++) {
        columns.engine |= !*rows[i].reason && strcmp(rows[i].engine, rows[0].engine) != 0;
        columns.samples |= rows[i].samples_per_s > 0;
        columns.bytes |= rows[i].peak_bytes > 0;
        columns.fits |= rows[i].capacity_known;
        columns.sure |= rows[i].outlook.jobs && rows[i].outlook.sure >= 0;
        columns.bound |= rows[i].bound > 0;
        columns.limits |= rows[i].limits.known;
        columns.tails |= rows[i].tails.known;
        for (int cause = 0; cause < CAUSES; cause++)
            columns.causes[cause] |= rows[i].causes[cause] != 0;
    }
    return columns;
}

static void add_column(struct table *table, struct columns *columns, const char *title, char align)
{
    table_column(table, title, align);
    columns->count++;
}

static void add_columns(struct table *table, struct columns *columns)
{
    add_column(table, columns, "scenario", '<');
    add_column(table, columns, "schedule", '<');
    if (columns->engine)
        add_column(table, columns, "engine", '<');
    add_column(table, columns, "iteration", '>');
    if (columns->relative)
        add_column(table, columns, "relative", '>');
    if (columns->tails) {
        add_column(table, columns, "step p50", '>');
        add_column(table, columns, "p95", '>');
        add_column(table, columns, "p99", '>');
    }
    if (columns->bound)
        add_column(table, columns, "above bound", '>');
    if (columns->samples)
        add_column(table, columns, "samples/s", '>');
    add_column(table, columns, "bubble", '>');
    for (int cause = 0; cause < CAUSES; cause++)
        if (columns->causes[cause])
            add_column(table, columns, cause_names[cause], '>');
    add_column(table, columns, "in flight", '>');
    if (columns->bytes)
        add_column(table, columns, "memory", '>');
    if (columns->fits)
        add_column(table, columns, "fits", '<');
    if (columns->sure)
        add_column(table, columns, "of 100", '>');
    if (columns->limits)
        add_column(table, columns, "limited by", '<');
    if (columns->has_best)
        add_column(table, columns, "best", '<');
}

/* What a run is the best of all in. */
static const char *best_of(const struct columns *columns, size_t index)
{
    bool time = columns->best.time == index, memory = columns->best.memory == index;
    return time && memory ? "time, memory" : time ? "time" : memory ? "memory" : "";
}

/* NaN: an empty cell. */
static void add_number(struct table *table, int decimals, double value)
{
    if (isnan(value))
        table_cell(table, "%s", "");
    else
        table_cell(table, "%.*f", decimals, value);
}

static void add_shares(struct table *table, const struct columns *columns, const struct comparison_row *row)
{
    char text[READABLE_MAX];
    table_cell(table, "%s", readable_percent(text, row->bubble));
    for (int cause = 0; cause < CAUSES; cause++)
        if (columns->causes[cause])
            table_cell(table, "%s", readable_percent(text, row->causes[cause]));
}

static void add_memory(struct table *table, const struct columns *columns, const struct comparison_row *row)
{
    char text[READABLE_MAX];
    if (columns->bytes)
        table_cell(table, "%s", row->peak_bytes > 0 ? readable_binary_bytes(text, row->peak_bytes) : "");
    if (columns->fits)
        table_cell(table, "%s", !row->capacity_known ? "" : row->fits ? "yes" : "no");
    if (columns->sure)
        add_number(table, 0,
                   row->outlook.jobs && row->outlook.sure >= 0 ? memory_band_hundredths(row->outlook.sure) : NAN);
}

static void add_figures(struct table *table, const struct columns *columns, const struct comparison_row *rows,
                        size_t index)
{
    const struct comparison_row *row = &rows[index];
    const struct tails_quantile *const quantiles[] = {&row->tails.p50, &row->tails.p95, &row->tails.p99};
    char text[READABLE_MAX];
    table_cell(table, "%s", readable_seconds(text, row->iteration));
    if (columns->relative)
        add_number(table, 3, relative_time(rows, index));
    for (size_t i = 0; i < 3 && columns->tails; i++)
        table_cell(table, "%s", row->tails.known ? readable_seconds(text, quantiles[i]->value) : "");
    if (columns->bound)
        table_cell(table, "%s", row->bound > 0 ? readable_percent(text, above_bound(row)) : "");
    if (columns->samples)
        add_number(table, 1, row->samples_per_s > 0 ? row->samples_per_s : NAN);
    add_shares(table, columns, row);
    table_cell(table, "%.4g", row->peak_in_flight);
    add_memory(table, columns, row);
    if (columns->limits)
        table_cell(table, "%s%s%s", row->limits.known ? limit_names[limits_by(&row->limits)] : "",
                   row->limits.known ? " " : "",
                   row->limits.known ? readable_percent(text, row->limits.shares[limits_by(&row->limits)]) : "");
    if (columns->has_best)
        table_cell(table, "%s", best_of(columns, index));
}

static void add_row(struct table *table, const struct columns *columns, const struct comparison_row *rows, size_t index)
{
    const struct comparison_row *row = &rows[index];
    size_t cells = 0;
    table_cell(table, "%s", row->scenario);
    table_cell(table, "%s%s", row->schedule, row->asynchronous ? " *" : "");
    if (columns->engine)
        table_cell(table, "%s", row->engine);
    if (!*row->reason) {
        add_figures(table, columns, rows, index);
        return;
    }
    table_cell(table, "%s", "not run");
    for (cells = 3 + columns->engine; cells < columns->count; cells++)
        table_cell(table, "%s", "");
}

/* How often published variants went as predicted that were predicted as far apart as the two fastest runs. */
static void print_agreement(FILE *out, const struct comparison_row *rows, size_t count)
{
    size_t best = comparison_find_best(rows, count).time, next = count;
    for (size_t i = 0; i < count; i++)
        if (i != best && comparison_is_choice(&rows[i]) && (next == count || rows[i].iteration < rows[next].iteration))
            next = i;
    if (best >= count || next == count || !rows[best].band.rows || !rows[next].band.rows)
        return;
    double apart = rows[next].iteration / rows[best].iteration;
    bool schedules = strcmp(rows[best].schedule, rows[next].schedule) != 0;
    if (apart - 1 < BAND_LEAST_APART)
        return;
    fprintf(out, "%s is %.2g %% faster than the next, %s: ", schedules ? rows[best].schedule : rows[best].scenario,
            100 * (apart - 1), schedules ? rows[next].schedule : rows[next].scenario);
    enum band_change change =
        schedules && !strcmp(rows[best].scenario, rows[next].scenario) ? BAND_SCHEDULE : BAND_OTHER;
    band_say_agreement(out, apart, change);
    fputs(band_agree(apart, change).sure ? "\n" : ": they cannot be told apart\n", out);
}

static void print_table(FILE *out, const struct comparison_row *rows, size_t count, enum table_format format)
{
    struct columns columns = choose_columns(rows, count);
    struct table *table = table_create();
    bool asynchronous = false;
    char *lines = NULL;
    size_t size = 0;
    FILE *remarks = table_remarks_begin(&lines, &size);
    add_columns(table, &columns);
    for (size_t i = 0; i < count; i++) {
        add_row(table, &columns, rows, i);
        asynchronous |= rows[i].asynchronous;
    }
    table_finish(table, out, table_style_of(format, out));
    if (!remarks)
        return;
    comparison_remarks(remarks, rows, count);
    print_agreement(remarks, rows, count);
    if (asynchronous)
        fputs("* asynchronous: the time between updates in steady state; not equivalent to synchronous training\n",
              remarks);
    table_remarks_end(out, format, remarks, &lines);
}

void comparison_print(FILE *out, const struct comparison_row *rows, size_t count, enum table_format format)
{
    if (comparison_is_of_queues(rows, count))
        comparison_queue_print(out, rows, count, format);
    else if (comparison_is_of_idle(rows, count))
        comparison_idle_print(out, rows, count, format);
    else if (format == TABLE_CSV)
        print_csv(out, rows, count);
    else if (format == TABLE_JSON)
        print_json(out, rows, count);
    else
        print_table(out, rows, count, format);
}
