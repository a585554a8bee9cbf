/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/run_files.h"
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/files/output.h"
#include "base/process/interruption.h"
#include "commands/cli/command.h"
#include "commands/cli/options.h"
#include "commands/cli/parts.h"
#include "commands/cli/result.h"
#include "commands/cli/sweep_parts.h"
#include "commands/cli/variants.h"
#include "commands/cli/words.h"
#include "commands/sweep/sweep_output.h"
#include "studies/record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A sweep as the options want it. */
struct wanted {
    const struct options *options;
    struct arena *arena;
    const char *command; /* as typed */
    struct sweep_axis *axes;
    struct scenario_set *sets; /* what all combinations have */
    struct sweep_request request;
    struct sweep sweep;
    struct sweep_view view;
    struct picture_form form; /* of its picture */
    bool refused;             /* all combinations are known, and none of them ran */
};

/* ---- what varies ---- */

static bool add_sets(struct wanted *wanted)
{
    const struct options *options = wanted->options;
    struct sweep_request *request = &wanted->request;
    for (size_t i = 0; i < options->set_count; i++) {
        struct fault fault = {""};
        struct sweep_axis axis;
        if (strcmp(options->sets[i].option, "--set") != 0) {
            wanted->sets[request->scenario.set_count++] = options->sets[i];
            continue;
        }
        if (!sweep_axis_parse(options->sets[i].text, &axis, wanted->arena, &fault)) {
            diag_print(stderr, "%s\n", fault.text);
            return false;
        }
        if (axis.count > 1)
            wanted->axes[request->axis_count++] = axis;
        else
            wanted->sets[request->scenario.set_count++] =
                (struct scenario_set){"--set", arena_print(wanted->arena, "%s=%s", axis.key, axis.values[0])};
    }
    return true;
}

static bool add_schedules(struct wanted *wanted)
{
    struct schedule_words words;
    if (!wanted->options->schedules)
        return true;
    if (!variants_schedules(wanted->options->schedules, &words, wanted->arena))
        return false;
    wanted->axes[wanted->request.axis_count++] = sweep_axis_of(SWEEP_SCHEDULES, words.words, words.labels, words.count);
    return true;
}

static void add_what_ifs(struct wanted *wanted)
{
    const struct options *options = wanted->options;
    struct arena *arena = wanted->arena;
    if (!options->what_if_count)
        return;
    const char **values = arena_array(arena, options->what_if_count, sizeof *values);
    const char **labels = arena_array(arena, options->what_if_count, sizeof *labels);
    for (size_t i = 0; i < options->what_if_count; i++) {
        struct what_if_words words = variants_what_if(options->what_ifs[i], arena);
        values[i] = words.set;
        labels[i] = words.label;
    }
    wanted->axes[wanted->request.axis_count++] = sweep_axis_of(SWEEP_WHAT_IFS, values, labels, options->what_if_count);
}

/* What was to be a range is one value. */
static bool report_single(const struct wanted *wanted)
{
    const struct options *options = wanted->options;
    for (size_t i = options->set_count; i-- > 0;) {
        const char *text = options->sets[i].text;
        if (strcmp(options->sets[i].option, "--set") != 0)
            continue;
        diag_print(
            stderr,
            "stagesim sweep: nothing varies: --set %.80s is one value;\n           expected several such as 1,2,4, or "
            "a range: 1:8:1 in steps of 1, 1:8:x2 in factors of 2\n",
            text);
        return true;
    }
    return false;
}

static bool choose_axes(struct wanted *wanted)
{
    const struct options *options = wanted->options;
    struct arena *arena = wanted->arena;
    wanted->axes = arena_array(arena, options->set_count + 3, sizeof *wanted->axes);
    wanted->sets = arena_array(arena, options->set_count + 1, sizeof *wanted->sets);
    wanted->request.scenario = (struct scenario_request){
        .file = options->files[0], .sets = wanted->sets, .plugins = options->plugins, .kinds = true, .study = true};
    wanted->request.axes = wanted->axes;
    if (!add_sets(wanted) || !add_schedules(wanted))
        return false;
    add_what_ifs(wanted);
    if (wanted->request.axis_count)
        return true;
    if (report_single(wanted))
        return false;
    fputs("stagesim sweep: nothing varies; expected --set KEY=a,b,c or KEY=from:to:step, --schedules or --what-if\n",
          stderr);
    return false;
}

/* ---- files ---- */

/* What --picture names; svg where it is not given. */
static bool is_wanted(const struct wanted *wanted, enum canvas_format format)
{
    const char *named = NULL;
    for (size_t i = 0; i < wanted->options->set_count; i++)
        if (!strcmp(wanted->options->sets[i].option, "--picture"))
            named = wanted->options->sets[i].text;
    return named ? strstr(named, canvas_format_name(format)) != NULL : format == CANVAS_SVG;
}

static bool write_pictures(const struct wanted *wanted, struct output *output, struct fault *fault)
{
    for (int format = 0; format < PICTURE_FORMATS; format++) {
        if (!is_wanted(wanted, (enum canvas_format)format))
            continue;
        FILE *out = output_open(
            output, arena_print(wanted->arena, "sweep.%s", canvas_format_name((enum canvas_format)format)), fault);
        if (!out || !sweep_view_picture(&wanted->view, (enum canvas_format)format, &wanted->form, out, fault))
            return false;
    }
    return true;
}

static bool write_files(const struct wanted *wanted, struct output *output, struct fault *fault)
{
    FILE *csv = output_open(output, "sweep.csv", fault), *json = csv ? output_open(output, "sweep.json", fault) : NULL;
    FILE *page = json ? output_open(output, "sweep.html", fault) : NULL;
    if (!page)
        return false;
    sweep_print(csv, &wanted->view, TABLE_CSV);
    sweep_print(json, &wanted->view, TABLE_JSON);
    const struct scenario *base = wanted->sweep.base;
    return sweep_page(page, &wanted->view, fault) && write_pictures(wanted, output, fault) &&
           (!base || record_scenario(output, wanted->options->output, "", base, true, fault)) &&
           record_about(output, wanted->command, &base, base != NULL, NULL, fault);
}

/* ---- the command ---- */

/* Where nothing ran, the reasons are mistakes: each of them once, at most eight. */
static int report_reasons(const struct sweep *sweep)
{
    enum { REASONS_SHOWN = 8 };
    const char *shown[REASONS_SHOWN];
    size_t count = 0, other = 0;
    for (size_t i = 0; i < sweep->count; i++) {
        const struct sweep_result *result = &sweep->results[i];
        if (result->status == SWEEP_RAN)
            return EXIT_DONE;
        bool known = result->status == SWEEP_OPEN;
        for (size_t k = 0; k < count; k++)
            known |= !strcmp(shown[k], result->row.reason);
        if (!known && count < REASONS_SHOWN)
            shown[count++] = result->row.reason;
        else
            other += !known;
    }
    for (size_t k = 0; k < count; k++)
        diag_print(stderr, "%s: error: %s\n", sweep->request->scenario.file, shown[k]);
    if (other)
        fprintf(stderr, "and %zu more\n", other);
    return sweep->stopped ? EXIT_DONE : EXIT_BAD_INPUT;
}

static int fill(void *user)
{
    struct wanted *wanted = user;
    const struct options *options = wanted->options;
    int code = sweep_create(&wanted->sweep, &wanted->request, wanted->arena);
    if (code != EXIT_DONE || !sweep_view_choose(&wanted->view, &wanted->sweep, options->x, options->y, options->by))
        return code == EXIT_DONE ? EXIT_BAD_INPUT : code;
    if (options->merge)
        return sweep_parts_merge(&wanted->sweep, options, "sweep", wanted->arena);
    if (!options->quiet && wanted->sweep.base)
        scenario_tell_imported(wanted->sweep.base, &(struct diag){.out = stderr});
    interruption_await();
    code = sweep_run(&wanted->sweep);
    interruption_forget();
    if (code != EXIT_DONE || wanted->request.shards != 1)
        return code;
    code = report_reasons(&wanted->sweep);
    wanted->refused = code != EXIT_DONE;
    return code;
}

static void show(const struct wanted *wanted)
{
    const struct sweep *sweep = &wanted->sweep;
    size_t open = 0;
    for (size_t i = 0; i < sweep->count; i++)
        open += sweep->results[i].status == SWEEP_OPEN;
    sweep_print(stdout, &wanted->view, wanted->options->format);
    fflush(stdout); /* both streams may go to one file */
    if (sweep->stopped)
        fprintf(stderr, "stopped early: %zu of %zu combinations were run\n", sweep->count - open, sweep->count);
}

/* The directory is there before the sweep begins: a mistake in it must not cost an hour. The journal goes when all is
 * done, also where nothing of it could be run. */
static int sweep_into(struct wanted *wanted)
{
    struct fault fault = {""};
    const struct options *options = wanted->options;
    static const char *const late[] = {"sweep.csv", "sweep.json",    "sweep.html", "sweep.svg", "sweep.png",
                                       "sweep.pdf", "scenario.yaml", "about.json", NULL};
    struct output *output = output_create(options->output, &fault);
    int code = output && output_foresee(output, late, &fault) ? fill(wanted) : EXIT_BAD_INPUT;
    bool written = result_settle(output, code == EXIT_DONE && write_files(wanted, output, &fault), &fault);
    if (wanted->request.journal && (written ? !wanted->sweep.stopped : wanted->refused))
        unlink(wanted->request.journal);
    if (!written)
        return code == EXIT_DONE ? EXIT_FAILED : code;
    show(wanted);
    if (!options->quiet)
        diag_print(stderr, "written to %s\n", options->output);
    return EXIT_DONE;
}

static bool fill_request(struct wanted *wanted)
{
    const struct options *options = wanted->options;
    if (!sweep_parts_request(options, &wanted->request, wanted->arena))
        return false;
    return choose_axes(wanted);
}

static int run_sweep(const struct command *command, const struct options *options, const char *typed, int argc,
                     char **argv, struct arena *arena)
{
    struct wanted wanted = {.options = options, .arena = arena, .command = typed};
    if (form_read(command, options->picture_width, options->font_size, &wanted.form))
        return EXIT_USAGE;
    if (!fill_request(&wanted))
        return EXIT_BAD_INPUT;
    if (options->shard)
        return parts_run(options->output, fill, &wanted);
    if (options->slurm)
        return sweep_parts_on_slurm(&wanted.request, options, "sweep", argc, argv, arena);
    if (options->output)
        return sweep_into(&wanted);
    int code = fill(&wanted);
    if (code == EXIT_DONE)
        show(&wanted);
    return code;
}

static int check_options(const struct command *command, const struct options *options)
{
    if (options->exhaustive)
        return command_usage(command, "--exhaustive is for search");
    return parts_check(command, options);
}

static int run(const struct command *command, int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct options options;
    struct words_typed typed = words_typed(argc, argv, arena);
    int code = EXIT_USAGE;
    if (options_read(command, "osfgxp", argc, argv, arena, &options)) {
        code = check_options(command, &options);
        if (code == EXIT_DONE)
            code = run_sweep(command, &options,
                             words_command(command, &typed, options.files + 1, options.file_count - 1, arena), argc,
                             argv, arena);
    }
    arena_destroy(arena);
    fflush(stdout);
    interruption_end();
    return code;
}

const struct command command_sweep = {
    .name = "sweep",
    .arguments = "SCENARIO --set KEY=VALUES... [--schedules NAME,...] [--what-if [NAME:]CHANGE,...]... [-o DIR] "
                 "[OPTION]...",
    .summary = "simulates every combination of some values",
    .help = "Simulates the scenario with every combination of the values, and prints a row for each. What cannot be "
            "simulated is a\n"
            "row with the reason.\n"
            "\n"
            "  --set KEY=a,b,c                  these values; a list in brackets is one value: search.micro=[1,2]\n"
            "  --set KEY=from:to:step           numbers from one to the other; with a unit: 1us:5us:1us\n"
            "  --set KEY=from:to:xF             numbers from one to the other, each F times the one before\n"
            "  --schedules NAME,FILE.csv,...    these schedules; all: every one\n"
            "  --what-if [NAME:]CHANGE,...      a changed platform: 'halved: nic=0.5', 'as is'; repeatable\n"
            "  --x KEY                          the key along the picture's axis; default: the first with numbers\n"
            "  --by KEY                         the key whose values are lines of the picture\n"
            "  --y FIGURE                       the figure that is shown: iteration_s, samples_per_s, mfu, bubble, "
            "memory, ... (iteration_s)\n"
            "  --jobs J                         processes at a time; default: one for each processor\n"
            "  --time-limit TIME                such as 60s: stop then; Ctrl-C does the same\n"
            "  -o DIR                           write sweep.csv, sweep.json, sweep.svg and sweep.html\n"
            "  --resume                         go on where a sweep into DIR was ended\n"
            "  --shard K/N|slurm                only part K of N, into DIR; slurm: K and N are those of the task of a "
            "job array\n"
            "  --merge DIR...                   join the parts in these directories\n"
            "  --slurm[=OPTIONS]                run as a job array of Slurm, with these options of sbatch\n"
            "  --picture svg,png,pdf            formats of the picture\n" FORM_HELP(
                "            ") "  --format table|csv|json|latex|markdown   what is printed\n"
                                "  --quiet                          no progress bar, no notes\n" OPTIONS_HELP
                                "\nexample:\n  stagesim sweep scenarios/demo.yaml --set batch.global=512:4096:x2 "
                                "--schedules "
                                "gpipe,1f1b,chimera --y bubble -o swept\n",
    .run = run,
};
