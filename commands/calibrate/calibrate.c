/* SPDX-License-Identifier: Apache-2.0 */
/* stagesim calibrate: from measured runs to a framework's profile of one's own. */
#include "studies/calibrate/calibrate.h"
#include "commands/cli/option_next.h"

#include "base/arena.h"
#include "commands/calibrate/calibrate_output.h"
#include "commands/calibrated/calibrated_profile.h"
#include "commands/cli/command.h"
#include "commands/cli/result.h"
#include "commands/cli/words.h"
#include "commands/explain/explain_run.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    struct arena *arena;
    struct calibration_request request;
    const char **measured;
    struct scenario_set *sets;
    const char *output, *format, *page, *picture, *picture_width, *font_size;
    enum canvas_format picture_format;
    struct picture_form form;
    struct calibration calibration;
    bool quiet;
};

static const struct option long_options[] = {
    {"measured", required_argument, NULL, 'm'},
    {"set", required_argument, NULL, 's'},
    {"plugins", no_argument, NULL, 'p'},
    {"format", required_argument, NULL, 'f'},
    {"page", required_argument, NULL, 'P'},
    {"picture", required_argument, NULL, 'i'},
    {"picture-width", required_argument, NULL, 'V'},
    {"font-size", required_argument, NULL, 'Z'},
    {"output", required_argument, NULL, 'o'},
    {"quiet", no_argument, NULL, 'q'},
    {NULL, 0, NULL, 0},
};

static int read_picture(const struct command *command, struct arguments *a)
{
    const char *dot = strrchr(a->picture, '.');
    if (dot && canvas_format_of(dot + 1, &a->picture_format))
        return 0;
    return command_usage(command, "'%s': expected a picture that ends in .svg, .png or .pdf", a->picture);
}

static int read_option(const struct command *command, int option, struct arguments *a)
{
    switch (option) {
    case 'm':
        a->measured[a->request.measured_count++] = optarg;
        return 0;
    case 's':
        if (!strchr(optarg, '='))
            return command_usage(command, "'%s' is no KEY=VALUE such as framework=megatron", optarg);
        a->sets[a->request.set_count++] = (struct scenario_set){.text = optarg};
        return 0;
    case 'p':
        a->request.plugins = true;
        return 0;
    case 'f':
        a->format = optarg;
        return 0;
    case 'o':
        a->output = optarg;
        return 0;
    case 'q':
        a->quiet = true;
        return 0;
    case 'P':
        a->page = optarg;
        return 0;
    case 'i':
        a->picture = optarg;
        return read_picture(command, a);
    case 'V':
        a->picture_width = optarg;
        return 0;
    case 'Z':
        a->font_size = optarg;
        return 0;
    default: /* option_next lets no other one through */
        return 0;
    }
}

static bool write_picture(FILE *out, void *user, struct fault *fault)
{
    const struct arguments *a = user;
    return calibration_picture(&a->calibration, a->picture_format, &a->form, out, fault);
}

/* A trace is explained first, and its step counts as a run. */
static int find_values(struct arguments *a)
{
    struct calibration_request beside = a->request;
    char **traces = arena_array(a->arena, beside.measured_count, sizeof *traces);
    const char **others = arena_array(a->arena, beside.measured_count, sizeof *others);
    struct explain_run run = {.traces = traces, .beside = &beside, .calibration = &a->calibration};
    beside.measured_count = 0;
    for (size_t i = 0; i < a->request.measured_count; i++)
        if (calibration_sort_of(a->measured[i]) == CALIBRATION_TRACE)
            traces[run.trace_count++] = (char *)(uintptr_t)a->measured[i];
        else
            others[beside.measured_count++] = a->measured[i];
    if (!run.trace_count || beside.scenario_count != 1)
        return calibrate(&a->request, a->arena, &a->calibration);
    beside.measured = others;
    run.scenario = beside.scenarios[0];
    return explain_run(&run, a->arena);
}

static int calibrate_files(const struct command *command, struct arguments *a)
{
    unsigned format = TABLE_TEXT;
    size_t scenarios = a->request.scenario_count, measured = a->request.measured_count;
    if (!measured)
        return command_usage(command, "expected --measured with a log, a table or a time such as 9.0s");
    for (size_t i = 0; i < a->request.measured_count; i++)
        measured -= calibration_sort_of(a->measured[i]) != CALIBRATION_RUN;
    if (scenarios > 1 && scenarios != measured)
        return command_usage(command, "%zu scenarios have %zu --measured; expected one for each, or one scenario",
                             scenarios, measured);
    if (a->format && format_read(command, a->format, table_format_names, TABLE_FORMATS, &format))
        return EXIT_USAGE;
    int code = form_read(command, a->picture_width, a->font_size, &a->form);
    if (code == EXIT_DONE)
        code = find_values(a);
    if (code == EXIT_DONE && a->output)
        code = calibration_write_profile(&a->calibration, "calibrate", a->output, a->arena);
    if (code == EXIT_DONE && a->page)
        code = calibration_write_page(&a->calibration, a->page);
    if (code == EXIT_DONE && a->picture)
        code = result_write("calibrate", a->picture, write_picture, a);
    if (code == EXIT_DONE && !a->quiet)
        calibration_print(&a->calibration, format, stdout);
    calibration_finish(&a->calibration);
    return code;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct arguments a = {.arena = arena_create()};
    int code = 0;
    a.measured = arena_array(a.arena, (size_t)argc, sizeof *a.measured);
    a.sets = arena_array(a.arena, (size_t)argc, sizeof *a.sets);
    for (int option; !code && (option = option_next(command, argc, argv, "o:", long_options, &code)) != -1;)
        code = read_option(command, option, &a);
    a.request.measured = a.measured;
    a.request.sets = a.sets;
    a.request.scenarios = (const char *const *)argv + optind;
    a.request.scenario_count = (size_t)(argc - optind);
    if (!code)
        code = calibrate_files(command, &a);
    arena_destroy(a.arena);
    return code;
}

const struct command command_calibrate = {
    .name = "calibrate",
    .arguments = "[SCENARIO]... --measured FILE|TIME... [OPTION]...",
    .summary = "makes a profile from measured runs, with which stagesim predicts the next ones",
    .help =
        "Fits what the measurements can settle (clock, fixed time of an iteration, the host's time for an "
        "operator, memory that no\n"
        "formula counts) and writes it as a profile: `framework: mine.yaml`.\n\n"
        "  --measured FILE|TIME             log of Megatron-LM, torchtitan, NeMo, DeepSpeed, Hugging Face's Trainer "
        "or MLPerf; trace that\n"
        "                                   explain reads; what nccl-tests print; operators of tools/profile-layers "
        "--table; table (.csv)\n"
        "                                   with the columns seconds, scenario, bytes, date and keys of the "
        "scenario; or 9.0s; repeatable:\n"
        "                                   all of one scenario, or one of each\n"
        "  --set KEY=VALUE                  any value of all scenarios by its dotted path; repeatable\n"
        "  --plugins                        load plug-ins that scenarios name by their paths\n"
        "  --format text|csv|json|latex|markdown  format of the table of rows\n"
        "  -o FILE                          write the profile there\n"
        "  --page FILE                      write a page: measured against predicted, before and after, each run left "
        "out\n"
        "  --picture FILE                   the same as a picture; .svg, .png or .pdf\n" FORM_HELP(
            "            ") "  --quiet                          print no table\n"
                            "\nexample:\n  stagesim calibrate scenarios/llama3-70b.yaml --measured 21.5s -o "
                            "mine.yaml\n",
    .run = run,
};
