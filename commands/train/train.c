/* SPDX-License-Identifier: Apache-2.0 */
/* stagesim train: a whole training on the calendar. */
#include "base/arena.h"
#include "base/files/output.h"
#include "base/process/clock.h"
#include "base/process/interruption.h"
#include "base/standard_streams.h"
#include "commands/cli/command.h"
#include "commands/cli/options.h"
#include "commands/cli/parts.h"
#include "commands/cli/result.h"
#include "commands/cli/slurm_array.h"
#include "commands/cli/words.h"
#include "commands/train/train_output.h"
#include "job/write/inputs.h"
#include "studies/calendar/goodput.h"
#include "studies/calendar/trainings.h"
#include "studies/record.h"
#include "studies/simulation.h"
#include "training/forecast_text.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* A training as the options want it. */
struct wanted {
    const struct options *options;
    const char *typed;
    const struct scenario *scenario;
    struct train_view view;
    struct training_forecast forecast;
    struct training_job job;
    const struct training_plan *plan;
    struct blocks_request request;
    struct blocks trainings;
    struct arena *arena;
};

static bool write_json(struct output *output, const struct train_view *view, struct fault *fault)
{
    FILE *out = output_open(output, "forecast.json", fault);
    if (!out)
        return false;
    struct json_writer json = json_writer_init(out);
    json_object_begin(&json, NULL, true);
    json_text(&json, "scenario", view->scenario->name);
    if (view->currency)
        json_text(&json, "currency", view->currency);
    forecast_write(&json, view->forecast);
    train_write_goodput(&json, view);
    json_object_end(&json);
    fputc('\n', out);
    return true;
}

static bool write_calendar(struct output *output, const struct train_view *view, struct fault *fault)
{
    const struct picture_form form = {.width = view->scenario->paper.width,
                                      .font_size = view->scenario->paper.font_size};
    FILE *csv = output_open(output, "calendar.csv", fault);
    if (csv)
        train_calendar_csv(csv, view);
    FILE *paje = csv ? output_open(output, "calendar.paje", fault) : NULL;
    if (paje)
        train_calendar_paje(paje, view);
    FILE *svg = paje ? output_open(output, "month.svg", fault) : NULL;
    return svg && train_month(svg, view, CANVAS_SVG, &form, fault);
}

static bool write_files(struct output *output, const struct wanted *wanted, struct fault *fault)
{
    struct record_notes notes = {0};
    const char *directory = wanted->options->output;
    return write_json(output, &wanted->view, fault) && write_calendar(output, &wanted->view, fault) &&
           record_scenario(output, directory, "", wanted->scenario, false, fault) &&
           record_about(output, wanted->typed, &wanted->scenario, 1, &notes, fault);
}

/* ---- its runs ---- */

/* All, or those of the part. An exit code. */
static int simulate_runs(void *user)
{
    struct wanted *wanted = user;
    interruption_await();
    int code = blocks_run(&wanted->trainings);
    interruption_forget();
    if (code != EXIT_DONE || !wanted->trainings.stopped)
        return code;
    diag_print(stderr, "stopped early: not all of %u trainings were simulated%s\n", wanted->request.items,
               wanted->request.journal ? "; --resume goes on" : "; with -o DIR, --resume would go on");
    return EXIT_FAILED;
}

static int join_parts(struct wanted *wanted)
{
    const struct options *options = wanted->options;
    size_t count = 0;
    const char **files =
        parts_list(options->files + 1, (size_t)options->file_count - 1, "training", &count, wanted->arena);
    return files ? blocks_merge(&wanted->trainings, files, count) : EXIT_BAD_INPUT;
}

/* All runs, then the forecast. */
static int finish(struct wanted *wanted)
{
    int code = wanted->options->merge ? join_parts(wanted) : simulate_runs(wanted);
    if (code != EXIT_DONE)
        return code;
    struct training_outcome outcome =
        training_outcome_from(wanted->plan, wanted->trainings.items, wanted->request.items);
    training_forecast_finish(&wanted->forecast, wanted->plan, &outcome, &wanted->job);
    if (!outcome.stuck)
        return EXIT_DONE;
    diag_error(&(struct diag){.out = stderr}, scenario_place(wanted->scenario, "failures"), "%s",
               forecast_sentence(&wanted->forecast, wanted->view.currency, wanted->arena));
    return EXIT_BAD_INPUT;
}

/* The directory is there before the trainings begin: a mistake in it must not cost an hour. The journal goes when all
 * is written, and for no other reason. */
static int train_into(struct wanted *wanted)
{
    static const char *const late[] = {
        "forecast.json", "calendar.csv", "calendar.paje", "month.svg", "scenario.yaml", "about.json", NULL};
    struct fault fault = {""};
    struct training_diary diary = {.end = train_month_seconds};
    const char *directory = wanted->options->output;
    struct output *output = output_create(directory, &fault);
    int code = output && output_foresee(output, late, &fault) ? finish(wanted) : EXIT_BAD_INPUT;
    if (code == EXIT_DONE) {
        training_simulate(wanted->plan, 0, &diary);
        wanted->view.diary = &diary;
    }
    bool written = result_settle(output, code == EXIT_DONE && write_files(output, wanted, &fault), &fault);
    if (code == EXIT_DONE && !written)
        code = fault.refused ? EXIT_BAD_INPUT : EXIT_FAILED;
    if (code == EXIT_DONE && wanted->request.journal)
        unlink(wanted->request.journal);
    wanted->view.diary = NULL;
    free(diary.spans);
    return code;
}

static int find_missing(void *user, const char *parts, uint32_t shards, bool *missing, uint32_t *count)
{
    struct wanted *wanted = user;
    return parts_missing(&wanted->request, "training", parts, shards, missing, count, wanted->arena);
}

/* How long a run takes says how many tasks there should be. */
static int train_on_slurm(struct wanted *wanted, int argc, char **argv)
{
    double started = clock_now();
    training_simulate(wanted->plan, 0, NULL);
    struct slurm_work work = {.command = "train",
                              .options = wanted->options,
                              .seconds = (clock_now() - started) * wanted->request.items,
                              .find_missing = find_missing,
                              .user = wanted};
    return slurm_array_run(&work, argc, argv, wanted->arena);
}

static bool fill_request(struct wanted *wanted)
{
    struct blocks_request *request = &wanted->request;
    *request = trainings_request_of(wanted->scenario, &wanted->job, wanted->plan);
    return parts_request(wanted->options, "part", request, wanted->arena);
}

static int run_wanted(struct wanted *wanted, int argc, char **argv)
{
    struct fault fault = {""};
    const struct options *options = wanted->options;
    if (!fill_request(wanted))
        return EXIT_BAD_INPUT;
    if (options->slurm)
        return train_on_slurm(wanted, argc, argv);
    if (!blocks_create(&wanted->trainings, &wanted->request, &fault)) {
        diag_print(stderr, "stagesim: %s\n", fault.text);
        blocks_destroy(&wanted->trainings);
        return EXIT_FAILED;
    }
    int code = options->shard    ? parts_run(options->output, simulate_runs, wanted)
               : options->output ? train_into(wanted)
                                 : finish(wanted);
    if (code == EXIT_DONE && !options->shard) {
        train_print(stdout, &wanted->view, options->format);
        fflush(stdout);
        if (options->output && !options->quiet)
            diag_print(stderr, "written to %s\n", options->output);
    }
    blocks_destroy(&wanted->trainings);
    return code;
}

/* Why there is no forecast. */
static int refuse(const struct scenario *scenario)
{
    struct diag diag = {.out = stderr};
    if (!scenario->training.given)
        diag_error(&diag, scenario_place(scenario, ""),
                   "nothing is said of the training; expected a section training, failures or checkpoint, such as "
                   "failures: llama3");
    else
        diag_error(&diag, scenario_place(scenario, "training"),
                   "nothing says how long the training is; expected 'steps' in training, or all tokens in "
                   "transformer.tokens");
    return EXIT_BAD_INPUT;
}

/* What a step takes, and what the job holds. */
static int simulate_job(struct wanted *wanted, double *mfu)
{
    struct simulation_request asked = {
        .scenario = wanted->scenario, .command = wanted->typed, .quiet = wanted->options->quiet, .trains = true};
    struct simulation_result result = {0};
    int code = simulate(&asked, &result);
    gantt_destroy(result.gantt);
    if (code != EXIT_DONE)
        return code;
    wanted->job = result.rows[result.row_count - 1].training;
    *mfu = result.rows[result.row_count - 1].mfu;
    return goodput_known(wanted->scenario, &wanted->job) ? EXIT_DONE : refuse(wanted->scenario);
}

static int train(struct wanted *wanted, int argc, char **argv)
{
    struct diag diag = {.out = stderr};
    const struct options *options = wanted->options;
    struct scenario_request request = {options->files[0], options->sets, options->set_count, NULL, options->plugins};
    struct scenario *scenario = scenario_load(&request, wanted->arena, &diag);
    double mfu;
    if (!scenario)
        return EXIT_BAD_INPUT;
    if (!scenario->training.given || !goodput_has_length(scenario))
        return refuse(scenario);
    wanted->scenario = scenario;
    int code = simulate_job(wanted, &mfu);
    if (code != EXIT_DONE)
        return code;
    wanted->plan = training_plan_of(&scenario->training, &wanted->job, &wanted->forecast, wanted->arena);
    wanted->view = (struct train_view){.scenario = scenario,
                                       .forecast = &wanted->forecast,
                                       .job = &wanted->job,
                                       .mfu = mfu / wanted->forecast.redundancy,
                                       .currency = scenario_word(scenario, "transformer.currency")};
    if (!options->quiet)
        scenario_tell(scenario, &diag);
    return run_wanted(wanted, argc, argv);
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
    if (options_read(command, "wfjx", argc, argv, arena, &options))
        code = check_options(command, &options);
    if (code == EXIT_DONE) {
        struct wanted wanted = {.options = &options,
                                .typed =
                                    words_command(command, &typed, options.files + 1, options.file_count - 1, arena),
                                .arena = arena};
        code = train(&wanted, argc, argv);
    }
    arena_destroy(arena);
    fflush(stdout);
    interruption_end();
    return code;
}

const struct command command_train = {
    .name = "train",
    .arguments = "SCENARIO [-o DIR] [OPTION]... | SCENARIO --merge DIR... [OPTION]...",
    .summary = "simulates a whole training on the calendar: failures, checkpoints, spares, days and price",
    .help = "Prints how long the training takes, with a band, and what its time goes to. The scenario's sections "
            "training, failures and checkpoint say what happens.\n\n"
            "  -o DIR                           write forecast.json, month.svg, calendar.csv and calendar.paje to DIR\n"
            "  --jobs J                         processes at a time; default: one for each processor\n"
            "  --time-limit TIME                such as 60s: stop then; Ctrl-C does the same\n"
            "  --resume                         go on where trainings into DIR were ended\n"
            "  --shard K/N|slurm                only part K of N, into DIR; slurm: K and N are those of the task of a "
            "job array\n"
            "  --merge DIR...                   join the parts in these directories\n"
            "  --slurm[=OPTIONS]                run as a job array of Slurm, with these options of sbatch\n"
            "  --format table|csv|json|latex|markdown   what is printed\n"
            "  --quiet                          no progress bar, no notes\n" OPTIONS_HELP
            "\nexample:\n  stagesim train scenarios/training.yaml --set failures.spares=4 -o out\n",
    .run = run,
};
