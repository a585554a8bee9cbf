/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/months/month.h"

#include "base/rounded/rounded.h"
#include "base/table.h"

#include <math.h>

static const char *unit_of(const struct month_size *size)
{
    return size->gpus ? "gpus" : "nodes";
}

static unsigned long long count_of(const struct month_size *size)
{
    return size->gpus ? size->gpus : size->nodes;
}

/* ---- the file ---- */

/* Who says so, on one line. */
static void write_source(FILE *out, const char *source)
{
    for (; *source; source++)
        fputc(*source == '"' || *source == '\\' || (unsigned char)*source < ' ' ? '_' : *source, out);
}

static void write_run(FILE *out, const struct distribution *run)
{
    if (run->kind == DISTRIBUTION_LOG_NORMAL)
        fprintf(out, "{log-normal: {median: %.6gs, mean: %.6gs}}", rounded_exp(run->a), distribution_mean(run));
    else if (run->kind == DISTRIBUTION_WEIBULL)
        fprintf(out, "{weibull: {mean: %.6gs, shape: %.6g}}", distribution_mean(run), run->b);
    else
        fprintf(out, "%.6gs", run->a);
}

void month_write(FILE *out, const struct month *month, const struct month_errors *errors)
{
    fprintf(out, "# Behind a number: its standard error.\nsource: \"");
    write_source(out, month->source);
    fprintf(out, "\"\ndays: %.6g\njobs_per_day: %.6g # %.2g\nhours: [", month->days, month->jobs_per_day,
            errors->jobs_per_day);
    for (int i = 0; i < MONTH_HOURS; i++)
        fprintf(out, "%s%.4g", i ? ", " : "", month->hours[i]);
    fputs("]\n# of hours: ", out);
    for (int i = 0; i < MONTH_HOURS; i++)
        fprintf(out, "%s%.2g", i ? ", " : "", errors->hours[i]);
    fprintf(out, "\ntogether: %.6g # %.2g\nfailed: %.6g # %.2g\ncancelled: %.6g # %.2g\n", month->together,
            errors->together, month->failed, errors->failed, month->cancelled, errors->cancelled);
    fprintf(out, "longest: %.6gs\n", month->longest);
    if (month->users)
        fprintf(out, "users: %llu\n", (unsigned long long)month->users);
    fputs("sizes:\n", out);
    for (size_t i = 0; i < month->size_count; i++) {
        const struct month_size *size = &month->sizes[i];
        fprintf(out, "  - {%s: %llu, share: %.6g, run: ", unit_of(size), count_of(size), size->share);
        write_run(out, &size->run);
        fprintf(out, "} # share %.2g; run %.2g and %.2g; %u jobs\n", errors->sizes[i].share, errors->sizes[i].a,
                errors->sizes[i].b, errors->sizes[i].jobs);
    }
}

static void write_swf(FILE *out, const struct arrival_log *log)
{
    static const int statuses[] = {
        [STATUS_UNKNOWN] = -1, [STATUS_DONE] = 1, [STATUS_FAILED] = 0, [STATUS_CANCELLED] = 5};
    for (size_t i = 0; i < log->count; i++) {
        const struct arrival *job = &log->arrivals[i];
        fprintf(out, "%zu %.0f -1 %.0f %u -1 -1 %u -1 -1 %d %s -1 -1 -1 -1 -1 -1\n", i + 1, floor(job->submit),
                fmax(1, rint(job->run)), job->processors, job->processors, statuses[job->status],
                job->user ? job->user : "-1");
    }
}

static void write_csv(FILE *out, const struct arrival_log *log)
{
    static const char *const statuses[] = {
        [STATUS_UNKNOWN] = "", [STATUS_DONE] = "done", [STATUS_FAILED] = "failed", [STATUS_CANCELLED] = "cancelled"};
    fputs("submit,nodes,run,user,status\n", out);
    for (size_t i = 0; i < log->count; i++) {
        const struct arrival *job = &log->arrivals[i];
        fprintf(out, "%.0f,%u,%.0f,%s,%s\n", floor(job->submit), job->nodes, fmax(1, rint(job->run)),
                job->user ? job->user : "", statuses[job->status]);
    }
}

void month_write_log(FILE *out, const struct month *month, const struct arrival_log *log)
{
    bool gpus = month->sizes[0].gpus;
    fprintf(out, "%sdrawn from a description of a month%s", gpus ? "; Version: 2.2\n; Note: " : "# ",
            month->source ? ": " : "");
    write_source(out, month->source ? month->source : "");
    fputc('\n', out);
    if (gpus)
        write_swf(out, log);
    else
        write_csv(out, log);
}

/* ---- for people ---- */

static void put(struct table *table, const char *name, const char *value, double error)
{
    table_cell(table, "%s", name);
    table_cell(table, "%s", value);
    table_cell(table, "%.2g", error);
}

static void put_number(struct table *table, const char *name, double value, double error)
{
    char text[32];
    snprintf(text, sizeof text, "%.5g", value);
    put(table, name, text, error);
}

static void print_sizes(FILE *out, const struct month *month, const struct month_errors *errors)
{
    char median[READABLE_MAX], mean[READABLE_MAX];
    struct table *table = table_create();
    table_column(table, month->sizes[0].gpus ? "GPUs" : "nodes", '>');
    table_columns(table, ">jobs", ">share", "<run times", ">median", ">mean", ">distance", NULL);
    for (size_t i = 0; i < month->size_count; i++) {
        const struct month_size *size = &month->sizes[i];
        bool normal = size->run.kind == DISTRIBUTION_LOG_NORMAL;
        table_cell(table, "%llu", count_of(size));
        table_cell(table, "%u", errors->sizes[i].jobs);
        table_percent(table, size->share);
        table_cell(table, "%s", normal ? "log-normal" : size->run.kind == DISTRIBUTION_WEIBULL ? "Weibull" : "fixed");
        table_cell(table, "%s",
                   readable_seconds(median, normal ? rounded_exp(size->run.a)
                                            : size->run.kind == DISTRIBUTION_WEIBULL
                                                ? size->run.a * rounded_pow(0.69314718055994531, 1 / size->run.b)
                                                : size->run.a));
        table_cell(table, "%s", readable_seconds(mean, distribution_mean(&size->run)));
        table_cell(table, "%.3f", errors->sizes[i].distance);
    }
    table_print_within(table, out, 0, 0);
    table_destroy(table);
}

void month_print(FILE *out, const struct month *month, const struct month_errors *errors)
{
    struct table *table = table_create();
    table_columns(table, "<parameter", ">value", ">standard error", NULL);
    put_number(table, "days", month->days, 0);
    put_number(table, "jobs_per_day", month->jobs_per_day, errors->jobs_per_day);
    put_number(table, "together", month->together, errors->together);
    put_number(table, "failed", month->failed, errors->failed);
    put_number(table, "cancelled", month->cancelled, errors->cancelled);
    table_print_within(table, out, 0, 0);
    table_destroy(table);
    fputc('\n', out);
    print_sizes(out, month, errors);
}
