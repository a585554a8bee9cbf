/* SPDX-License-Identifier: Apache-2.0 */
/* stagesim month: descriptions of months of jobs, fitted to a log, and logs that are drawn from them. */
#include "base/arena.h"
#include "base/table.h"
#include "cluster/months/month.h"
#include "commands/cli/command.h"
#include "commands/cli/options.h"
#include "commands/cli/result.h"

#include <string.h>

struct work {
    struct month *month;
    struct month_errors *errors;
    struct arrival_log *log;
};

static bool write_month(FILE *out, void *user, struct fault *fault)
{
    const struct work *work = user;
    (void)fault;
    month_write(out, work->month, work->errors);
    return true;
}

static bool write_log(FILE *out, void *user, struct fault *fault)
{
    const struct work *work = user;
    (void)fault;
    month_write_log(out, work->month, work->log);
    return true;
}

/* NULL: standard output. */
static const char *output_of(const struct options *options)
{
    return options->output && strcmp(options->output, "-") != 0 ? options->output : NULL;
}

/* ---- fit ---- */

static void put_row(struct table *table, const char *name, double fitted, double there)
{
    table_cell(table, "%s", name);
    table_cell(table, "%.5g", fitted);
    table_cell(table, "%.5g", there);
    if (there > 0)
        table_cell(table, "%+.1f %%", 100 * (fitted / there - 1));
    else
        table_cell(table, "%s", "");
}

/* Fits to the first half, and says how far the second one is from that. */
static void print_halves(FILE *out, const struct arrival_log *log, struct arena *arena)
{
    size_t half = log->count / 2;
    struct arrival_log first = *log;
    first.count = half;
    const char *refused = month_refuses(&first);
    if (refused) {
        fprintf(out, "\nNo fit to the first half of the jobs: %s\n", refused);
        return;
    }
    struct month_errors *errors = arena_alloc(arena, sizeof *errors);
    struct month_summary fitted = month_summary(month_fit(log, half, errors, arena));
    struct month_summary there = month_summary_of(log->arrivals + half, log->count - half);
    struct table *table = table_create();
    fprintf(out, "\nFitted to the first half of the jobs, beside what the second half was\n\n");
    table_columns(table, "<figure", ">fitted", ">second half", ">bias", NULL);
    put_row(table, "jobs on a day", fitted.jobs_per_day, there.jobs_per_day);
    put_row(table, "mean run time, s", fitted.mean_run, there.mean_run);
    put_row(table, log->arrivals[0].processors ? "GPU hours on a day" : "node hours on a day", fitted.gpu_hours_per_day,
            there.gpu_hours_per_day);
    put_row(table, "share that fails", fitted.failed, there.failed);
    table_print_within(table, out, 0, 0);
    table_destroy(table);
}

/* Jobs whose log says how long they ran, in order. */
static void keep_known(struct arrival_log *log)
{
    size_t kept = 0;
    for (size_t i = 0; i < log->count; i++)
        if (log->arrivals[i].run > 0)
            log->arrivals[kept++] = log->arrivals[i];
    log->count = kept;
}

static int fit(const struct command *command, const struct options *options, struct arena *arena)
{
    enum { JOBS_LEAST = 20 };
    struct diag diag = {.out = stderr};
    const char *file = options->files[1];
    if (options->set_count)
        return command_usage(command, "fit has nothing to --set");
    struct arrival_log *log = arrival_log_load(file, (struct place){.file = file}, ARRIVALS_UNKNOWN, arena, &diag);
    if (!log)
        return EXIT_BAD_INPUT;
    keep_known(log);
    if (log->count < JOBS_LEAST) {
        diag_error(&diag, (struct place){.file = file}, "%zu jobs say how long they ran; expected at least %d",
                   log->count, JOBS_LEAST);
        return EXIT_BAD_INPUT;
    }
    const char *refused = month_refuses(log);
    if (refused) {
        diag_error(&diag, (struct place){.file = file}, "%s", refused);
        return EXIT_BAD_INPUT;
    }
    struct month_errors *errors = arena_alloc(arena, sizeof *errors);
    struct work work = {month_fit(log, log->count, errors, arena), errors, log};
    const char *output = output_of(options);
    int code = result_write(command->name, output, write_month, &work);
    if (!output)
        return code;
    if (code != EXIT_DONE || options->quiet)
        return code;
    month_print(stdout, work.month, errors);
    print_halves(stdout, log, arena);
    return code;
}

/* ---- generate ---- */

static int generate(const struct command *command, const struct options *options, struct arena *arena)
{
    struct diag diag = {.out = stderr};
    const char *file = options->files[1];
    struct place at = {.file = file};
    struct work work = {.month = month_load(file, at, options->sets, options->set_count, arena, &diag)};
    if (work.month)
        work.log = month_generate(work.month, 0, file, at, arena, &diag);
    return work.log ? result_write(command->name, output_of(options), write_log, &work) : EXIT_BAD_INPUT;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct options options;
    int code = EXIT_USAGE;
    if (!options_read(command, "w", argc, argv, arena, &options))
        code = EXIT_USAGE;
    else if (options.file_count != 2)
        code = command_usage(command, "expected fit and a log, or generate and a month's file, got %d arguments",
                             options.file_count);
    else if (!strcmp(options.files[0], "fit"))
        code = fit(command, &options, arena);
    else if (!strcmp(options.files[0], "generate"))
        code = generate(command, &options, arena);
    else
        code = command_usage(command, "'%s' is neither fit nor generate", options.files[0]);
    arena_destroy(arena);
    return code;
}

const struct command command_month = {
    .name = "month",
    .arguments = "fit LOG [-o FILE] | generate FILE [--set KEY=VALUE]... [-o LOG]",
    .summary = "a description of a month of jobs, fitted to a log, and jobs drawn from one",
    .help = "  fit LOG                          writes the file of a month that is like the log: how many jobs come at "
            "what hour, how large they are, how long they run, how many fail\n"
            "  generate FILE                    draws such a month, and writes its jobs in the Standard Workload "
            "Format;\n"
            "                                   where sizes are nodes, as a table of submit, nodes, run, user, status\n"
            "  -o, --output FILE                writes there, - being standard output; to a file, fit then prints what "
            "it found, with standard errors, and "
            "how far half of the log is from a fit to the other half\n"
            "  --set KEY=VALUE                  generate: any value of the file, for instance seed=3; repeatable\n"
            "  --quiet                          fit prints nothing\n"
            "\nexample:\n  stagesim month generate scenarios/month-helios-venus.yml --set days=2 -o jobs.swf\n",
    .run = run,
};
