/* SPDX-License-Identifier: Apache-2.0 */
/* stagesim plan: which cluster, how many GPUs, what price, until when. */
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/files/output.h"
#include "base/process/interruption.h"
#include "commands/cli/command.h"
#include "commands/cli/options.h"
#include "commands/cli/parts.h"
#include "commands/cli/result.h"
#include "commands/cli/slurm_array.h"
#include "commands/cli/words.h"
#include "commands/plan/plan_view.h"
#include "studies/record.h"
#include "studies/wanted.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct planning {
    const struct options *options;
    const struct scenario *scenario;
    struct fleet_request request;
    struct fleet fleet;
    struct plan_worths worths;
    struct arena *arena;
    const char *command; /* as typed */
};

/* ---- files ---- */

/* What is recommended. */
static bool write_best(const struct fleet *fleet, struct output *output, const char *directory, struct arena *arena,
                       struct fault *fault)
{
    struct scenario_set sets[FLEET_LAYOUT_SETS_MAX] = {{0}};
    const struct fleet_question *question = plan_question(fleet, fleet->best);
    size_t count = fleet_layout_sets(question, plan_found(fleet, fleet->best), sets, arena);
    return record_best(output, directory, fleet->scenario, sets, count,
                       arena_print(arena, "%s on %u GPUs of %s, as `stagesim plan` recommends it.",
                                   fleet->scenario->name, question->gpus, question->text),
                       fault);
}

static bool draw(FILE *out, const void *found, enum canvas_format format, const struct picture_form *form,
                 struct fault *fault)
{
    return plan_picture(out, found, format, form, fault);
}

static bool write_jobs(const struct fleet *fleet, struct output *output, struct fault *fault)
{
    FILE *out = output_open(output, "jobs.csv", fault);
    if (out)
        plan_family_csv(out, fleet);
    return out != NULL;
}

static bool write_files(struct planning *planning, struct output *output, struct fault *fault)
{
    const struct fleet *fleet = &planning->fleet;
    const char *directory = planning->options->output;
    FILE *csv = output_open(output, "plan.csv", fault), *json = csv ? output_open(output, "plan.json", fault) : NULL,
         *html = json ? output_open(output, "plan.html", fault) : NULL;
    if (!html)
        return false;
    plan_print(csv, fleet, &planning->worths, TABLE_CSV);
    plan_print(json, fleet, &planning->worths, TABLE_JSON);
    return plan_html(html, fleet, &planning->worths, fault) &&
           wanted_pictures(fleet->scenario, output, "plan", draw, fleet, fault) &&
           (!fleet->member_count || write_jobs(fleet, output, fault)) &&
           (!fleet->best || fleet->member_count || write_best(fleet, output, directory, planning->arena, fault)) &&
           record_scenario(output, directory, "", planning->scenario, true, fault) &&
           record_about(output, planning->command, &planning->scenario, 1, NULL, fault);
}

/* ---- the plan ---- */

static void fill_request(struct planning *planning)
{
    const struct options *options = planning->options;
    struct fleet_request *request = &planning->request;
    request->jobs = options->jobs ? options->jobs : parts_processors();
    request->exhaustive = options->exhaustive;
    request->quiet = options->quiet;
    request->resume = options->resume;
    if (options->output && options->shard)
        request->journal = parts_journal(options, "part", request->shard, request->shards, planning->arena);
    else if (options->output && !options->merge)
        request->journal = parts_journal_of_whole(options, planning->arena);
}

static int merge_parts(struct planning *planning)
{
    const struct options *options = planning->options;
    size_t count = 0;
    const char **files =
        parts_list(options->files + 1, (size_t)options->file_count - 1, "plan", &count, planning->arena);
    int code = files ? fleet_merge(&planning->fleet, files, count) : EXIT_BAD_INPUT;
    const struct fleet *fleet = &planning->fleet;
    size_t missing = 0;
    for (size_t i = 0; i < fleet->questions.count && code == EXIT_DONE; i++)
        missing += fleet->found[i].status == FLEET_UNASKED;
    if (!missing)
        return code;
    fprintf(stderr,
            "stagesim: %zu of %zu clusters are in none of the parts; run those that lack (again, with --resume)\n",
            missing, fleet->questions.count);
    return EXIT_BAD_INPUT;
}

static int find(void *user)
{
    struct planning *planning = user;
    struct fleet *fleet = &planning->fleet;
    int code = planning->options->merge ? merge_parts(planning) : fleet_run(fleet, &planning->request);
    interruption_after(0);
    if (code != EXIT_DONE || planning->options->shard)
        return code;
    fleet_judge(fleet, &planning->request, planning->arena);
    planning->worths.list = fleet_worth_find(fleet, &planning->request, &planning->worths.count, planning->arena);
    plan_print(fleet->way_count ? stdout : stderr, fleet, &planning->worths,
               fleet->way_count ? planning->options->format : TABLE_TEXT);
    return fleet->way_count ? EXIT_DONE : EXIT_BAD_INPUT;
}

/* The output directory is there before anything is asked: a mistake in it must not cost an hour. */
static int find_into(struct planning *planning)
{
    struct fault fault = {""};
    static const char *const late[] = {"plan.csv",  "plan.json",  "plan.html",     "plan.svg", "plan.png", "plan.pdf",
                                       "best.yaml", "about.json", "scenario.yaml", "jobs.csv", NULL};
    struct output *output = output_create(planning->options->output, &fault);
    int code = output && output_foresee(output, late, &fault) ? find(planning) : EXIT_BAD_INPUT;
    if (planning->request.journal && fault.text[0] == '\0' && !planning->fleet.stopped &&
        (code == EXIT_DONE || planning->fleet.counts[FLEET_UNASKED] < planning->fleet.questions.count) &&
        planning->fleet.ways)
        unlink(planning->request.journal);
    bool written = result_settle(output, code == EXIT_DONE && write_files(planning, output, &fault), &fault);
    if (written && !planning->options->quiet) {
        fflush(stdout); /* both streams may go to one file */
        diag_print(stderr, "written to %s\n", planning->options->output);
    }
    return code == EXIT_DONE && !written ? EXIT_FAILED : code;
}

static int find_missing(void *user, const char *parts, uint32_t shards, bool *missing, uint32_t *count)
{
    struct planning *planning = user;
    struct arena *arena = arena_create();
    char *directories[] = {(char *)(uintptr_t)parts};
    size_t files = 0;
    const char **names = parts_list(directories, 1, "plan", &files, arena);
    int code = names ? fleet_merge(&planning->fleet, names, files) : EXIT_BAD_INPUT;
    memset(missing, 0, shards * sizeof *missing);
    *count = 0;
    for (size_t i = 0; code == EXIT_DONE && i < planning->fleet.questions.count; i++) {
        bool open = planning->fleet.found[i].status == FLEET_UNASKED;
        *count += open && !missing[i % shards];
        missing[i % shards] |= open;
    }
    arena_destroy(arena);
    return code;
}

static int run_on_slurm(struct planning *planning, int argc, char **argv)
{
    static const double each = 4; /* seconds of a processor that a cluster takes, or more */
    struct slurm_work work = {.command = "plan",
                              .options = planning->options,
                              .seconds = each * (double)planning->fleet.questions.count,
                              .find_missing = find_missing,
                              .user = planning};
    return slurm_array_run(&work, argc, argv, planning->arena);
}

/* The scenario with what the options say of the plan. */
static const struct scenario *load(const struct options *options, struct arena *arena, struct diag *diag)
{
    struct scenario_request request = {options->files[0], options->sets, options->set_count, NULL,
                                       options->plugins,  .study = true};
    struct scenario_set by = {"--by", options->by ? arena_print(arena, "plan.by=%s", options->by) : NULL};
    request = scenario_request_with(&request, &by, options->by ? 1 : 0, arena);
    return scenario_load(&request, arena, diag);
}

static int run_plan(const struct options *options, const char *typed, int argc, char **argv, struct arena *arena)
{
    struct diag diag = {.out = stderr};
    struct planning planning = {.options = options,
                                .scenario = load(options, arena, &diag),
                                .request = {.shard = 1, .shards = 1},
                                .arena = arena,
                                .command = typed};
    if (!planning.scenario ||
        (options->shard && !shard_read(options->shard, &planning.request.shard, &planning.request.shards)))
        return EXIT_BAD_INPUT;
    fill_request(&planning);
    fleet_worth_check(planning.scenario, arena, &diag); /* a mistake must not be found after an hour */
    int code = fleet_create(&planning.fleet, planning.scenario, &planning.request, arena, &diag);
    if (code != EXIT_DONE)
        return code;
    interruption_after(options->time_limit);
    code = options->slurm    ? run_on_slurm(&planning, argc, argv)
           : options->shard  ? parts_run(options->output, find, &planning)
           : options->output ? find_into(&planning)
                             : find(&planning);
    interruption_forget();
    fleet_finish(&planning.fleet);
    return code;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct options options;
    struct words_typed typed = words_typed(argc, argv, arena);
    int code = EXIT_USAGE;
    if (options_read(command, "ofgxb", argc, argv, arena, &options))
        code = parts_check(command, &options);
    if (code == EXIT_DONE)
        code = run_plan(&options, words_command(command, &typed, options.files + 1, options.file_count - 1, arena),
                        argc, argv, arena);
    arena_destroy(arena);
    return code;
}

const struct command command_plan = {
    .name = "plan",
    .arguments = "SCENARIO [--tokens N] [--by TIME] [--below MONEY] [--carbon MASS] [-o DIR] [OPTION]... | SCENARIO "
                 "--merge DIR... [OPTION]...",
    .summary = "which cluster, how many GPUs, what price, until when",
    .help =
        "Searches the layouts of a job on every cluster that the sections `plan` and `search` name (platforms, sizes, "
        "networks),\n"
        "and answers with a front of days against money, by the prices of the section `prices`. A cluster is cut where "
        "another one\n"
        "is sooner and cheaper than a proven bound of it.\n\n"
        "  --tokens N                       how much is trained on: transformer.tokens\n"
        "  --by TIME                        how long it may take, such as 90d: the cheapest in time is recommended\n"
        "  --below MONEY                    what it may cost, such as 20e6USD: without --by the soonest is "
        "recommended\n"
        "  --carbon MASS                    carbon dioxide that it may stand for, such as 500t\n"
        "  --clusters A,B,...               products, in place of plan.platforms\n"
        "  --gpus '[N, M]'                  sizes, in place of search.gpus\n"
        "  --prices FILE                    the section `prices`\n"
        "  --jobs J                         processes at a time; default: one for each processor\n"
        "  --exhaustive                     cut nothing\n"
        "  --time-limit TIME                such as 60s: stop then; Ctrl-C and SIGTERM do the same\n"
        "  -o DIR                           write plan.html, plan.csv, plan.json, plan.svg and best.yaml, the "
        "recommended job\n"
        "  --resume                         go on where a plan into DIR was ended\n"
        "  --shard K/N|slurm                only the K-th of N parts, into DIR; slurm: what the task of a job array "
        "is\n"
        "  --slurm[=OPTIONS]                as a job array of Slurm, with these options of sbatch\n"
        "  --merge DIR...                   join the parts in these directories\n"
        "  --picture svg,png,pdf            formats of the picture\n" FORM_HELP(
            "            ") "  --format table|csv|json|latex|markdown   what is printed\n"
                            "  --quiet                          no progress, no notes\n" OPTIONS_HELP
                            "                                   (analytic: nothing is simulated with contention)\n"
                            "\nexample:\n  stagesim plan scenarios/plan.yaml --by 120d\n",
    .run = run,
};
