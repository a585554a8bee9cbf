/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/comparison_output.h"
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/table.h"
#include "commands/cli/command.h"
#include "commands/cli/options.h"
#include "schedules/schedule.h"
#include "studies/simulation.h"

#include <stdlib.h>
#include <string.h>

/* More workers do not fit a terminal's line. */
enum { UTILIZATION_WORKERS_MAX = 16 };

struct comparison_run {
    const struct scenario *scenario;
    char directory[300]; /* "SCENARIO-SCHEDULE/" */
    struct run_files files;
    struct simulation_result result;
};

struct comparison {
    const struct options *options;
    struct arena *arena;
    struct diag diag;
    struct comparison_run *runs;
    size_t count, capacity;
};

/* ---- which runs ---- */

static void add_run(struct comparison *comparison, const struct scenario *scenario)
{
    comparison->runs =
        array_grow(comparison->runs, &comparison->capacity, comparison->count + 1, sizeof *comparison->runs);
    struct comparison_run *run = &comparison->runs[comparison->count];
    *run = (struct comparison_run){.scenario = scenario};
    const char *schedule = scenario->schedule_name ? scenario->schedule_name : scenario->workload->name;
    for (unsigned copy = 1;; copy++) {
        char suffix[16] = "";
        if (copy > 1)
            snprintf(suffix, sizeof suffix, "-%u", copy);
        snprintf(run->directory, sizeof run->directory, "%.128s-%.128s%s/", scenario->name, schedule, suffix);
        bool taken = false;
        for (size_t i = 0; i < comparison->count; i++)
            taken |= !strcmp(comparison->runs[i].directory, run->directory);
        if (!taken)
            break;
    }
    comparison->count++;
}

static struct scenario *load(struct comparison *comparison, const char *file, const char *schedule)
{
    struct scenario_request request = {file, comparison->options->sets, comparison->options->set_count, schedule,
                                       comparison->options->plugins};
    return scenario_load(&request, comparison->arena, &comparison->diag);
}

/* Every schedule that fits; of the others it is said why they do not. */
static void add_all(struct comparison *comparison, const char *file)
{
    for (const struct schedule *const *schedule = schedule_table; *schedule; schedule++) {
        struct scenario *scenario = load(comparison, file, (*schedule)->name);
        if (!scenario)
            return;
        struct schedule_request request = scenario_schedule_request(scenario);
        struct schedule_refusal refusal;
        if (schedule_fits(*schedule, &request, &refusal))
            add_run(comparison, scenario);
        else if (!comparison->options->quiet)
            diag_print(stderr, "note: %s left out: %s\n", (*schedule)->name, refusal.text);
    }
}

static bool unknown_schedule(const char *name)
{
    const char *names[64];
    size_t count = 0;
    for (; schedule_table[count] && count < 64; count++)
        names[count] = schedule_table[count]->name;
    const char *nearest = diag_nearest(name, names, count);
    diag_print(stderr,
               "--schedules: error: '%s' does not name a known schedule%s%s%s; `stagesim list schedules` lists them\n",
               name, nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    return false;
}

static bool add_named(struct comparison *comparison, const char *file, const char *list)
{
    char *names = arena_copy(comparison->arena, list), *rest;
    bool ok = true;
    for (char *name = strtok_r(names, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
        struct scenario *scenario = schedule_find(name) ? load(comparison, file, name) : NULL;
        if (!schedule_find(name))
            ok = unknown_schedule(name);
        else if (!scenario || !scenario_check_pipeline(scenario, &comparison->diag))
            ok = false;
        else
            add_run(comparison, scenario);
    }
    return ok;
}

static bool add_file(struct comparison *comparison, const char *file)
{
    const char *schedules = comparison->options->schedules;
    if (!schedules) {
        struct scenario *scenario = load(comparison, file, NULL);
        if (scenario)
            add_run(comparison, scenario);
    } else if (!strcmp(schedules, "all")) {
        add_all(comparison, file);
    } else if (!add_named(comparison, file, schedules)) {
        return false;
    }
    return comparison->diag.errors == 0;
}

/* ---- running and writing ---- */

static int simulate_all(struct comparison *comparison, struct output *output)
{
    bool draw = false; /* the aligned picture shows all runs */
    for (size_t i = 0; output && i < comparison->count; i++)
        draw |= comparison->runs[i].scenario->pictures || comparison->runs[i].scenario->report;
    for (size_t i = 0; i < comparison->count; i++) {
        struct comparison_run *run = &comparison->runs[i];
        struct simulation_request request = {.scenario = run->scenario,
                                             .files = output ? &run->files : NULL,
                                             .output = output,
                                             .draw = draw,
                                             .quiet = comparison->options->quiet};
        int code = simulate(&request, &run->result);
        if (code != EXIT_DONE)
            return code;
    }
    return EXIT_DONE;
}

static struct comparison_row *collect_rows(const struct comparison *comparison, size_t *count)
{
    struct comparison_row *rows = arena_array(comparison->arena, 2 * comparison->count, sizeof *rows);
    *count = 0;
    for (size_t i = 0; i < comparison->count; i++)
        for (size_t row = 0; row < comparison->runs[i].result.row_count; row++, ++*count) {
            const struct comparison_run *run = &comparison->runs[i];
            rows[*count] = run->result.rows[row];
            if (comparison->options->output)
                snprintf(rows[*count].directory, sizeof rows->directory, "%.*s", (int)strlen(run->directory) - 1,
                         run->directory);
        }
    return rows;
}

static size_t most_workers(const struct comparison *comparison)
{
    size_t most = 0;
    for (size_t i = 0; i < comparison->count; i++)
        if (comparison->runs[i].result.gantt->row_count > most)
            most = comparison->runs[i].result.gantt->row_count;
    return most;
}

static void print_utilization(const struct comparison *comparison)
{
    size_t workers = most_workers(comparison);
    if (workers > UTILIZATION_WORKERS_MAX)
        return;
    struct table *table = table_create();
    table_column(table, "utilization of worker", '<');
    for (size_t worker = 0; worker < workers; worker++) {
        char title[24];
        snprintf(title, sizeof title, "%zu", worker);
        table_column(table, title, '>');
    }
    for (size_t i = 0; i < comparison->count; i++) {
        const struct comparison_run *run = &comparison->runs[i];
        table_cell(table, "%.*s", (int)strlen(run->directory) - 1, run->directory);
        for (size_t worker = 0; worker < workers; worker++) {
            char text[READABLE_MAX] = "";
            if (worker < run->result.gantt->row_count)
                readable_percent(text, run->result.gantt->rows[worker].busy);
            table_cell(table, "%s", text);
        }
    }
    putchar('\n');
    table_print(table, stdout, 0);
    table_destroy(table);
}

static void print_all(const struct comparison *comparison)
{
    size_t count;
    struct comparison_row *rows = collect_rows(comparison, &count);
    comparison_print(stdout, rows, count, comparison->options->format);
    if (comparison->options->format == COMPARISON_TABLE)
        print_utilization(comparison);
}

static bool write_rows(const struct comparison *comparison, struct output *output, struct fault *fault)
{
    size_t count;
    struct comparison_row *rows = collect_rows(comparison, &count);
    FILE *csv = output_open(output, "comparison.csv", fault),
         *json = csv ? output_open(output, "comparison.json", fault) : NULL;
    if (!json)
        return false;
    comparison_print(csv, rows, count, COMPARISON_CSV);
    comparison_print(json, rows, count, COMPARISON_JSON);
    return true;
}

/* The pictures and the report on top, where any of the scenarios asks for them. */
static bool write_drawn(const struct comparison *comparison, struct output *output, struct fault *fault)
{
    unsigned pictures = 0;
    bool report = false;
    struct comparison_row *rows = arena_array(comparison->arena, comparison->count, sizeof *rows);
    const struct gantt **gantts = arena_array(comparison->arena, comparison->count, sizeof *gantts);
    const char **links = arena_array(comparison->arena, comparison->count, sizeof *links);
    for (size_t i = 0; i < comparison->count; i++) {
        const struct comparison_run *run = &comparison->runs[i];
        pictures |= run->scenario->pictures;
        report |= run->scenario->report;
        rows[i] = run->result.rows[run->result.row_count - 1];
        gantts[i] = run->result.gantt;
        links[i] = run->scenario->report ? arena_print(comparison->arena, "%sreport.html", run->directory) : NULL;
    }
    struct comparison_view view = {comparison->runs[0].scenario->name, gantts, rows, links, comparison->count};
    return comparison_write_pictures(&view, pictures, output, fault) &&
           (!report || comparison_write_report(&view, output, fault));
}

static bool open_all(struct comparison *comparison, struct output *output, struct fault *fault)
{
    for (size_t i = 0; i < comparison->count; i++)
        if (!run_files_open(&comparison->runs[i].files, comparison->runs[i].scenario, output,
                            comparison->runs[i].directory, fault))
            return false;
    return true;
}

static int compare_into(struct comparison *comparison, const char *directory)
{
    struct fault fault = {""};
    struct output *output = output_create(directory, &fault);
    int code = output ? EXIT_FAILED : EXIT_BAD_INPUT;
    bool ok = output && open_all(comparison, output, &fault);
    if (ok)
        code = simulate_all(comparison, output);
    if (code == EXIT_DONE && write_rows(comparison, output, &fault) && write_drawn(comparison, output, &fault)) {
        if (!output_commit(output, &fault))
            code = EXIT_FAILED;
    } else {
        output_abort(output);
        code = code == EXIT_DONE ? EXIT_FAILED : code;
    }
    if (fault.text[0])
        diag_print(stderr, "stagesim: %s\n", fault.text);
    return code;
}

static int compare(struct comparison *comparison)
{
    const struct options *options = comparison->options;
    bool ok = true;
    for (int i = 0; i < options->file_count; i++)
        ok &= add_file(comparison, options->files[i]);
    if (!ok)
        return EXIT_BAD_INPUT;
    if (comparison->count == 0) {
        fputs("stagesim: no schedule fits the scenario\n", stderr);
        return EXIT_BAD_INPUT;
    }
    int code = options->output ? compare_into(comparison, options->output) : simulate_all(comparison, NULL);
    if (code == EXIT_DONE)
        print_all(comparison);
    if (code == EXIT_DONE && options->output && !options->quiet) {
        fflush(stdout); /* both streams may go to one file */
        diag_print(stderr, "written to %s\n", options->output);
    }
    return code;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct comparison comparison = {.arena = arena_create(), .diag = {.out = stderr}};
    struct options options;
    int code = EXIT_USAGE;
    if (options_read(command, "otsf", argc, argv, comparison.arena, &options)) {
        comparison.options = &options;
        code = options.file_count ? compare(&comparison) : command_usage(command, "expected at least one scenario");
    }
    for (size_t i = 0; i < comparison.count; i++)
        gantt_destroy(comparison.runs[i].result.gantt);
    free(comparison.runs);
    arena_destroy(comparison.arena);
    return code;
}

const struct command command_compare = {
    .name = "compare",
    .arguments = "SCENARIO... [--schedules NAME,NAME,...|all] [-o DIR] [OPTION]...",
    .summary = "simulate several scenarios or schedules and show them side by side",
    .help = "Prints a row per scenario and schedule; times are relative to the first row.\n\n"
            "  --schedules NAME,...|all         each scenario under these schedules; all: every one that fits\n"
            "  --format table|csv|json          what is printed\n"
            "  -o DIR                           write DIR/SCENARIO-SCHEDULE/ for each run, and comparison.csv, "
            "comparison.json and\n"
            "                                   the aligned picture on top\n"
            "  --trace, --picture, --report     as for run\n"
            "  --quiet                          no progress bar, no notes\n" OPTIONS_HELP
            "\nexample:\n  stagesim compare scenarios/demo.yaml --schedules gpipe,1f1b,chimera -o out --picture svg\n",
    .run = run,
};
