/* SPDX-License-Identifier: Apache-2.0 */
/* stagesim train: a whole training on the calendar. */
#include "base/arena.h"
#include "base/files/output.h"
#include "base/standard_streams.h"
#include "commands/cli/command.h"
#include "commands/cli/options.h"
#include "commands/cli/words.h"
#include "commands/train/train_output.h"
#include "job/write/inputs.h"
#include "studies/goodput.h"
#include "studies/record.h"
#include "studies/simulation.h"
#include "training/forecast_text.h"

#include <math.h>
#include <stdlib.h>

/* The run whose calendar is shown. */
static struct training_diary make_diary(const struct train_view *view, struct arena *arena)
{
    struct training_forecast again = {0};
    struct training_settings settings = view->scenario->training;
    settings.interval = view->forecast->interval; /* chosen already */
    settings.interval_steps = 0;
    const struct training_plan *plan = training_plan_of(&settings, view->job, &again, arena);
    struct training_diary diary = {.end = train_month_seconds};
    training_simulate(plan, 0, &diary);
    return diary;
}

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

static int write_files(const char *directory, const char *typed, const struct train_view *view)
{
    struct fault fault = {""};
    struct record_notes notes = {0};
    struct output *output = output_create(directory, &fault);
    bool written = output && write_json(output, view, &fault) && write_calendar(output, view, &fault) &&
                   record_scenario(output, directory, "", view->scenario, false, &fault) &&
                   record_about(output, typed, &view->scenario, 1, &notes, &fault);
    bool done = written && output_commit(output, &fault);
    int code = done ? EXIT_DONE : output && !fault.refused ? EXIT_FAILED : EXIT_BAD_INPUT;
    if (!written)
        output_abort(output);
    if (fault.text[0])
        diag_print(stderr, "stagesim: %s\n", fault.text);
    return code;
}

static int show(const struct options *options, const char *typed, struct train_view *view, struct arena *arena)
{
    struct training_diary diary = {0};
    int code = EXIT_DONE;
    if (view->forecast->outcome.stuck) {
        diag_error(&(struct diag){.out = stderr}, scenario_place(view->scenario, "failures"), "%s",
                   forecast_sentence(view->forecast, view->currency, arena));
        return EXIT_BAD_INPUT;
    }
    if (options->output) {
        diary = make_diary(view, arena);
        view->diary = &diary;
        code = write_files(options->output, typed, view);
    }
    if (code == EXIT_DONE) {
        train_print(stdout, view, options->format);
        fflush(stdout);
    }
    if (code == EXIT_DONE && options->output && !options->quiet)
        diag_print(stderr, "written to %s\n", options->output);
    free(diary.spans);
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

static int train(const struct options *options, const char *typed, struct arena *arena)
{
    struct diag diag = {.out = stderr};
    struct scenario_request request = {options->files[0], options->sets, options->set_count, NULL, options->plugins};
    struct scenario *scenario = scenario_load(&request, arena, &diag);
    if (!scenario)
        return EXIT_BAD_INPUT;
    if (!scenario->training.given || !goodput_has_length(scenario))
        return refuse(scenario);
    struct simulation_request asked = {.scenario = scenario, .command = typed, .quiet = options->quiet};
    struct simulation_result result = {0};
    int code = simulate(&asked, &result);
    gantt_destroy(result.gantt);
    if (code != EXIT_DONE)
        return code;
    const struct comparison_row *row = &result.rows[result.row_count - 1];
    struct train_view view = {.scenario = scenario,
                              .forecast = &row->forecast,
                              .job = &row->training,
                              .mfu = row->mfu / fmax(1, row->forecast.redundancy),
                              .currency = scenario_word(scenario, "transformer.currency")};
    if (!options->quiet)
        scenario_tell(scenario, &diag);
    return row->forecast.known ? show(options, typed, &view, arena) : refuse(scenario);
}

static int run(const struct command *command, int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct options options;
    const char *typed = words_command(command, &(struct words_typed){argc, argv}, NULL, 0, arena);
    int code = EXIT_USAGE;
    if (options_read(command, "wf", argc, argv, arena, &options))
        code = options.file_count == 1 ? train(&options, typed, arena)
                                       : command_usage(command, "expected one scenario, got %d", options.file_count);
    arena_destroy(arena);
    return code;
}

const struct command command_train = {
    .name = "train",
    .arguments = "SCENARIO [-o DIR] [OPTION]...",
    .summary = "simulates a whole training on the calendar: failures, checkpoints, spares, days and price",
    .help = "Prints how long the training takes, with a band, and what its time goes to. The scenario's sections "
            "training, failures and checkpoint say what happens.\n\n"
            "  -o DIR                           write forecast.json, month.svg, calendar.csv and calendar.paje to DIR\n"
            "  --format table|csv|json|latex|markdown   what is printed\n"
            "  --quiet                          no progress bar, no notes\n" OPTIONS_HELP
            "\nexample:\n  stagesim train scenarios/training.yaml --set failures.spares=4 -o out\n",
    .run = run,
};
