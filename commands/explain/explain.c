/* SPDX-License-Identifier: Apache-2.0 */
/* stagesim explain: why a measured step takes as long as it does. */
#include "base/arena.h"
#include "base/files/output.h"
#include "commands/cli/command.h"
#include "commands/cli/options.h"
#include "commands/explain/explain_parts.h"
#include "commands/explain/explain_run.h"
#include "studies/explain/steps.h"
#include "studies/explain/symmetry.h"
#include "studies/explain/verdict.h"
#include "studies/profile/clocks.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is asked ---- */

static bool ends_in(const char *text, const char *ending)
{
    size_t length = strlen(text), size = strlen(ending);
    return length >= size && !strcmp(text + length - size, ending);
}

static bool is_scenario(const char *file)
{
    return ends_in(file, ".yaml") || ends_in(file, ".yml");
}

/* What is recognised has to be the scenario's. */
static bool agrees(const struct explanation *e, struct diag *diag)
{
    const struct scenario *scenario = e->scenario;
    const struct recognised *found = &e->found;
    unsigned before = diag->errors;
    if (found->workers && scenario->workers != found->workers)
        diag_error(diag, scenario_place(scenario, "parallel.pipeline"),
                   "the scenario's pipeline has %u workers, that of the trace has %u", scenario->workers,
                   found->workers);
    const struct recorded *recorded = e->recorded;
    uint32_t highest = recorded->ranks[recorded->rank_count - 1].number;
    if (highest >= scenario->mesh.ranks)
        diag_error(diag, scenario_place(scenario, "parallel"), "the scenario has %u ranks, the trace has rank %u",
                   scenario->mesh.ranks, highest);
    return diag->errors == before;
}

/* Its schedule and its micro-batches are compared with those of a run of the scenario; an exit code. */
static int agree_on_order(struct explanation *e, const struct recorded *run, struct diag *diag)
{
    const struct scenario *scenario = e->scenario;
    uint32_t trace = e->found.micro_batches * e->found.slices,
             own = recognise_scenario(e->recorded, run, scenario, e->arena, &e->found);
    if (!trace || !own || own == trace)
        return EXIT_DONE;
    uint32_t slices = own / scenario->micro_batches;
    diag_error(diag, scenario_place(scenario, "batch"), "the scenario has %u micro-batches a step, the trace has %u",
               scenario->micro_batches, trace % slices ? trace : trace / slices);
    return EXIT_BAD_INPUT;
}

/* ---- the way through ---- */

/* An exit code, after what went wrong was said. */
static int write_files(const struct explanation *e, const char *directory)
{
    struct fault fault = {.text = ""};
    struct output *output = output_create(directory, &fault);
    FILE *json = output ? output_open(output, "explain.json", &fault) : NULL;
    FILE *page = json ? output_open(output, "explain.html", &fault) : NULL;
    bool opened = page != NULL, good = opened;
    if (opened) {
        explain_json(e, json);
        good = explain_page(e, page, &fault);
    }
    if (!good)
        output_abort(output);
    if (good && output_commit(output, &fault))
        return EXIT_DONE;
    diag_print(stderr, "stagesim: %s\n", fault.text);
    return opened ? EXIT_FAILED : EXIT_BAD_INPUT;
}

static int show(const struct options *options, const struct explanation *e)
{
    if (e->run)
        return EXIT_DONE;
    int code = options->output ? write_files(e, options->output) : EXIT_DONE;
    if (code != EXIT_DONE)
        return code;
    if (!options->quiet)
        explain_print(e, options->format, stdout);
    if (options->output && !options->quiet) {
        fflush(stdout);
        diag_print(stderr, "written to %s\n", options->output);
    }
    return EXIT_DONE;
}

/* The scenario's step with the measured computations: without what is wrong in one run and not in the next, and without
 * what is the host's and the network's. */
static struct sound_step sound_step_of(const struct losses *losses)
{
    const struct loss_part *parts = losses->parts;
    return (struct sound_step){.computing = losses->predicted + parts[LOSS_STAGES].seconds +
                                            parts[LOSS_FORWARD].seconds + parts[LOSS_BACKWARD].seconds +
                                            parts[LOSS_OTHER_COMPUTE].seconds,
                               .gaps = parts[LOSS_GAPS].seconds,
                               .messages = losses->slowness_of_messages,
                               .collectives = losses->slowness_of_collectives};
}

/* Ranks that the trace lacks. */
static void fill(struct explanation *e, const struct explain_model *model)
{
    uint32_t added = symmetry_fill(e->recorded, model->recorded);
    if (added)
        recorded_note(
            e->recorded,
            "%u of the scenario's %u ranks are not in the trace: they are taken to do what the first of their "
            "position does (--symmetric)",
            added, e->scenario->mesh.ranks);
}

static int explain_timeline(const struct options *options, struct explanation *e)
{
    struct diag diag = {.out = stderr};
    struct fault fault = {.text = ""};
    struct explain_model model = {0};
    recognise(e->recorded, e->arena, &e->found);
    if (e->scenario && !agrees(e, &diag))
        return EXIT_BAD_INPUT;
    int code = e->scenario ? model_run(e->scenario, &model) : EXIT_DONE;
    if (e->scenario && code == EXIT_DONE)
        code = agree_on_order(e, model.recorded, &diag);
    if (options->symmetric && code == EXIT_DONE)
        fill(e, &model);
    if (e->scenario && code == EXIT_DONE)
        code = model_ask_network(e->scenario, e->recorded, e->steps, e->step_count, &model, e->arena);
    struct loss_model expected = model_losses(&model);
    e->model = e->scenario ? &model : NULL;
    if (code == EXIT_DONE && !losses_find(e->recorded, e->steps, e->step_count, e->scenario ? &expected : NULL,
                                          e->arena, &e->losses, &fault)) {
        diag_print(stderr, "%s: error: %s\n", e->files[0], fault.text);
        code = EXIT_BAD_INPUT;
    }
    if (e->losses.unmatched)
        recorded_note(e->recorded, "%u messages have no other end in the trace: nothing is known of what they wait for",
                      e->losses.unmatched);
    if (model.network.left_out)
        recorded_note(e->recorded,
                      "%zu messages and collectives are of more sizes than are looked at: theirs are taken "
                      "for the scenario's",
                      model.network.left_out);
    if (model.shared.left_out)
        recorded_note(e->recorded,
                      "%zu collectives are of groups that are not the scenario's: on its links they take the recorded "
                      "time",
                      model.shared.left_out);
    if (model.shared.missing)
        recorded_note(e->recorded,
                      "the trace has %zu of the scenario's %u ranks: how its messages share links with those of the "
                      "others is not known",
                      e->recorded->rank_count, e->scenario->mesh.ranks);
    if (code == EXIT_DONE) {
        e->verdict = verdict_text(&e->losses, e->arena);
        code = show(options, e);
    }
    if (code == EXIT_DONE && (options->calibrate || e->run)) {
        struct sound_step sound = sound_step_of(&e->losses);
        struct link_source source = {e->losses.own, model.shared.seconds, network_times_alone};
        code = link_fit_find(e->scenario, e->recorded, &source, e->arena, &sound.links);
        sound.links.unseen = model.shared.missing > 0;
        code = code == EXIT_DONE ? explain_calibrate(options, e, &sound) : code;
    }
    if (e->model)
        model_finish(&model);
    return code;
}

static const struct scenario *load_scenario(const struct options *options, struct arena *arena)
{
    struct diag diag = {.out = stderr};
    struct scenario_request request = {options->files[0], options->sets, options->set_count, NULL, options->plugins};
    const struct scenario_set all = {.text = "output.replicas=all"}; /* missing ranks do what those of it do */
    if (options->symmetric)
        request = scenario_request_with(&request, &all, 1, arena);
    return scenario_load(&request, arena, &diag);
}

static int explain_files(const struct options *options, const struct explain_run *asked, struct arena *arena)
{
    struct diag diag = {.out = stderr};
    int first = is_scenario(options->files[0]);
    struct explanation e = {.run = asked,
                            .files = (const char *const *)options->files + first,
                            .file_count = (size_t)(options->file_count - first),
                            .arena = arena};
    if (first && !(e.scenario = load_scenario(options, arena)))
        return EXIT_BAD_INPUT;
    struct recorded *recorded = recorded_read(e.files, e.file_count, &diag);
    if (!recorded)
        return diag.trouble && diag.errors == 1 ? EXIT_FAILED : EXIT_BAD_INPUT;
    clocks_align(recorded);
    uint32_t *steps = replay_steps(recorded, &e.step_count);
    steps_note(recorded, steps, e.step_count);
    e.recorded = recorded;
    e.steps = steps;
    int code = EXIT_BAD_INPUT;
    if (recorded->timeline && options->symmetric && (!e.scenario || !recorded->wait_count))
        diag_error(&diag, (struct place){e.files[0], 0, 0}, "of a job's timeline --symmetric wants %s",
                   e.scenario ? "one that says what waits for what, such as operations.csv"
                              : "a scenario, which says what the other ranks are");
    else if (!recorded->timeline)
        code = explain_profile(options, &e);
    else if (!e.step_count)
        diag_error(&diag, (struct place){e.files[0], 0, 0}, "it has no step");
    else
        code = explain_timeline(options, &e);
    free(steps);
    recorded_destroy(recorded);
    return code;
}

int explain_run(const struct explain_run *run, struct arena *arena)
{
    const struct calibration_request *beside = run->beside;
    const char **files = arena_array(arena, run->trace_count + 1, sizeof *files);
    struct options options = {.plugins = beside->plugins, .quiet = true};
    options.sets = arena_array(arena, beside->set_count + 1, sizeof *options.sets);
    if (beside->set_count)
        memcpy(options.sets, beside->sets, beside->set_count * sizeof *options.sets);
    options.set_count = beside->set_count;
    files[0] = run->scenario;
    for (size_t i = 0; i < run->trace_count; i++)
        files[i + 1] = run->traces[i];
    options.files = (char *const *)(uintptr_t)files;
    options.file_count = (int)run->trace_count + 1;
    return explain_files(&options, run, arena);
}

static int run(const struct command *command, int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct options options;
    int code = EXIT_USAGE;
    if (options_read(command, "wfc", argc, argv, arena, &options)) {
        int scenarios = options.file_count && is_scenario(options.files[0]);
        if (options.file_count <= scenarios)
            code = command_usage(command, "expected a trace, or a scenario and a trace");
        else if (!scenarios && options.calibrate)
            code = command_usage(command, "--calibrate wants a scenario, which it calibrates");
        else if (options.symmetric && options.calibrate)
            code = command_usage(command, "--symmetric supposes what --calibrate wants measured");
        else if (!scenarios && options.set_count)
            code = command_usage(command, "--set and its like change a scenario, and none is given");
        else
            code = explain_files(&options, NULL, arena);
    }
    arena_destroy(arena);
    return code;
}

const struct command command_explain = {
    .name = "explain",
    .arguments = "[SCENARIO.yaml] TRACE... [OPTION]...",
    .summary = "says why a measured step takes as long as it does",
    .help =
        "Reads recorded steps, replays them, and splits what lies between the measured and the expected time among "
        "its causes. With a\n"
        "scenario, the expected time is what that predicts; without, what the trace's own medians give.\n\n"
        "  TRACE                            profiles of PyTorch (Kineto, a file a rank), a job's timeline "
        "(StragglerAnalysis),\n"
        "                                   each .json or .json.gz; reports of Nsight Systems (.sqlite); Chakra's "
        "traces\n"
        "                                   with times (.et); or what `run --trace csv`, `chrome` or `paje` wrote\n"
        "  -o DIR                           write explain.html and explain.json to DIR\n"
        "  --calibrate FILE                 write a profile that makes the scenario's step that of the trace without "
        "what is wrong in it:\n"
        "                                   times of operators, gaps, what links of each kind reach\n"
        "  --symmetric                      ranks that are not given do what those like them do\n"
        "  --format text|csv|json|latex|markdown  of the table\n"
        "  --quiet                          print nothing\n" OPTIONS_HELP
        "\nexample:\n  stagesim explain scenarios/demo.yaml out/operations.csv -o why\n",
    .run = run,
};
