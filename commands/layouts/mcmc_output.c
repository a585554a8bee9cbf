/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_writer.h"
#include "base/table.h"
#include "base/text_writer.h"
#include "commands/layouts/mcmc.h"

#include <inttypes.h>
#include <math.h>

double strategy_seconds(const struct strategy_run *run)
{
    return isnan(run->simgrid) ? run->analytic : run->simgrid;
}

static double gain(const struct strategy_report *report, int row)
{
    return strategy_seconds(&report->runs[STRATEGY_DATA]) / strategy_seconds(&report->runs[row]);
}

/* NaN where no task graph was made of it. */
static double graph_seconds(const struct strategy_run *run)
{
    return run->row ? run->row->result.seconds : NAN;
}

static double sent_bytes(const struct strategy_run *run)
{
    return run->row ? run->row->sent : NAN;
}

/* ---- for people ---- */

static const char *seconds_or_none(char *text, double seconds)
{
    return isnan(seconds) ? "" : readable_seconds(text, seconds);
}

static void print_strategies(FILE *out, const struct strategy_report *report, struct table_style style)
{
    static const char *const titles[] = {"task graph", "analytic", "simgrid", "speed-up", "sent", "memory", "fits"};
    struct table *table = table_create();
    table_column(table, "strategy", '<');
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        table_column(table, titles[i], '>');
    for (int i = 0; i < report->count; i++) {
        const struct strategy_run *run = &report->runs[i];
        char text[READABLE_MAX];
        table_cell(table, "%s", run->name);
        table_cell(table, "%s", seconds_or_none(text, graph_seconds(run)));
        table_cell(table, "%s", seconds_or_none(text, run->analytic));
        table_cell(table, "%s", seconds_or_none(text, run->simgrid));
        if (isnan(gain(report, i)))
            table_cell(table, "%s", "");
        else
            table_cell(table, "%.3f", gain(report, i));
        table_cell(table, "%s", run->row ? readable_decimal_bytes(text, run->row->sent) : "");
        table_cell(table, "%s", run->memory > 0 ? readable_binary_bytes(text, run->memory) : "");
        table_cell(table, "%s", isnan(run->analytic) ? "" : run->fits ? "yes" : "no");
    }
    table_finish(table, out, style);
}

static void print_starts(FILE *out, const struct strategy_report *report, struct table_style style)
{
    static const char *const titles[] = {"first", "best", "found at", "evaluations", "accepted", "of them worse"};
    struct table *table = table_create();
    table_column(table, "start", '<');
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        table_column(table, titles[i], '>');
    for (uint32_t i = 0; i < report->table->start_count; i++) {
        const struct metropolis_outcome *o = &report->table->starts[i].outcome;
        char text[READABLE_MAX];
        table_cell(table, "%s", report->table->starts[i].name);
        table_cell(table, "%s", readable_seconds(text, o->first));
        table_cell(table, "%s", readable_seconds(text, o->best));
        table_cell(table, "%" PRIu64, o->found + 1);
        table_cell(table, "%" PRIu64, o->proposals + 1);
        table_cell(table, "%" PRIu64, o->accepted);
        table_cell(table, "%" PRIu64, o->worse);
    }
    table_finish(table, out, style);
}

static void print_text(FILE *out, const struct strategy_report *report, enum table_format format)
{
    char *lines = NULL, temperature[READABLE_MAX];
    size_t size = 0;
    struct table_style style = table_style_of(format, out);
    bool many = !strategy_runs_simgrid(report->request->scenario);
    print_strategies(out, report, style);
    table_remarks(out, format, "\n");
    print_starts(out, report, style);
    table_remarks(out, format, "\n");
    FILE *remarks = table_remarks_begin(&lines, &size);
    if (remarks)
        fprintf(remarks, "found: from %s, the fastest on %s of %" PRIu32 " strategies\n",
                report->runs[report->count - 1].from, many ? "the analytic engine" : "SimGrid", report->tried);
    if (remarks && many)
        fprintf(remarks, "SimGrid is not run for more than %d GPUs\n", STRATEGY_SIMGRID_RANKS);
    if (remarks && report->request->scenario->mesh.ranks > OPERATORS_SINGLE_MAX)
        fprintf(remarks,
                "more than %d GPUs: operators that are alike change together in half of the proposals, and each number "
                "of parts is as likely\n",
                OPERATORS_SINGLE_MAX);
    if (remarks)
        fprintf(remarks, "%" PRIu32 " layers with %" PRIu64 " configurations; temperature %s, seed %" PRIu64 "\n",
                report->table->layers, report->table->configurations,
                readable_seconds(temperature, report->table->temperature), report->request->seed);
    table_remarks_end(out, format, remarks, &lines);
}

/* ---- for programs ---- */

static void print_csv(FILE *out, const struct strategy_report *report)
{
    struct text_writer *writer = text_writer_create(out);
    text_string(writer, "strategy,task_graph_s,analytic_s,simgrid_s,sent_bytes,peak_bytes\n");
    for (int i = 0; i < report->count; i++) {
        const struct strategy_run *run = &report->runs[i];
        const double values[] = {graph_seconds(run), run->analytic, run->simgrid, sent_bytes(run), run->memory};
        text_string(writer, run->name);
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            text_char(writer, ',');
            if (!isnan(values[k]))
                text_number(writer, values[k]);
        }
        text_char(writer, '\n');
    }
    text_writer_destroy(writer);
}

static void json_strategies(struct json_writer *json, const struct strategy_report *report)
{
    json_array_begin(json, "strategies", true);
    for (int i = 0; i < report->count; i++) {
        const struct strategy_run *run = &report->runs[i];
        json_object_begin(json, NULL, false);
        json_text(json, "strategy", run->name);
        if (run->from)
            json_text(json, "from", run->from);
        if (run->row)
            json_number(json, "task_graph_s", run->row->result.seconds);
        json_number(json, "analytic_s", run->analytic);
        json_number(json, "simgrid_s", run->simgrid);
        if (run->row)
            json_number(json, "sent_bytes", run->row->sent);
        json_number(json, "peak_bytes", run->memory);
        json_flag(json, "fits", run->fits);
        json_object_end(json);
    }
    json_array_end(json);
}

static void json_starts(struct json_writer *json, const struct strategy_table *table)
{
    json_array_begin(json, "starts", true);
    for (uint32_t i = 0; i < table->start_count; i++) {
        const struct metropolis_outcome *o = &table->starts[i].outcome;
        json_object_begin(json, NULL, false);
        json_text(json, "start", table->starts[i].name);
        json_number(json, "first_s", o->first);
        json_number(json, "best_s", o->best);
        json_integer(json, "found_at", o->found + 1);
        json_integer(json, "evaluations", o->proposals + 1);
        json_integer(json, "accepted", o->accepted);
        json_integer(json, "accepted_worse", o->worse);
        json_integer(json, "tasks_built", o->counts.built);
        json_integer(json, "tasks_timed", o->counts.timed);
        json_object_end(json);
    }
    json_array_end(json);
}

static void print_json(FILE *out, const struct strategy_report *report)
{
    struct json_writer json = json_writer_init(out);
    json_object_begin(&json, NULL, true);
    json_integer(&json, "schema", 1);
    json_text(&json, "method", "mcmc");
    json_integer(&json, "seed", report->request->seed);
    json_number(&json, "temperature_s", report->table->temperature);
    json_integer(&json, "configurations", report->table->configurations);
    json_strategies(&json, report);
    json_starts(&json, report->table);
    json_object_end(&json);
    fputc('\n', out);
}

void strategy_print(FILE *out, const struct strategy_report *report, enum table_format format)
{
    if (format == TABLE_CSV)
        print_csv(out, report);
    else if (format == TABLE_JSON)
        print_json(out, report);
    else
        print_text(out, report, format);
}
