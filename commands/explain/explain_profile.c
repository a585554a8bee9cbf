/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of kernels: what the steps of one or more ranks are made of. */
#include "base/arena.h"
#include "base/exit_code.h"
#include "base/files/output.h"
#include "commands/explain/explain_parts.h"
#include "commands/explain/profile_parts.h"

#include <math.h>

/* What the profile says of its job has to be the scenario's. */
static bool agrees(const struct explanation *e, const struct axes *axes, struct diag *diag)
{
    const struct scenario *scenario = e->scenario;
    uint32_t world = e->recorded->world, highest = e->recorded->ranks[e->recorded->rank_count - 1].number;
    if (world && world != scenario->mesh.ranks)
        diag_error(diag, scenario_place(scenario, "parallel"), "the scenario has %u ranks, the job of the trace %u",
                   scenario->mesh.ranks, world);
    else if (highest >= scenario->mesh.ranks)
        diag_error(diag, scenario_place(scenario, "parallel"), "the scenario has %u ranks, the trace has rank %u",
                   scenario->mesh.ranks, highest);
    for (int axis = 0; axis < AXES && !diag->errors; axis++) {
        uint32_t size = mesh_size(&scenario->mesh, axes_names[axis]);
        if (axes->found[axis].told && axes->found[axis].size != size)
            diag_error(diag, scenario_place(scenario, "parallel"),
                       "the scenario has %s: %u, the process groups of the trace have %u", axes_names[axis], size,
                       axes->found[axis].size);
    }
    return !diag->errors;
}

/* An exit code, after what went wrong was said. */
static int write_files(const struct profile_explanation *e, const char *directory)
{
    struct fault fault = {.text = ""};
    struct output *output = output_create(directory, &fault);
    FILE *json = output ? output_open(output, "explain.json", &fault) : NULL;
    FILE *page = json ? output_open(output, "explain.html", &fault) : NULL;
    bool opened = page != NULL;
    if (opened) {
        profile_json(e, json);
        profile_page(e, page);
    } else {
        output_abort(output);
    }
    if (opened && output_commit(output, &fault))
        return EXIT_DONE;
    diag_print(stderr, "stagesim: %s\n", fault.text);
    return opened ? EXIT_FAILED : EXIT_BAD_INPUT;
}

static int show(const struct options *options, const struct profile_explanation *e)
{
    int code = options->output ? write_files(e, options->output) : EXIT_DONE;
    if (code != EXIT_DONE)
        return code;
    if (!options->quiet)
        profile_print(e, options->format, stdout);
    if (options->output && !options->quiet) {
        fflush(stdout);
        diag_print(stderr, "written to %s\n", options->output);
    }
    return EXIT_DONE;
}

/* Collectives whose other members are not in the trace show no waiting of their own. */
static void note_alone(struct explanation *e, const struct meetings *meetings)
{
    if (meetings->completed)
        recorded_note(e->recorded,
                      "%zu collectives lack members in the trace, which are taken to come with the last of those that "
                      "are there (--symmetric)",
                      meetings->completed);
    else if (meetings->alone)
        recorded_note(e->recorded,
                      "%zu collectives have no other member in the trace: their time holds what the rank waited for "
                      "others",
                      meetings->alone);
}

/* The scenario's step with the measured computation, and what of it the host lets pass. */
static struct sound_step sound_step_of(const struct profile_explanation *own)
{
    static const enum profile_part hosts[] = {PROFILE_LOADING, PROFILE_SYNC, PROFILE_HOST, PROFILE_LAUNCH};
    const double *parts = own->profile.parts, *expected = own->expected.parts;
    struct sound_step sound = {.computing = own->expected.seconds + parts[PROFILE_COMPUTE] - expected[PROFILE_COMPUTE],
                               .messages = NAN,
                               .collectives = NAN};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        sound.gaps += parts[hosts[i]];
    return sound;
}

/* What its transfers take on the scenario's links; an exit code. */
static int find_network(struct explanation *e, struct profile_explanation *own)
{
    int code = kernel_network_find(e->scenario, e->recorded, e->arena, &own->network);
    if (own->network.missing)
        recorded_note(e->recorded,
                      "the trace has %zu of the scenario's %u ranks: how its messages share links with those of the "
                      "others is not known",
                      e->recorded->rank_count, e->scenario->mesh.ranks);
    if (own->network.left_out)
        recorded_note(e->recorded,
                      "of %u collectives the trace does not say what they are, or how many bytes they have: on the "
                      "scenario's links they take the recorded time",
                      own->network.left_out);
    return code;
}

/* What links of each kind reached, where all ranks are given; an exit code. */
static int fit_links(const struct explanation *e, const struct profile_explanation *own, struct sound_step *sound)
{
    struct fault fault = {.text = ""};
    if (!own->network.known)
        return EXIT_DONE;
    struct link_source source = {kernel_network_own(e->recorded, e->arena, &fault), own->network.shared,
                                 kernel_network_alone};
    if (source.own)
        return link_fit_find(e->scenario, e->recorded, &source, e->arena, &sound->links);
    diag_print(stderr, "stagesim: %s\n", fault.text);
    return EXIT_FAILED;
}

int explain_profile(const struct options *options, struct explanation *e)
{
    struct diag diag = {.out = stderr};
    struct fault fault = {.text = ""};
    struct explain_model model = {0};
    struct profile_explanation own = {.files = e->files,
                                      .file_count = e->file_count,
                                      .recorded = e->recorded,
                                      .name = e->scenario ? e->scenario->name : e->files[0],
                                      .arena = e->arena};
    axes_find(e->recorded, &own.axes);
    layer_rows_find(e->recorded, &own.layers);
    if (e->scenario && !agrees(e, &own.axes, &diag))
        return EXIT_BAD_INPUT;
    int code = e->scenario ? model_run(e->scenario, &model) : EXIT_DONE;
    meetings_find(e->recorded, options->symmetric, e->arena, &own.meetings);
    note_alone(e, &own.meetings);
    axes_note(e->recorded, &own.axes);
    profile_find(e->recorded, &own.meetings, e->arena, &own.profile);
    if (e->scenario && code == EXIT_DONE)
        code = find_network(e, &own);
    if (code == EXIT_DONE &&
        (!operators_find(e->recorded, &own.profile, e->arena, &own.operators, &fault) ||
         !kernel_replay_find(e->recorded, own.profile.step_count, &own.network, &own.replay, &fault))) {
        diag_print(stderr, "stagesim: %s\n", fault.text);
        code = EXIT_FAILED;
    }
    if (e->scenario && code == EXIT_DONE) {
        struct meetings meetings;
        own.predicted = model.recorded;
        meetings_find(model.recorded, false, e->arena, &meetings);
        profile_find(model.recorded, &meetings, e->arena, &own.expected);
    }
    if (code == EXIT_DONE && !(own.profile.seconds > 0)) {
        diag_error(&diag, (struct place){e->files[0], 0, 0}, "its steps take no time");
        code = EXIT_BAD_INPUT;
    }
    if (code == EXIT_DONE) {
        own.verdict = profile_verdict(&own);
        code = e->run ? EXIT_DONE : show(options, &own);
    }
    if (code == EXIT_DONE && (options->calibrate || e->run)) {
        struct sound_step sound = sound_step_of(&own);
        code = fit_links(e, &own, &sound);
        code = code == EXIT_DONE ? explain_calibrate(options, e, &sound) : code;
    }
    if (e->scenario)
        model_finish(&model);
    return code;
}
