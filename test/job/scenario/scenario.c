/* SPDX-License-Identifier: Apache-2.0 */
#include "job/scenario/scenario.h"

#include "base/arena.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Each test has a folder of its own with a platform file. */
static struct arena *arena;
static char folder[64];
static char *messages;
static size_t messages_size;
static struct diag diag;

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    cr_assert(file && fputs(text, file) >= 0 && !fclose(file));
}

static void setup(void)
{
    arena = arena_create();
    strcpy(folder, "/tmp/stagesim-scenario-XXXXXX");
    cr_assert(mkdtemp(folder));
    write_file("p.xml", "<platform/>");
    diag = (struct diag){.out = open_memstream(&messages, &messages_size)};
}

static void teardown(void)
{
    char command[128];
    fclose(diag.out);
    free(messages);
    arena_destroy(arena);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(scenario, .init = setup, .fini = teardown, .timeout = 20);

#define HEAD "platform: p.xml\nworkload: stages\nstages: {forward: 1s, backward: 2s}\n"

/* Loads text with overrides (NULL-terminated; NULL: none) and a replacing schedule. */
static struct scenario *load(const char *text, const char *const *sets, const char *schedule)
{
    char path[128];
    struct scenario_set list[8];
    struct scenario_request request = {.file = path, .sets = list, .schedule = schedule, .plugins = true};
    for (; sets && sets[request.set_count]; request.set_count++)
        list[request.set_count] = (struct scenario_set){.text = sets[request.set_count]};
    write_file("s.yaml", text);
    snprintf(path, sizeof path, "%s/s.yaml", folder);
    struct scenario *scenario = scenario_load(&request, arena, &diag);
    fflush(diag.out);
    return scenario;
}

static struct scenario *load_good(const char *text)
{
    struct scenario *scenario = load(text, NULL, NULL);
    cr_assert(scenario, "%s", messages);
    return scenario;
}

/* Loading must fail, and the messages must hold `expected`. */
static void load_bad(const char *text, const char *const *sets, const char *expected)
{
    cr_assert_null(load(text, sets, NULL), "accepted: %s", text);
    cr_assert(strstr(messages, expected), "not in the messages: %s\n%s", expected, messages);
}

Test(scenario, values_of_the_whole_file)
{
    const struct scenario *s = load_good(
        HEAD
        "parallel: {data: 8, pipeline: 4, tensor: 2}\norder: [tensor, pipeline, data]\n"
        "batch: {global: 512, micro: 8}\nschedule: {name: chimera, pairs: 2, concatenation: halving, recompute: none}\n"
        "engine: both\nfold: off\niterations: 3\nsimgrid: {network/model: CM02, cpu/optim: Lazy}\n"
        "output: {trace: [paje, csv], picture: png, report: true, replicas: all}\n");
    cr_assert_str_eq(s->name, "s");
    cr_assert_str_eq(s->platform.text, "p.xml");
    cr_assert_eq(access(s->platform.file, R_OK), 0);
    cr_assert_str_eq(s->workload->name, "stages");
    cr_assert(s->workers == 4 && s->data == 8 && s->mesh.ranks == 64 && s->mesh.positions == 4 &&
              s->mesh.replicas == 16);
    cr_assert(s->micro_batches == 8 && s->micro_batch_size == 8 && s->global_batch == 512);
    cr_assert_str_eq(s->schedule_name, "chimera");
    cr_assert(s->options[0] == 2 && s->options[1] == 3);
    cr_assert_eq(s->recompute, RECOMPUTE_NONE);
    load_bad(HEAD "schedule: {name: 1f1b, recompute: full}\n", NULL, "schedule.recompute changes nothing here");
    cr_assert(s->engine == ENGINE_BOTH && s->fold == FOLD_OFF && s->iterations == 3);
    cr_assert_eq(s->simgrid_count, 2);
    cr_assert_str_eq(s->simgrid[1], "cpu/optim:Lazy");
    cr_assert(s->traces == (TRACE_PAJE | TRACE_CSV) && s->pictures == PICTURE_PNG && s->report && s->all_replicas);
}

Test(scenario, defaults)
{
    const struct scenario *s = load_good(HEAD);
    cr_assert(s->workers == 1 && s->data == 1 && s->mesh.ranks == 1 && s->mesh.axis_count == 2);
    cr_assert(s->micro_batches == 0 && !s->schedule && !s->schedule_name && s->iterations == 1);
    cr_assert(s->engine == ENGINE_SIMGRID && s->fold == FOLD_AUTO && s->recompute == RECOMPUTE_NONE);
    cr_assert(!s->traces && !s->pictures && !s->report && !s->all_replicas && !s->simgrid_count);
    cr_assert(!scenario_check_pipeline(s, &diag));
    fflush(diag.out);
    cr_assert(strstr(messages, "has no batch") && strstr(messages, "has no schedule"), "%s", messages);
}

static void expect_axes(const struct scenario *s, const char *expected)
{
    char text[256] = "";
    for (unsigned i = 0; i < s->mesh.axis_count; i++)
        sprintf(text + strlen(text), "%s%s %u/%u%s", i ? ", " : "", s->mesh.axes[i].name, s->mesh.axes[i].size,
                s->mesh.axes[i].stride, s->mesh.axes[i].distinct ? " distinct" : "");
    cr_assert_str_eq(text, expected);
}

Test(scenario, order_of_axes)
{
    expect_axes(load_good(HEAD "parallel: {data: 2, pipeline: 3, tensor: 5, context: 7}\n"),
                "tensor 5/1, context 7/5, pipeline 3/35 distinct, data 2/105");
    expect_axes(load_good(HEAD "parallel: {data: 2, pipeline: 3, tensor: 1}\norder: [tensor, data, pipeline]\n"),
                "data 2/1, pipeline 3/2 distinct");
    expect_axes(load_good(HEAD "parallel: {x: 2, y: 3, z: 4}\norder: [z, y, x]\n"),
                "z 4/1, y 3/4, x 2/12, pipeline 1/24 distinct, data 1/24");
    load_bad(HEAD "parallel: {data: 2, pipeline: 3}\norder: [data]\n", NULL,
             "s.yaml:5:8: error: order leaves out 'pipeline', of which there are 3");
}

Test(scenario, experts_are_shared_along_context_and_data)
{
    expect_axes(load_good(HEAD "parallel: {data: 12, pipeline: 2, tensor: 2, expert: 4}\n"),
                "tensor 2/1, pipeline 2/2 distinct, data 4/4, data 3/16");
    const struct scenario *s = load_good(HEAD "parallel: {data: 6, context: 4, expert: 8}\n");
    expect_axes(s, "context 4/1, pipeline 1/4 distinct, data 2/4, data 3/8");
    cr_assert(s->mesh.ranks == 24 && s->data == 6 && mesh_size(&s->mesh, "expert") == 8 &&
              mesh_size(&s->mesh, "data") == 6);
    expect_axes(load_good(HEAD "parallel: {data: 6, context: 4, expert: 2}\n"),
                "context 2/1, context 2/2, pipeline 1/4 distinct, data 6/4");
    load_bad(HEAD "parallel: {data: 6, context: 4, expert: 3}\n", NULL,
             "s.yaml:4:41: error: experts cannot be shared by 3 neighbours");
    load_bad(HEAD "parallel: {data: 6, expert: 3}\norder: [expert, data]\n", NULL,
             "s.yaml:5:9: error: order names 'expert'");
}

Test(scenario, batch_arithmetic)
{
    const struct scenario *s = load_good(HEAD "parallel: {data: 4}\nbatch: {global: 96, micro_batches: 8}\n");
    cr_assert(s->micro_batch_size == 3 && s->global_batch == 96 && s->micro_batches == 8);
    s = load_good(HEAD "parallel: {data: 4}\nbatch: {micro: 3, micro_batches: 8}\n");
    cr_assert_eq(s->global_batch, 96);
    s = load_good(HEAD "parallel: {data: 4}\nbatch: {global: 96, micro: 3, micro_batches: 8}\n");
    cr_assert_eq(s->global_batch, 96);
    s = load_good(HEAD "batch: {micro_batches: 8}\n");
    cr_assert(s->global_batch == 0 && s->micro_batch_size == 0 && s->micro_batches == 8);
    s = load_good(HEAD "parallel: {data: 1048576}\nbatch: {micro: 65536, micro_batches: 16777216}\n");
    cr_assert_eq(s->global_batch, (uint64_t)1 << 60, "the largest product fits");
    load_bad(HEAD "parallel: {data: 4}\nbatch: {global: 98, micro: 3}\n", NULL,
             "global is 98, no multiple of micro 3 x data 4 = 12; 96 or 108");
    load_bad(HEAD "batch: {global: 16777217, micro: 1}\n", NULL, "at most 16777216 times");
}

Test(scenario, ranks_are_bounded)
{
    cr_assert_eq(load_good(HEAD "parallel: {data: 1024, tensor: 1024}\n")->mesh.ranks, 1u << 20);
    load_bad(HEAD "parallel: {data: 1024, tensor: 1025}\n", NULL,
             "data 1024 x tensor 1025 are more than 1048576 ranks");
}

Test(scenario, the_schedule_may_be_a_word)
{
    const char *const sets[] = {"schedule.pairs=2", "parallel.pipeline=4", "batch.micro_batches=4", NULL};
    const struct scenario *s = load(HEAD "schedule: chimera\n", sets, NULL);
    cr_assert(s, "%s", messages);
    cr_assert_str_eq(s->schedule_name, "chimera");
    cr_assert_eq(s->options[0], 2);
    cr_assert_eq(scenario_schedule_request(s).options[0], 2);
    cr_assert_eq(scenario_schedule_request(s).workers, 4);
    cr_assert_eq(scenario_schedule_request(s).micro_batches, 4);
}

Test(scenario, a_replacing_schedule_takes_only_its_own_options)
{
    const char *text = HEAD "parallel: {pipeline: 3}\nbatch: {micro_batches: 5}\nschedule: {name: chimera, pairs: 2}\n";
    const struct scenario *s = load(text, NULL, "1f1b");
    cr_assert(s, "%s", messages);
    cr_assert_str_eq(s->schedule_name, "1f1b");
    cr_assert(scenario_check_pipeline(s, &diag));
    /* A replacement that does not fit is for the caller to find. */
    s = load(HEAD "parallel: {pipeline: 3}\nbatch: {micro_batches: 5}\nschedule: gpipe\n", NULL, "chimera");
    cr_assert(s, "%s", messages);
    cr_assert(!scenario_check_pipeline(s, &diag));
    /* A key that no schedule knows stays a mistake, and so does an unknown replacement. */
    unsigned errors = diag.errors;
    cr_assert_null(load(HEAD "schedule: {name: chimera, pears: 2}\n", NULL, "1f1b"));
    cr_assert_null(load(text, NULL, "1f2b"));
    cr_assert_eq(diag.errors, errors + 2);
    cr_assert(strstr(messages, "--schedules: error: there is no schedule '1f2b'; did you mean '1f1b'?"), "%s",
              messages);
}

Test(scenario, a_schedule_file_stands_for_a_name)
{
    write_file("mine.csv", "worker,kind,stage,micro_batch\n");
    const struct scenario *s = load_good(HEAD "schedule: {file: mine.csv}\nbatch: {micro_batches: 4}\n");
    cr_assert_null(s->schedule);
    cr_assert_str_eq(s->schedule_name, "mine");
    cr_assert_eq(access(s->schedule_file, R_OK), 0);
    cr_assert(scenario_check_pipeline(s, &diag));
    s = load(HEAD "schedule: {file: mine.csv}\n", NULL, "gpipe");
    cr_assert(s && s->schedule && !s->schedule_file, "%s", messages);
}

Test(scenario, places_for_later_checks)
{
    const char *const sets[] = {"parallel.data=2", NULL};
    const struct scenario *s = load(HEAD "parallel:\n  pipeline: 4\n", sets, NULL);
    cr_assert(s, "%s", messages);
    struct place at = scenario_place(s, "parallel.pipeline");
    cr_assert(at.line == 5 && at.column == 13);
    at = scenario_place(s, "parallel.data");
    cr_assert_str_eq(at.file, "--set parallel.data");
    at = scenario_workload_place(s, "backward");
    cr_assert(at.line == 3 && at.column == 33, "%u:%u", at.line, at.column);
    at = scenario_workload_place(s, "message"); /* not given: the section */
    cr_assert(at.line == 3 && at.column == 1);
    at = scenario_workload_place(s, NULL);
    cr_assert(at.line == 3 && at.column == 9);
    at = scenario_workload_place(s, "model.layers"); /* no such section: the workload */
    cr_assert(at.line == 2 && at.column == 11);
}

Test(scenario, too_few_gpus_names_both_numbers_and_places)
{
    const struct scenario *s = load_good(HEAD "parallel: {data: 4, pipeline: 8}\n");
    struct platform platform = {.host_count = 16};
    cr_assert(!scenario_check_platform(s, &platform, &diag));
    fflush(diag.out);
    cr_assert(strstr(messages, "s.yaml:4:11: error: data 4 x pipeline 8 needs 32 GPUs, but the platform has 16\n"),
              "%s", messages);
    cr_assert(strstr(messages, "s.yaml:1:11: note: "), "%s", messages);
    cr_assert_eq(diag.errors, 1);
    platform.host_count = 32;
    cr_assert(scenario_check_platform(s, &platform, &diag));
}

Test(scenario, options_are_places_too)
{
    char path[128];
    struct scenario_set set = {"--engine", "engine=simgird"};
    write_file("s.yaml", HEAD);
    snprintf(path, sizeof path, "%s/s.yaml", folder);
    struct scenario_request request = {.file = path, .sets = &set, .set_count = 1};
    cr_assert_null(scenario_load(&request, arena, &diag));
    fflush(diag.out);
    cr_assert(strstr(messages, "--engine: error: engine: 'simgird' is not known"), "%s", messages);
}

Test(scenario, all_mistakes_come_in_one_run)
{
    load_bad("platform: none.xml\nworkload: stages\nstages: {forward: 1, backwrd: 2s}\nparallel: {pipeline: "
             "0}\nengine: fast\n"
             "output: {trace: all}\niterations: -1\nsimgrid: 3\norder: 3\nbatch: {}\nschedule: {}\nfoo: 1\n",
             NULL, "none.xml");
    cr_assert_eq(diag.errors, 12, "%s", messages);
}

/* The layout of the parameters of test/plugins/plugin.c. */
struct parameters {
    uint64_t layers, hidden;
    double seconds;
    bool overlap;
    const char *profile;
};

#define PLUGIN_HEAD "platform: p.xml\nworkload: " PLUGIN_DIR "/sections.so\n"

Test(scenario, a_workload_reads_other_sections)
{
    const struct scenario *s =
        load_good(PLUGIN_HEAD "sections: {seconds: 2s}\nmodel: {layers: 12}\ncommunication: {overlap: true}\n");
    const struct parameters *p = s->parameters;
    cr_assert(p->layers == 12 && p->hidden == 5 && p->seconds == 2 && p->overlap && !p->profile,
              "the default of hidden is 5");
    load_bad(PLUGIN_HEAD "model: {hidden: 3, seconds: 1s}\ncommunication: {overlapp: true}\nstages: {}\n", NULL,
             "model has no 'layers'");
    cr_assert(strstr(messages, "'seconds' is not a key of model"));
    cr_assert(strstr(messages, "'overlapp' is not a key of communication; did you mean 'overlap'?"));
    cr_assert(strstr(messages, "'stages' is not a key of the scenario"));
    cr_assert_eq(diag.errors, 4, "%s", messages);
}

Test(scenario, a_section_may_be_a_file)
{
    char command[128];
    snprintf(command, sizeof command, "mkdir '%s/models'", folder);
    cr_assert_eq(system(command), 0);
    write_file("models/big.yaml", "layers: 96\nprofile: times.csv\n");
    write_file("models/times.csv", "1\n");
    const char *const sets[] = {"model.hidden=7", NULL};
    const struct scenario *s = load(PLUGIN_HEAD "model: models/big.yaml\n", sets, NULL);
    cr_assert(s, "%s", messages);
    const struct parameters *p = s->parameters;
    cr_assert(p->layers == 96 && p->hidden == 7);
    cr_assert(strstr(p->profile, "/models/times.csv"), "files of a file start where it lies: %s", p->profile);
    struct place at = scenario_workload_place(s, "model.layers");
    cr_assert(strstr(at.file, "models/big.yaml") && at.line == 1 && at.column == 9);
    snprintf(command, sizeof command, "%s/models", folder);
    setenv("STAGESIM_MODELS", command, 1);
    s = load_good(PLUGIN_HEAD "model: big\n"); /* an installed model */
    cr_assert_eq(((const struct parameters *)s->parameters)->layers, 96);
    write_file("models/big.yaml", "layers: many\n");
    load_bad(PLUGIN_HEAD "model: big\n", NULL, "models/big.yaml:1:9: error: layers: 'many'");
}

Test(scenario, sections_of_stagesim_are_not_for_workloads)
{
    load_bad("platform: p.xml\nworkload: " PLUGIN_DIR "/own-section.so\nmodel: {layers: 1}\n", NULL,
             "wants the section 'batch'");
}

/* Outputs call a preset by its name, nodes and interface, and all that was asked for beyond. */
Test(scenario, a_preset_has_a_name)
{
    static const char rest[] = "\nworkload: stages\nstages: {forward: 1s, backward: 2s}\n";
    static const struct {
        const char *platform, *name;
    } cases[] = {
        {"platform: {preset: dgx-h100, nodes: 4}", "dgx-h100:4"},
        {"platform: {preset: dgx-h100, nodes: 4, pod: 2}", "dgx-h100:4 (pod 2)"},
        {"platform: {preset: dgx-h100, nodes: 4, gpus_per_node: 2, pod: 2, oversubscription: 2}",
         "dgx-h100:4 (gpus_per_node 2, pod 2, oversubscription 2)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, "%s%s", cases[i].platform, rest);
        cr_expect_str_eq(load_good(text)->platform_name, cases[i].name);
    }
}

Test(scenario, platforms_are_found_where_installed)
{
    setenv("STAGESIM_PLATFORMS", folder, 1);
    write_file("cluster.xml", "<platform/>");
    char *text = "platform: cluster\nworkload: stages\nstages: {forward: 1s, backward: 2s}\n";
    const struct scenario *s = load_good(text);
    cr_assert(strstr(s->platform.file, "/cluster.xml"));
    cr_assert_str_eq(s->platform.text, "cluster");
}
