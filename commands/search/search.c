/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/run_files.h"
#include "base/arena.h"
#include "base/files/output.h"
#include "commands/cli/command.h"
#include "commands/cli/options.h"
#include "commands/search/search_output.h"
#include "simulator/scenario/scenario_write.h"

#include <unistd.h>

enum { TOP_DEFAULT = 5, JOBS_MAX = 64 };

static unsigned processors(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online > JOBS_MAX ? JOBS_MAX : (unsigned)online;
}

/* ---- files ---- */

/* The winner, ready for `stagesim run`. */
static bool write_best(const struct search *search, struct output *output, const char *directory, struct arena *arena,
                       struct fault *fault)
{
    const struct search_result *best = &search->results[search->ranked[0]];
    struct scenario_set sets[SEARCH_SETS];
    struct diag diag = {.out = stderr};
    search_candidate_sets(&search->space.candidates[best->index], search->scenario, sets, arena);
    struct scenario_request request = scenario_request_with(&search->scenario->request, sets, SEARCH_SETS, arena);
    const struct scenario *scenario = scenario_load(&request, arena, &diag);
    FILE *out = output_open(output, "best.yaml", fault);
    if (!scenario || !out)
        return fault_set(fault, "the scenario changed during the search");
    fprintf(out, "# The best of %u layouts of %s on %u GPUs that `stagesim search` tried.\n", search->space.count,
            search->scenario->name, search->space.gpus);
    scenario_write(out, scenario, directory);
    return true;
}

static bool write_pictures(const struct search *search, struct output *output, struct fault *fault)
{
    unsigned pictures = search->scenario->pictures ? search->scenario->pictures : PICTURE_SVG;
    for (int format = 0; format < PICTURE_FORMATS; format++) {
        char name[64];
        snprintf(name, sizeof name, "search.%s", canvas_format_name((enum canvas_format)format));
        if (!picture_wanted(pictures, (enum canvas_format)format))
            continue;
        FILE *out = output_open(output, name, fault);
        if (!out || !search_picture(out, search, (enum canvas_format)format, fault))
            return false;
    }
    return true;
}

static bool write_files(const struct search *search, struct output *output, const char *directory, uint32_t top,
                        struct arena *arena, struct fault *fault)
{
    FILE *csv = output_open(output, "search.csv", fault),
         *json = csv ? output_open(output, "search.json", fault) : NULL;
    if (!json)
        return false;
    search_print(csv, search, top, COMPARISON_CSV);
    search_print(json, search, top, COMPARISON_JSON);
    return write_best(search, output, directory, arena, fault) && write_pictures(search, output, fault);
}

/* ---- the command ---- */

static uint32_t shown(const struct options *options)
{
    return options->top == OPTIONS_NOT_GIVEN || options->top == 0 ? TOP_DEFAULT : options->top;
}

static int search_layouts(struct search *search, const struct scenario *scenario, const struct options *options,
                          struct arena *arena)
{
    int code = search_run(search, scenario, options->jobs ? options->jobs : processors(), options->quiet, arena);
    if (code == EXIT_DONE && scenario->engine != ENGINE_ANALYTIC)
        code = search_verify(search, options->top == OPTIONS_NOT_GIVEN ? TOP_DEFAULT : options->top, options->quiet,
                             arena);
    if (code != EXIT_DONE)
        return code;
    search_print(search->ranked_count ? stdout : stderr, search, shown(options),
                 search->ranked_count ? options->format : COMPARISON_TABLE);
    if (search->ranked_count)
        return EXIT_DONE;
    fputs("stagesim: none of the layouts is legal and fits in memory\n", stderr);
    return EXIT_BAD_INPUT;
}

/* The output directory is there before the search begins: a mistake in it must not cost an hour. */
static int search_into(struct search *search, const struct scenario *scenario, const struct options *options,
                       struct arena *arena)
{
    struct fault fault = {""};
    struct output *output = output_create(options->output, &fault);
    int code = output ? search_layouts(search, scenario, options, arena) : EXIT_BAD_INPUT;
    if (code != EXIT_DONE)
        output_abort(output);
    else if (!write_files(search, output, options->output, shown(options), arena, &fault)) {
        output_abort(output);
        code = EXIT_FAILED;
    } else if (!output_commit(output, &fault)) {
        code = EXIT_FAILED;
    }
    if (fault.text[0])
        fprintf(stderr, "stagesim: %s\n", fault.text);
    else if (code == EXIT_DONE && !options->quiet) {
        fflush(stdout); /* both streams may go to one file */
        fprintf(stderr, "written to %s\n", options->output);
    }
    return code;
}

static int run_search(const struct options *options, struct arena *arena)
{
    struct diag diag = {.out = stderr};
    struct scenario_request request = {options->files[0], options->sets, options->set_count, NULL};
    const struct scenario *scenario = scenario_load(&request, arena, &diag);
    struct search search;
    if (!scenario)
        return EXIT_BAD_INPUT;
    return options->output ? search_into(&search, scenario, options, arena)
                           : search_layouts(&search, scenario, options, arena);
}

static int run(const struct command *command, int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct options options;
    int code = EXIT_USAGE;
    if (options_read(command, "ofgk", argc, argv, arena, &options))
        code = options.file_count == 1 ? run_search(&options, arena)
                                       : command_usage(command, "expected one scenario, got %d", options.file_count);
    arena_destroy(arena);
    return code;
}

const struct command command_search = {
    .name = "search",
    .arguments = "SCENARIO [--gpus N] [--top K] [-o DIR] [--jobs J] [OPTION]...",
    .summary = "find the fastest layout of a transformer that fits in memory",
    .help = "Tries every size of the axes data, tensor and pipeline, micro-batch size, schedule, recomputation and "
            "ZeRO stage that the\n"
            "scenario's section `search` allows, on the analytic engine; the best are simulated with contention. "
            "Prints the best,\n"
            "and how many others do not fit in memory or are illegal, and why.\n\n"
            "  --gpus N                         how many GPUs a layout has; default: all of the platform\n"
            "  --top K                          how many are simulated and printed; 0: none, 5 printed (5)\n"
            "  --jobs J                         processes at a time; default: one for each processor\n"
            "  -o DIR                           write search.csv, search.json, search.svg and best.yaml, the winner's "
            "scenario\n"
            "  --picture svg,png,pdf            formats of the picture\n"
            "  --format table|csv|json          what is printed\n"
            "  --quiet                          no progress bar, no notes\n" OPTIONS_HELP
            "                                   (analytic: nothing is simulated with contention)\n"
            "\nexample:\n  stagesim search scenarios/gpt-7.5b.yaml --set search.zero=1 --set 'search.micro=[1,2]' "
            "--top 3 -o found\n",
    .run = run,
};
