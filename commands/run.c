/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/diagnostics.h"
#include "commands/cli/command.h"
#include "commands/cli/options.h"
#include "commands/cli/parts.h"
#include "commands/cli/words.h"
#include "commands/run_steps.h"
#include "job/scenario/scenario_kind.h"
#include "studies/choice_run.h"
#include "studies/record.h"
#include "studies/search/nearest.h"
#include "studies/simulation.h"
#include "studies/wanted.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a run had to tell. The caller frees the texts. */
static struct record_notes notes_of(const struct simulation_result *result, struct arena *arena)
{
    struct record_notes notes = {0};
    for (size_t i = 0; i < result->row_count; i++)
        record_add_notes(&notes, result->rows[i].notes, arena);
    return notes;
}

static void tell(const struct simulation_result *result, struct arena *arena)
{
    struct record_notes notes = notes_of(result, arena);
    for (size_t i = 0; i < notes.count; i++)
        diag_print(stderr, "note: %s\n", notes.texts[i]);
    free(notes.texts);
}

/* Simulates with its files in the output set, which appears when all went well; `asked` is what the records are of. */
static int run_into(struct simulation_request *request, const struct scenario *asked, const char *directory,
                    struct simulation_result *result, struct arena *arena)
{
    struct fault fault = {""};
    struct run_files files;
    struct run_wanted wanted = wanted_files(request->scenario);
    static const char *const late[] = {"scenario.yaml", "about.json", NULL};
    request->output = output_create(directory, &fault);
    request->files = &files;
    request->draw = request->scenario->pictures || request->scenario->report;
    int code = EXIT_BAD_INPUT;
    bool ok = request->output && output_foresee(request->output, late, &fault) &&
              run_files_open(&files, &wanted, request->output, "", &fault);
    if (ok)
        code = simulate(request, result);
    struct record_notes notes = notes_of(result, arena);
    if (code == EXIT_DONE && !(record_scenario(request->output, directory, "", asked, false, &fault) &&
                               record_about(request->output, request->command, &asked, 1, &notes, &fault)))
        code = EXIT_FAILED;
    free(notes.texts);
    if (!ok || code != EXIT_DONE)
        output_abort(request->output);
    else if (!output_commit(request->output, &fault))
        code = EXIT_FAILED;
    if (fault.text[0])
        diag_print(stderr, "stagesim: %s\n", fault.text);
    if (code == EXIT_DONE && request->steps && request->steps->how.journal)
        unlink(request->steps->how.journal);
    return code;
}

/* With the parts of what is no job behind the whole. */
static void print_rows(const struct simulation_result *result, enum table_format format, struct arena *arena)
{
    size_t count = result->row_count + result->part_count;
    struct comparison_row *rows = arena_array(arena, count, sizeof *rows);
    memcpy(rows, result->rows, result->row_count * sizeof *rows);
    if (result->part_count)
        memcpy(rows + result->row_count, result->parts, result->part_count * sizeof *rows);
    if (table_is_read(format))
        putchar('\n');
    comparison_print(stdout, rows, count, format);
}

/* Simulates, tells and prints. */
static int run_whole(const struct options *options, const struct scenario *scenario, struct simulation_request *request,
                     struct arena *arena)
{
    struct diag diag = {.out = stderr};
    bool own_table = scenario->kind && !scenario->kind->rows;
    struct simulation_result result = {0};
    int code =
        options->output ? run_into(request, scenario, options->output, &result, arena) : simulate(request, &result);
    if (code == EXIT_DONE && !options->quiet) {
        scenario_tell(scenario, &diag);
        tell(&result, arena);
    }
    if (!simulation_print(&result))
        code = EXIT_FAILED;
    if (code == EXIT_DONE && !own_table && (options->format != TABLE_TEXT || result.row_count > 1))
        print_rows(&result, options->format, arena);
    if (code == EXIT_DONE && options->output && !options->quiet) {
        fflush(stdout); /* both streams may go to one file */
        diag_print(stderr, "written to %s\n", options->output);
    }
    gantt_destroy(result.gantt);
    free(result.parts);
    return code;
}

static int run_scenario(const struct command *command, const struct options *options, const char *typed,
                        const struct words_typed *words, struct arena *arena)
{
    struct diag diag = {.out = stderr};
    struct scenario_request scenario_request = {options->files[0], options->sets, options->set_count, NULL,
                                                options->plugins,  true};
    struct scenario *scenario = scenario_load(&scenario_request, arena, &diag);
    if (!scenario)
        return EXIT_BAD_INPUT;
    int code = EXIT_DONE;
    struct scenario *chosen = choice_make(scenario, arena, &code);
    if (!chosen)
        return code;
    const struct tails_sharing *steps;
    code = run_steps_sharing(command, options, chosen, arena, &steps);
    if (code != EXIT_DONE)
        return code;
    bool own_table = scenario->kind && !scenario->kind->rows;
    struct simulation_request request = {.scenario = chosen,
                                         .command = typed,
                                         .steps = steps,
                                         .split = true,
                                         .quiet = options->quiet,
                                         .print = table_is_read(options->format) || own_table,
                                         .format = options->format};
    if (options->slurm)
        return run_steps_on_slurm(options, &request, words->count, (char **)(uintptr_t)words->words, arena);
    if (options->shard)
        return run_steps_part(options, &request);
    struct nearest nearest = nearest_find(chosen, options->quiet, NULL, arena);
    request.nearest = &nearest;
    return run_whole(options, scenario, &request, arena);
}

static int run(const struct command *command, int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct options options;
    struct words_typed before = words_typed(argc, argv, arena); /* before they are put in order */
    int code = EXIT_USAGE;
    if (options_read(command, "otfqjx", argc, argv, arena, &options))
        code =
            options.exhaustive ? command_usage(command, "--exhaustive is for search") : parts_check(command, &options);
    if (code == EXIT_DONE) {
        const char *typed = words_command(command, &before, options.files + 1, options.file_count - 1, arena);
        code = run_scenario(command, &options, typed, &before, arena);
    }
    arena_destroy(arena);
    return code;
}

const struct command command_run = {
    .name = "run",
    .arguments = "SCENARIO [-o DIR] [OPTION]... | SCENARIO --merge DIR... [OPTION]...",
    .summary = "simulates one scenario",
    .help =
        "Prints iteration time, bubble and its causes, communication, memory, and each worker's utilization.\n\n"
        "  -o DIR                           write summary.json and what --trace, --picture and --report ask for to "
        "DIR\n"
        "  --trace paje,chrome,chrome-gz,perfetto,csv  timeline.paje, timeline.chrome.json, the same compressed, "
        "timeline.perfetto-trace, operations.csv\n"
        "  --trace chakra,goal              for other simulators: chakra/rank.N.et, timeline.goal\n"
        "  --picture svg,png,pdf            timeline.svg, ...\n" FORM_HELP(
            "            ") "  --iterations K                   how many iterations the picture shows; as many are "
                            "simulated\n"
                            "  --quantiles                      draw many steps and print p50, p95 and p99; the "
                            "section tails says what varies\n"
                            "  --report                         report.html\n"
                            "  --jobs J                         processes that draw steps at a time; default: one for "
                            "each processor\n"
                            "  --time-limit TIME                such as 60s: draw no steps after that\n"
                            "  --resume                         go on where the steps of a run into DIR were ended\n"
                            "  --shard K/N|slurm                draw only part K of N of the steps, into DIR; slurm: K "
                            "and N are those of the task of a job array\n"
                            "  --merge DIR...                   join the parts in these directories\n"
                            "  --slurm[=OPTIONS]                draw the steps as a job array of Slurm, with these "
                            "options of sbatch\n"
                            "  --format table|csv|json|latex|markdown   what is printed\n"
                            "  --quiet                          no progress bar, no notes\n" OPTIONS_HELP
                            "\nexample:\n  stagesim run scenarios/demo.yaml -o out --trace paje,csv --picture png\n",
    .run = run,
};
