/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/run_files.h"
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/files/output.h"
#include "base/process/interruption.h"
#include "cluster/rl/rl.h"
#include "commands/cli/command.h"
#include "commands/cli/options.h"
#include "commands/cli/parts.h"
#include "commands/cli/result.h"
#include "commands/cli/slurm_array.h"
#include "commands/cli/words.h"
#include "commands/search/search_html.h"
#include "commands/search/search_output.h"
#include "commands/search/search_parts.h"
#include "commands/search/search_picture.h"
#include "commands/search/search_rl.h"
#include "commands/search/search_view.h"
#include "studies/record.h"
#include "studies/search/estimate.h"
#include "studies/search/training.h"
#include "studies/wanted.h"

#include <string.h>
#include <unistd.h>

enum { TOP_DEFAULT = 10, KEPT_LEAST = 10 };

/* ---- files ---- */

/* The winner, ready for `stagesim run`. */
static bool write_best(const struct search *search, struct output *output, const char *directory, struct arena *arena,
                       struct fault *fault)
{
    struct scenario_set sets[SEARCH_SETS_MAX + 1] = {{0}};
    size_t count = search_space_sets(&search->space, search->scenario, search->ranked[search->best[0]], sets, arena);
    if (search_best(search, 0)->verified.settled)
        sets[count++].text = "iterations=settled";
    return record_best(output, directory, search->scenario, sets, count,
                       arena_print(arena, "The best of %llu layouts of %s on %s GPUs that `stagesim search` tried.",
                                   (unsigned long long)search->space.count, search->scenario->name,
                                   search->space.gpus_text),
                       fault);
}

static bool draw(FILE *out, const void *found, enum canvas_format format, const struct picture_form *form,
                 struct fault *fault)
{
    return search_picture(out, found, format, form, fault);
}

static bool write_files(const struct search *search, struct output *output, const char *directory, const char *command,
                        uint32_t top, struct arena *arena, struct fault *fault)
{
    FILE *csv = output_open(output, "search.csv", fault),
         *json = csv ? output_open(output, "search.json", fault) : NULL;
    if (!json)
        return false;
    search_print(csv, search, top, TABLE_CSV);
    search_print(json, search, top, TABLE_JSON);
    FILE *html = output_open(output, "search.html", fault);
    return html && search_html(html, search, top, fault) && write_best(search, output, directory, arena, fault) &&
           wanted_pictures(search->scenario, output, "search", draw, search, fault) &&
           record_scenario(output, directory, "", search->scenario, true, fault) &&
           record_about(output, command, &search->scenario, 1, NULL, fault);
}

/* ---- the command ---- */

static uint32_t shown(const struct options *options)
{
    return options->top == OPTIONS_NOT_GIVEN || options->top == 0 ? TOP_DEFAULT : options->top;
}

/* A search as the options want it. */
struct wanted {
    const struct options *options;
    const struct scenario *scenario;
    struct search_request request;
    struct search search;
    struct arena *arena;
    bool partial;        /* a shard: its part is all that is written */
    bool answered;       /* the search came to its end, also with no layout that fits */
    const char *command; /* as typed */
};

static uint32_t top_of(const struct options *options)
{
    return options->top == OPTIONS_NOT_GIVEN ? TOP_DEFAULT : options->top;
}

static void fill_request(struct wanted *wanted)
{
    const struct options *options = wanted->options;
    uint32_t best = shown(options);
    wanted->request.kept = best > KEPT_LEAST ? best : KEPT_LEAST;
    wanted->request.jobs = options->jobs ? options->jobs : parts_processors();
    /* Bounds are of times. */
    wanted->request.exhaustive = options->exhaustive || wanted->scenario->search.objective != OBJECTIVE_TIME;
    wanted->request.quiet = options->quiet;
    wanted->request.time_limit = options->time_limit;
    wanted->request.resume = options->resume;
    wanted->request.exposed = wanted->partial ? 0 : best;
    wanted->request.simulated =
        wanted->scenario->engine == ENGINE_ANALYTIC || (wanted->partial && !options->merge) ? 0 : top_of(options);
    if (options->output)
        wanted->request.journal = options->merge && !wanted->partial ? NULL
                                  : wanted->partial
                                      ? parts_journal(options, options->merge ? "best" : "part", wanted->request.shard,
                                                      wanted->request.shards, wanted->arena)
                                      : parts_journal_of_whole(options, wanted->arena);
}

static int rank_all(struct wanted *wanted)
{
    struct fault fault = {""};
    if (search_rank(&wanted->search, &wanted->request, wanted->arena, &fault))
        return EXIT_DONE;
    diag_print(stderr, "stagesim: %s\n", fault.text);
    return EXIT_FAILED;
}

/* Of one process, or from parts. */
static int fill_table(struct wanted *wanted)
{
    const struct options *options = wanted->options;
    int code = search_create(&wanted->search, wanted->scenario, &wanted->request, wanted->arena);
    if (code != EXIT_DONE || !options->merge)
        return code == EXIT_DONE ? search_run(&wanted->search, &wanted->request) : code;
    size_t count = 0;
    const char **files =
        parts_list(options->files + 1, (size_t)options->file_count - 1, "search", &count, wanted->arena);
    return files ? search_merge(&wanted->search, files, count) : EXIT_BAD_INPUT;
}

static int search_layouts(struct wanted *wanted)
{
    struct search *search = &wanted->search;
    const struct options *options = wanted->options;
    int code = fill_table(wanted);
    if (code == EXIT_DONE && options->merge)
        code = search_parts_check(search);
    if (code == EXIT_DONE && wanted->partial)
        code = search_begin_journal(search, &wanted->request);
    if (code == EXIT_DONE)
        code = rank_all(wanted);
    if (code == EXIT_DONE && wanted->scenario->engine != ENGINE_ANALYTIC && !search->stopped)
        code = search_verify(search, top_of(options), &wanted->request, wanted->arena);
    interruption_after(0); /* what the time was enough for is told in full */
    if (code == EXIT_DONE && !wanted->partial)
        code = search_expose(search, shown(options), wanted->arena);
    if (code != EXIT_DONE || wanted->partial)
        return code;
    wanted->answered = !search->stopped;
    search_print(search->best_count ? stdout : stderr, search, shown(options),
                 search->best_count ? options->format : TABLE_TEXT);
    if (search->best_count)
        return EXIT_DONE;
    diag_print(stderr, "stagesim: %s\n",
               search->stopped ? "nothing was timed yet" : "none of the layouts is legal and fits in memory");
    return EXIT_BAD_INPUT;
}

static void remove_journal(const struct search_request *request)
{
    if (request->journal)
        unlink(request->journal);
}

/* The output directory is there before the search begins: a mistake in it must not cost an hour. The journal goes when
 * there is an answer, and for no other reason: a search that is refused may be of another journal. */
static int search_into(struct wanted *wanted)
{
    struct fault fault = {""};
    const struct options *options = wanted->options;
    static const char *const late[] = {"search.csv", "search.json", "search.html",   "best.yaml",  "search.svg",
                                       "search.png", "search.pdf",  "scenario.yaml", "about.json", NULL};
    struct output *output = output_create(options->output, &fault);
    int code = output && output_foresee(output, late, &fault) ? search_layouts(wanted) : EXIT_BAD_INPUT;
    if (wanted->answered)
        remove_journal(&wanted->request);
    bool written =
        result_settle(output,
                      code == EXIT_DONE && write_files(&wanted->search, output, options->output, wanted->command,
                                                       shown(options), wanted->arena, &fault),
                      &fault);
    if (written && !options->quiet) {
        fflush(stdout); /* both streams may go to one file */
        diag_print(stderr, "written to %s\n", options->output);
    }
    return code == EXIT_DONE && !written ? EXIT_FAILED : code;
}

/* A part of a search: of its candidates, or with --merge of the best that are simulated. */
static int search_part(void *user)
{
    struct wanted *wanted = user;
    if (wanted->options->merge)
        return search_layouts(wanted);
    int code = search_create(&wanted->search, wanted->scenario, &wanted->request, wanted->arena);
    return code == EXIT_DONE ? search_run(&wanted->search, &wanted->request) : code;
}

static int find_missing(void *user, const char *parts, uint32_t shards, bool *missing, uint32_t *count)
{
    const struct wanted *wanted = user;
    struct search search;
    struct arena *arena = arena_create();
    char *directories[] = {(char *)(uintptr_t)parts};
    size_t files = 0;
    int code = search_create(&search, wanted->scenario, &wanted->request, arena);
    const char **names = code == EXIT_DONE ? parts_list(directories, 1, "search", &files, arena) : NULL;
    if (names)
        code = search_merge(&search, names, files);
    *count = code == EXIT_DONE ? search_parts_missing(&search, shards, missing) : 0;
    search_finish(&search);
    arena_destroy(arena);
    return code;
}

static int run_on_slurm(struct wanted *wanted, int argc, char **argv)
{
    struct search search;
    bool simulates = wanted->scenario->engine != ENGINE_ANALYTIC;
    struct slurm_work work = {.command = "search",
                              .options = wanted->options,
                              .best = simulates ? top_of(wanted->options) : 0,
                              .find_missing = find_missing,
                              .user = wanted};
    int code = search_create(&search, wanted->scenario, &wanted->request, wanted->arena);
    if (code == EXIT_DONE)
        work.seconds = search_likely_cost(&search.space, wanted->scenario);
    search_finish(&search);
    return code == EXIT_DONE ? slurm_array_run(&work, argc, argv, wanted->arena) : code;
}

static int run_search(const struct options *options, const char *typed, int argc, char **argv, struct arena *arena)
{
    struct diag diag = {.out = stderr};
    struct scenario_request request = {options->files[0], options->sets, options->set_count, NULL,
                                       options->plugins,  .kinds = true, .study = true};
    const struct scenario *scenario = scenario_load(&request, arena, &diag);
    if (scenario && scenario->kind == &rl_kind)
        return search_rl(options, scenario, typed, argc, argv, arena);
    if (scenario && scenario->kind) {
        request.kinds = false; /* says what takes such a scenario */
        scenario = scenario_load(&request, arena, &diag);
    }
    struct wanted wanted = {.options = options,
                            .scenario = scenario,
                            .request = {.shard = 1, .shards = 1},
                            .search = {.table = {.reasons = -1}},
                            .arena = arena,
                            .partial = options->shard != NULL,
                            .command = typed};
    if (!wanted.scenario ||
        (wanted.partial && !shard_read(options->shard, &wanted.request.shard, &wanted.request.shards)))
        return EXIT_BAD_INPUT;
    if (!search_training_check(wanted.scenario, &diag))
        return EXIT_BAD_INPUT;
    fill_request(&wanted);
    if (!options->quiet && !wanted.partial)
        scenario_tell_imported(wanted.scenario, &diag);
    if (options->slurm)
        return run_on_slurm(&wanted, argc, argv);
    interruption_after(options->time_limit);
    int code = wanted.partial    ? parts_run(options->output, search_part, &wanted)
               : options->output ? search_into(&wanted)
                                 : search_layouts(&wanted);
    interruption_forget();
    search_finish(&wanted.search);
    return code;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct options options;
    struct words_typed typed = words_typed(argc, argv, arena);
    int code = EXIT_USAGE;
    if (options_read(command, "ofgkx", argc, argv, arena, &options))
        code = parts_check(command, &options);
    else
        code = EXIT_USAGE;
    if (code == EXIT_DONE)
        code = run_search(&options, words_command(command, &typed, options.files + 1, options.file_count - 1, arena),
                          argc, argv, arena);
    arena_destroy(arena);
    return code;
}

const struct command command_search = {
    .name = "search",
    .arguments = "SCENARIO [--gpus N] [--top K] [-o DIR] [--jobs J] [OPTION]... | SCENARIO --merge DIR... [OPTION]...",
    .summary = "finds the fastest layout that fits in memory",
    .help = "Tries every layout that the scenario's section `search` allows (axes, micro-batch size, schedule and its "
            "options,\n"
            "recomputation, ZeRO stage, ...), on the analytic engine; the best are simulated with contention. Layouts "
            "that a bound\n"
            "shows to be slower than the best, and no smaller than a faster one, are not timed. Prints the best, and "
            "how many others\n"
            "do not fit in memory or are illegal, and why.\n"
            "\n"
            "Of a scenario with `rl` the variants of its section `variants`, all of them: splits of GPUs, layouts of "
            "both sides,\n"
            "staleness (doc/rl.md).\n"
            "\n"
            "  --gpus N                         how many GPUs a layout has, or '[N, M]'; default: all of the platform\n"
            "  --top K                          how many are simulated and printed; 0: none are simulated, 10 are "
            "printed (10)\n"
            "  --jobs J                         processes at a time; default: one for each processor\n"
            "  --exhaustive                     time all layouts that fit in memory\n"
            "  --time-limit TIME                such as 60s: stop then, with the best so far; Ctrl-C and SIGTERM do "
            "the same\n"
            "  -o DIR                           write search.html, search.csv, search.json, search.svg and best.yaml, "
            "the winner's scenario\n"
            "  --resume                         go on where a search into DIR was ended\n"
            "  --shard K/N|slurm                only part K of N, into DIR; slurm: K and N are those of the task of a "
            "job array\n"
            "  --slurm[=OPTIONS]                run as a job array of Slurm, with these options of sbatch\n"
            "  --merge DIR...                   join the parts in these directories; with --shard, simulate a part of "
            "the best\n"
            "  --picture svg,png,pdf            formats of the picture\n" FORM_HELP(
                "            ") "  --format table|csv|json|latex|markdown   what is printed\n"
                                "  --quiet                          no progress bar, no notes\n" OPTIONS_HELP
                                "                                   (analytic: nothing is simulated with contention)\n"
                                "\nexample:\n  stagesim search scenarios/gpt-7.5b.yaml --set search.zero=1 --set "
                                "'search.micro=[1,2]' "
                                "--top 3 -o found\n",
    .run = run,
};
