/* SPDX-License-Identifier: Apache-2.0 */
/* Networks of layers in data parallel: how many GPUs and how many parameter servers, by two rules and as simulated. */
#include "base/json_writer.h"
#include "base/table.h"
#include "base/text_writer.h"
#include "commands/layouts/method.h"
#include "studies/speedup.h"

#include <math.h>

enum { TOP_DEFAULT = 10 };

static const double wanted[] = {0.9, 0.8, 0.7, 0.5};
enum { WANTED = sizeof wanted / sizeof *wanted };

/* ---- for people ---- */

static const char *seconds_or_none(char *text, double seconds)
{
    return isnan(seconds) ? "" : readable_seconds(text, seconds);
}

static void print_gpus(FILE *out, const struct speedup_advice *advice, struct table_style style)
{
    char text[READABLE_MAX];
    static const char *const titles[] = {"GPUs",      "speed-up",           "efficiency",
                                         "iteration", "simulated speed-up", "simulated efficiency"};
    struct table *table = table_create();
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        table_column(table, titles[i], '>');
    for (size_t i = 0; i < advice->gpu_count; i++) {
        const struct speedup_row *row = &advice->gpus[i];
        bool simulated = !isnan(row->simulated);
        table_cell(table, "%u", row->count);
        table_cell(table, "%.3f", row->predicted);
        table_cell(table, "%s", readable_percent(text, row->predicted / row->count));
        table_cell(table, "%s", seconds_or_none(text, row->iteration));
        if (simulated)
            table_cell(table, "%.3f", row->simulated);
        else
            table_cell(table, "%s", "");
        table_cell(table, "%s", simulated ? readable_percent(text, row->simulated / row->count) : "");
    }
    table_finish(table, out, style);
}

static void print_servers(FILE *out, const struct speedup_advice *advice, struct table_style style)
{
    char text[READABLE_MAX];
    struct table *table = table_create();
    table_columns(table, ">servers", ">links take", ">iteration", NULL);
    for (size_t i = 0; i < advice->server_count; i++) {
        const struct speedup_row *row = &advice->server_rows[i];
        table_cell(table, "%u", row->count);
        table_cell(table, "%s", readable_seconds(text, row->predicted));
        table_cell(table, "%s", seconds_or_none(text, row->iteration));
    }
    table_finish(table, out, style);
}

static void print_ratio(FILE *out, const struct speedup_advice *advice)
{
    char computing[READABLE_MAX], overhead[READABLE_MAX], share[READABLE_MAX];
    fprintf(out, "one GPU            computes for %s, overhead that nothing hides %s: R = %.4g\n",
            readable_seconds(computing, advice->computing), readable_seconds(overhead, advice->overhead),
            advice->ratio);
    if (advice->ratio <= 0) {
        fputs("speed-up           G (1 + R)/(1 + G R): without overhead of its own each further GPU counts in full\n",
              out);
        return;
    }
    fprintf(out, "speed-up           G (1 + R)/(1 + G R), at most (1 + R)/R = %.4g\n", speedup_limit(advice->ratio));
    fputs("efficiency a       up to (1 + R - a)/(a R) GPUs;", out);
    for (size_t i = 0; i < WANTED; i++)
        fprintf(out, "%s %s: %.4g", i ? "," : "", readable_percent(share, wanted[i]),
                speedup_gpus(advice->ratio, wanted[i]));
    fputc('\n', out);
}

static void print_need(FILE *out, const struct speedup_advice *advice)
{
    char bytes[READABLE_MAX], rate[READABLE_MAX];
    if (advice->servers <= 0)
        return;
    fprintf(out,
            "parameter servers  S N/(B T) = %.4g, hence %.0f: S = %s to and from each of N = %u, B = %s/s of a link\n",
            advice->servers, fmax(1, ceil(advice->servers)), readable_decimal_bytes(bytes, advice->exchanged),
            advice->workers, readable_decimal_bytes(rate, advice->bandwidth));
}

static void print_text(FILE *out, const struct speedup_advice *advice, enum table_format format)
{
    char *lines = NULL;
    size_t size = 0;
    struct table_style style = table_style_of(format, out);
    print_gpus(out, advice, style);
    table_remarks(out, format, "\n");
    if (advice->server_count) {
        print_servers(out, advice, style);
        table_remarks(out, format, "\n");
    }
    FILE *remarks = table_remarks_begin(&lines, &size);
    if (remarks) {
        print_ratio(remarks, advice);
        print_need(remarks, advice);
    }
    table_remarks_end(out, format, remarks, &lines);
}

/* ---- for programs ---- */

static void csv_rows(struct text_writer *writer, const char *what, const struct speedup_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double values[] = {rows[i].predicted, rows[i].iteration, rows[i].simulated};
        text_string(writer, what);
        text_char(writer, ',');
        text_number(writer, rows[i].count);
        for (int k = 0; k < 3; k++) {
            text_char(writer, ',');
            if (!isnan(values[k]))
                text_number(writer, values[k]);
        }
        text_char(writer, '\n');
    }
}

static void print_csv(FILE *out, const struct speedup_advice *advice)
{
    struct text_writer *writer = text_writer_create(out);
    text_string(writer, "what,count,rule,iteration_s,simulated_speedup\n");
    csv_rows(writer, "gpus", advice->gpus, advice->gpu_count);
    csv_rows(writer, "servers", advice->server_rows, advice->server_count);
    text_writer_destroy(writer);
}

static void json_rows(struct json_writer *json, const char *key, const char *rule, const struct speedup_row *rows,
                      size_t count)
{
    json_array_begin(json, key, true);
    for (size_t i = 0; i < count; i++) {
        json_object_begin(json, NULL, false);
        json_integer(json, "count", rows[i].count);
        json_number(json, rule, rows[i].predicted);
        json_number(json, "iteration_s", rows[i].iteration);
        json_number(json, "simulated_speedup", rows[i].simulated);
        json_object_end(json);
    }
    json_array_end(json);
}

static void print_json(FILE *out, const struct speedup_advice *advice)
{
    struct json_writer json = json_writer_init(out);
    json_object_begin(&json, NULL, true);
    json_integer(&json, "workers", advice->workers);
    json_number(&json, "computing_s", advice->computing);
    json_number(&json, "overhead_s", advice->overhead);
    json_number(&json, "ratio", advice->ratio);
    json_rows(&json, "gpus", "speedup", advice->gpus, advice->gpu_count);
    json_number(&json, "exchanged_bytes", advice->exchanged);
    json_number(&json, "bandwidth", advice->bandwidth > 0 ? advice->bandwidth : NAN);
    json_number(&json, "servers_needed", advice->servers > 0 ? advice->servers : NAN);
    json_rows(&json, "servers", "links_s", advice->server_rows, advice->server_count);
    json_object_end(&json);
    fputc('\n', out);
}

static int run(const struct options *options, const struct scenario *scenario, struct arena *arena)
{
    struct speedup_advice advice;
    int code = speedup_advise(scenario, options->top == OPTIONS_NOT_GIVEN ? TOP_DEFAULT : options->top, &advice);
    (void)arena;
    if (code != EXIT_DONE)
        return code;
    if (options->format == TABLE_CSV)
        print_csv(stdout, &advice);
    else if (options->format == TABLE_JSON)
        print_json(stdout, &advice);
    else
        print_text(stdout, &advice, options->format);
    fflush(stdout);
    if (advice.stopped)
        fputs("stopped early: not all numbers of GPUs and servers were simulated\n", stderr);
    return code;
}

const struct layout_method layout_method_advice = {.name = "advice", .workload = "layers", .takes = "fk", .run = run};
