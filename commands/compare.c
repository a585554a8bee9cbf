/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/comparison_output.h"
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/paths.h"
#include "base/process/interruption.h"
#include "base/table.h"
#include "commands/cli/command.h"
#include "commands/cli/options.h"
#include "commands/cli/variants.h"
#include "commands/cli/words.h"
#include "commands/compared.h"
#include "job/scenario/scenario_kind.h"
#include "schedules/schedule.h"
#include "studies/choice_run.h"
#include "studies/record.h"
#include "studies/search/nearest.h"
#include "studies/simulation.h"
#include "studies/wanted.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What a run is a variant of its scenario in; NULL: in nothing. */
struct variant {
    const char *schedule; /* name or file */
    const char *what_if;  /* "NAME: CHANGES", "CHANGES" or "NAME" */
};

/* ---- which runs ---- */

static struct scenario *load(struct comparison *comparison, const char *file, const struct variant *variant,
                             struct diag *diag)
{
    const struct options *options = comparison->options;
    struct arena *arena = comparison->arena;
    struct scenario_request request = {
        file, options->sets, options->set_count, variant->schedule, options->plugins, .kinds = true};
    if (variant->what_if) {
        struct scenario_set *set = arena_alloc(arena, sizeof *set);
        *set = (struct scenario_set){"--what-if", variants_what_if(variant->what_if, arena).set};
        request = scenario_request_with(&request, set, 1, arena);
    }
    return scenario_load(&request, arena, diag);
}

/* Runs of other characters than letters, digits, '.', '_' and '-' become one '-'. Nothing begins with '.', for such a
 * directory is hidden. */
static void make_plain(char *name)
{
    char *to = name;
    for (const char *at = name; *at; at++) {
        bool plain = isalnum((unsigned char)*at) || strchr("._-", *at) || (unsigned char)*at >= 128;
        if (plain && (to > name || *at != '.'))
            *to++ = *at;
        else if (to > name && to[-1] != '-')
            *to++ = '-';
    }
    *to = '\0';
}

/* A directory that no other run has. */
static void name_directory(struct comparison *comparison, struct comparison_run *run)
{
    for (unsigned copy = 1;; copy++) {
        char suffix[16] = "";
        if (copy > 1)
            snprintf(suffix, sizeof suffix, "-%u", copy);
        snprintf(run->directory, sizeof run->directory, "%.128s-%.128s%s", run->name, run->schedule, suffix);
        make_plain(run->directory);
        bool taken = false;
        for (const struct comparison_run *other = comparison->runs; other < run; other++)
            taken |= !strncmp(other->directory, run->directory, strlen(other->directory) - 1) &&
                     strlen(other->directory) == strlen(run->directory) + 1;
        if (!taken)
            break;
    }
    strcat(run->directory, "/");
}

static struct comparison_run *add_run(struct comparison *comparison, const char *file, struct scenario *scenario,
                                      const struct variant *variant)
{
    struct arena *arena = comparison->arena;
    comparison->runs =
        array_grow(comparison->runs, &comparison->capacity, comparison->count + 1, sizeof *comparison->runs);
    struct comparison_run *run = &comparison->runs[comparison->count++];
    *run = (struct comparison_run){
        .scenario = scenario, .file = file, .name = scenario->name, .schedule = variant->schedule};
    if (variant->schedule && schedule_is_file(variant->schedule))
        run->schedule = path_name(variant->schedule, ".csv", arena);
    if (variant->what_if)
        run->name = arena_print(arena, "%s, %s", scenario->name, variants_what_if(variant->what_if, arena).label);
    return run;
}

/* Why a variant cannot be run; NULL: it can be, as far as is known before it is. A file that cannot be read says
 * nothing of the variant: reported, which ends the command. */
static const char *find_reason(struct comparison *comparison, const char *file, const struct variant *variant)
{
    char *text = NULL;
    size_t size = 0;
    struct diag diag = {.out = open_memstream(&text, &size)};
    struct scenario *scenario = load(comparison, file, variant, &diag);
    if (scenario && scenario->schedule)
        scenario_check_pipeline(scenario, &diag);
    if (diag.out)
        fclose(diag.out);
    const char *reason = diag.errors && text ? arena_copy(comparison->arena, diag_first(text)) : NULL;
    if (diag.trouble || !diag.out)
        diag_trouble(&comparison->diag, (struct place){.file = file}, "%s", reason ? reason : "there was no memory");
    free(text);
    return diag.trouble ? NULL : reason;
}

/* False: the scenario itself has mistakes. `all`: what does not fit is left out. */
static bool add_variant(struct comparison *comparison, const char *file, const struct variant *variant, bool all)
{
    struct scenario *scenario = load(comparison, file, variant, &comparison->diag);
    if (!scenario)
        return false;
    const char *reason = variant->schedule ? find_reason(comparison, file, variant) : NULL;
    if (comparison->diag.trouble)
        return false;
    if (reason && all) {
        if (!comparison->options->quiet)
            diag_print(stderr, "note: %s left out: %s\n", variant->schedule, reason);
        return true;
    }
    struct comparison_run *run = add_run(comparison, file, scenario, variant);
    run->reason = reason;
    if (!run->schedule)
        run->schedule = scenario->schedule_name ? scenario->schedule_name : scenario->workload->name;
    return true;
}

static bool add_what_if(struct comparison *comparison, const char *file, const char *what_if,
                        const struct schedule_words *schedules)
{
    bool ok = true;
    if (!schedules->count)
        return add_variant(comparison, file, &(struct variant){NULL, what_if}, false);
    for (size_t i = 0; i < schedules->count && ok; i++)
        ok = add_variant(comparison, file, &(struct variant){schedules->words[i], what_if}, schedules->all);
    return ok;
}

static bool add_file(struct comparison *comparison, const char *file, const struct schedule_words *schedules)
{
    const struct options *options = comparison->options;
    bool ok = true;
    for (size_t i = 0; i < options->what_if_count && ok; i++)
        ok = add_what_if(comparison, file, options->what_ifs[i], schedules);
    return ok && (options->what_if_count || add_what_if(comparison, file, NULL, schedules));
}

/* What imports left open, of each file once. */
static void tell_imported(const struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->count && !comparison->options->quiet; i++)
        if (i == 0 || strcmp(comparison->runs[i].file, comparison->runs[i - 1].file) != 0)
            scenario_tell_imported(comparison->runs[i].scenario, &comparison->diag);
}

/* Scenarios of one name are told apart by their folders. */
static void name_all(struct comparison *comparison)
{
    struct arena *arena = comparison->arena;
    for (size_t i = 0; i < comparison->count; i++) {
        struct comparison_run *run = &comparison->runs[i];
        const char *name = run->scenario->name, *folder = path_directory(run->file, arena);
        bool other = false;
        for (size_t k = 0; k < comparison->count; k++)
            other |=
                !strcmp(comparison->runs[k].scenario->name, name) && strcmp(comparison->runs[k].file, run->file) != 0;
        if (other)
            run->name = arena_print(arena, "%s/%s", path_name(folder, "", arena), run->name);
    }
    for (size_t i = 0; i < comparison->count; i++) {
        struct comparison_run *run = &comparison->runs[i];
        run->scenario->name = run->name;
        run->scenario->bounded = true;
        name_directory(comparison, run);
    }
}

/* ---- running and writing ---- */

/* Those that are done are what is shown. */
static void stop_at(struct comparison *comparison, size_t done, struct output *output)
{
    for (size_t i = done; output && i < comparison->count; i++)
        output_drop(output, comparison->runs[i].directory);
    for (size_t i = done; i < comparison->count; i++) {
        gantt_destroy(comparison->runs[i].result.gantt);
        free(comparison->runs[i].result.parts);
    }
    comparison->asked = comparison->count;
    comparison->count = done;
}

static bool is_variant(const struct comparison *comparison)
{
    return comparison->options->schedules || comparison->options->what_if_count;
}

/* The text of a file that mistakes were written to. */
static const char *read_mistakes(struct comparison *comparison, FILE *mistakes)
{
    char text[4096];
    rewind(mistakes);
    text[fread(text, 1, sizeof text - 1, mistakes)] = '\0';
    return arena_copy(comparison->arena, text);
}

/* What was found of layouts for an earlier run that differs in its schedule alone; NULL: nothing. */
static const struct nearest *find_like(const struct comparison *comparison, const struct comparison_run *run)
{
    for (const struct comparison_run *other = comparison->runs; other < run; other++)
        if (other->nearest.layouts && !strcmp(other->file, run->file) && !strcmp(other->name, run->name))
            return &other->nearest;
    return NULL;
}

/* A variant that its input does not allow is a row with the reason. A mistake in a scenario ends the comparison, and so
 * does a simulation that fails: want of memory is no property of a schedule. */
static int simulate_one(struct comparison *comparison, struct comparison_run *run, struct output *output, bool draw)
{
    int code = EXIT_DONE;
    struct scenario *chosen = choice_make(run->scenario, comparison->arena, &code);
    if (!chosen)
        return code;
    if (chosen != run->scenario)
        run->schedule = chosen->schedule_name;
    run->nearest = nearest_find(chosen, comparison->options->quiet, find_like(comparison, run), comparison->arena);
    FILE *mistakes = is_variant(comparison) ? tmpfile() : NULL;
    struct simulation_request request = {.scenario = chosen,
                                         .files = output ? &run->files : NULL,
                                         .output = output,
                                         .draw = draw,
                                         .command = comparison->command,
                                         .nearest = &run->nearest,
                                         .split = true,
                                         .settles = true,
                                         .quiet = comparison->options->quiet,
                                         .mistakes = mistakes};
    code = simulate(&request, &run->result);
    run->scenario = simulation_settled(run->scenario, &run->result, comparison->arena);
    if (code != EXIT_DONE && mistakes && !interruption_noted())
        run->said = read_mistakes(comparison, mistakes);
    if (run->said && code == EXIT_BAD_INPUT) {
        run->reason = diag_first(arena_copy(comparison->arena, run->said));
        if (output)
            output_drop(output, run->directory);
        code = EXIT_DONE;
    } else if (run->said)
        fputs(run->said, stderr);
    if (mistakes)
        fclose(mistakes);
    return code;
}

/* Whether an earlier run has said the same. */
static bool is_said(const struct comparison *comparison, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (comparison->runs[i].said && !strcmp(comparison->runs[i].said, comparison->runs[index].said))
            return true;
    return false;
}

/* Where no run came to its end, all reasons are mistakes. */
static int report_reasons(const struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->count; i++)
        if (!comparison->runs[i].reason)
            return EXIT_DONE;
    for (size_t i = 0; i < comparison->count; i++) {
        const struct comparison_run *run = &comparison->runs[i];
        if (!run->said)
            diag_print(stderr, "%s: error: %s: %s\n", run->file, run->schedule, run->reason);
        else if (!is_said(comparison, i))
            fputs(run->said, stderr);
    }
    return EXIT_BAD_INPUT;
}

static int simulate_all(struct comparison *comparison, struct output *output)
{
    bool draw = false; /* the aligned picture shows all runs */
    for (size_t i = 0; output && i < comparison->count; i++)
        draw |= comparison->runs[i].scenario->pictures || comparison->runs[i].scenario->report;
    for (size_t i = 0; i < comparison->count; i++) {
        struct comparison_run *run = &comparison->runs[i];
        int code = run->reason ? EXIT_DONE : simulate_one(comparison, run, output, draw);
        if (code != EXIT_DONE && interruption_noted() && i > 0) {
            stop_at(comparison, i, output);
            return EXIT_DONE;
        }
        if (code != EXIT_DONE)
            return code;
    }
    return report_reasons(comparison);
}

static bool open_all(struct comparison *comparison, struct output *output, struct fault *fault)
{
    for (size_t i = 0; i < comparison->count; i++)
        if (!comparison->runs[i].reason) {
            struct run_wanted wanted = wanted_files(comparison->runs[i].scenario);
            if (!run_files_open(&comparison->runs[i].files, &wanted, output, comparison->runs[i].directory, fault))
                return false;
        }
    return true;
}

/* What is written after all runs. */
static bool foresee(const struct comparison *comparison, struct output *output, struct fault *fault)
{
    static const char *const top[] = {"comparison.csv",
                                      "comparison.json",
                                      "comparison.svg",
                                      "comparison.png",
                                      "comparison.pdf",
                                      "report.html",
                                      "about.json",
                                      "steps.svg",
                                      "steps.png",
                                      "steps.pdf",
                                      NULL};
    bool fine = output_foresee(output, top, fault);
    for (size_t i = 0; i < comparison->count && fine; i++) {
        const char *run[] = {arena_print(comparison->arena, "%sscenario.yaml", comparison->runs[i].directory), NULL};
        fine = comparison->runs[i].reason || output_foresee(output, run, fault);
    }
    return fine;
}

/* What the runs had to tell. The caller frees the texts. */
static struct record_notes notes_of(const struct comparison *comparison)
{
    struct record_notes notes = {0};
    for (size_t i = 0; i < comparison->count; i++)
        for (size_t row = 0; row < comparison->runs[i].result.row_count; row++)
            record_add_notes(&notes, comparison->runs[i].result.rows[row].notes, comparison->arena);
    return notes;
}

/* How each run can be had again. */
static bool write_records(const struct comparison *comparison, struct output *output, struct fault *fault)
{
    const struct scenario **scenarios = arena_array(comparison->arena, comparison->count, sizeof *scenarios);
    size_t count = 0;
    for (size_t i = 0; i < comparison->count; i++) {
        const struct comparison_run *run = &comparison->runs[i];
        if (run->reason)
            continue;
        scenarios[count++] = run->scenario;
        if (!record_scenario(output, comparison->options->output, run->directory, run->scenario, false, fault))
            return false;
    }
    struct record_notes notes = notes_of(comparison);
    bool done = record_about(output, comparison->command, scenarios, count, &notes, fault);
    free(notes.texts);
    return done;
}

static int compare_into(struct comparison *comparison, const char *directory)
{
    struct fault fault = {""};
    struct output *output = output_create(directory, &fault);
    int code = EXIT_BAD_INPUT;
    bool ok = output && foresee(comparison, output, &fault) && open_all(comparison, output, &fault);
    interruption_await();
    if (ok)
        code = simulate_all(comparison, output);
    if (code == EXIT_DONE && compared_write_rows(comparison, output, &fault) &&
        compared_write_drawn(comparison, output, &fault) && write_records(comparison, output, &fault)) {
        compared_find_older(comparison);
        if (!output_commit(output, &fault))
            code = EXIT_FAILED;
        else
            compared_remove_older(comparison);
    } else {
        output_abort(output);
        code = code == EXIT_DONE ? EXIT_FAILED : code;
    }
    if (fault.text[0])
        diag_print(stderr, "stagesim: %s\n", fault.text);
    return code;
}

static const char *figure_of(const struct scenario *scenario)
{
    return scenario->kind && scenario->kind->figure ? scenario->kind->figure : "";
}

/* Iterations, queues and idle nodes have no figure in common. */
static bool check_kinds(struct comparison *comparison)
{
    const struct comparison_run *first = &comparison->runs[0];
    for (size_t i = 1; i < comparison->count; i++) {
        const struct scenario *scenario = comparison->runs[i].scenario;
        if (!strcmp(figure_of(scenario), figure_of(first->scenario)))
            continue;
        diag_print(stderr,
                   "%s: error: this is a scenario of %s, and %s of %s: they have no figures in common; "
                   "expected scenarios of one kind\n",
                   comparison->runs[i].file, scenario->kind ? scenario->kind->summary : "a job", first->file,
                   first->scenario->kind ? first->scenario->kind->summary : "a job");
        return false;
    }
    return true;
}

static int compare(struct comparison *comparison)
{
    const struct options *options = comparison->options;
    bool ok = true;
    struct schedule_words schedules = {0};
    if (options->schedules && !variants_schedules(options->schedules, &schedules, comparison->arena))
        return EXIT_BAD_INPUT;
    for (int i = 0; i < options->file_count; i++)
        ok &= add_file(comparison, options->files[i], &schedules);
    if (!ok)
        return EXIT_BAD_INPUT;
    name_all(comparison);
    if (comparison->count == 0) {
        fputs("stagesim: no schedule fits the scenario\n", stderr);
        return EXIT_BAD_INPUT;
    }
    if (!check_kinds(comparison))
        return EXIT_BAD_INPUT;
    tell_imported(comparison);
    if (!options->output)
        interruption_await();
    int code = options->output ? compare_into(comparison, options->output) : simulate_all(comparison, NULL);
    if (code == EXIT_DONE)
        compared_print(comparison);
    if (code == EXIT_DONE && options->output && !options->quiet) {
        fflush(stdout); /* both streams may go to one file */
        diag_print(stderr, "written to %s\n", options->output);
    }
    if (comparison->asked)
        fprintf(stderr, "stopped early: %zu of %zu runs were done\n", comparison->count, comparison->asked);
    return code;
}

/* When all is written and given back: scripts go on after an interruption no more than without a handler. */
static void end_if_interrupted(void)
{
    fflush(stdout);
    interruption_end();
    interruption_forget();
}

static int run(const struct command *command, int argc, char **argv)
{
    struct comparison comparison = {.arena = arena_create(), .diag = {.out = stderr}};
    struct options options;
    int code = EXIT_USAGE;
    comparison.command = words_command(command, &(struct words_typed){argc, argv}, NULL, 0, comparison.arena);
    if (options_read(command, "otsfrq", argc, argv, comparison.arena, &options)) {
        comparison.options = &options;
        code = options.file_count ? compare(&comparison) : command_usage(command, "expected at least one scenario");
    }
    for (size_t i = 0; i < comparison.count; i++) {
        gantt_destroy(comparison.runs[i].result.gantt);
        free(comparison.runs[i].result.parts);
    }
    free(comparison.runs);
    arena_destroy(comparison.arena);
    end_if_interrupted();
    return code;
}

const struct command command_compare = {
    .name = "compare",
    .arguments = "SCENARIO... [--schedules NAME,FILE.csv,...|all] [--what-if [NAME:]CHANGE,...]... [-o DIR] "
                 "[OPTION]...",
    .summary = "simulates several scenarios or schedules and shows them side by side",
    .help = "Prints a row per scenario and schedule; times are relative to the first row.\n"
            "\n"
            "  --schedules NAME,...|all         each scenario under these schedules; all: every one that fits\n"
            "                                   names and schedule files may be mixed\n"
            "  --what-if [NAME:]CHANGE,...      each scenario also on a changed platform: 'halved: nic=0.5', 'as is'; "
            "repeatable\n"
            "  --sort time|memory|p95           the best first\n"
            "  --quantiles                      draw many steps of each, print p50, p95 and p99, and sort by p95; the "
            "section tails says what varies\n"
            "  --format table|csv|json|latex|markdown   what is printed\n"
            "  -o DIR                           write DIR/SCENARIO-SCHEDULE/ for each run, and comparison.csv, "
            "comparison.json and\n"
            "                                   the aligned picture on top\n"
            "  --trace, --picture, --report     as for run; also --picture-width, --font-size, --iterations\n"
            "  --quiet                          no progress bar, no notes\n" OPTIONS_HELP
            "\nexample:\n  stagesim compare scenarios/demo.yaml --schedules gpipe,1f1b,chimera -o out --picture svg\n",
    .run = run,
};
