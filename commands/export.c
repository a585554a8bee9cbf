/* SPDX-License-Identifier: Apache-2.0 */
/* stagesim export: a scenario as what a training framework reads. */
#include "job/export/export.h"
#include "base/arena.h"
#include "commands/cli/command.h"
#include "commands/cli/options.h"
#include "commands/cli/result.h"
#include "commands/cli/words.h"
#include "job/job.h"
#include "studies/choice_run.h"
#include "studies/simulation.h"

#include <stdlib.h>
#include <string.h>

enum { EXPORTERS_MAX = 8 };

/* Of --to: no framework, but the order of the pipeline as a schedule file. */
static const char order_name[] = "schedule";

/* ---- which layers the stages hold, which only the job says ---- */

/* In a process of its own: builds the job, with all its checks, and writes the layout. */
static int find_layout(void *user, struct platform *platform, FILE *results, struct diag *diag)
{
    const struct scenario *scenario = user;
    struct arena *arena = arena_create();
    struct job *job = job_create(scenario, platform, 1, arena, diag);
    if (job && job->figures.pipeline_layout)
        fputs(job->figures.pipeline_layout, results);
    arena_destroy(arena);
    return job ? EXIT_DONE : EXIT_BAD_INPUT;
}

/* The same for the order of its pipeline. */
static int find_order(void *user, struct platform *platform, FILE *results, struct diag *diag)
{
    const struct scenario *scenario = user;
    struct arena *arena = arena_create();
    struct job *job = job_create(scenario, platform, 1, arena, diag);
    if (job && job->order)
        fputs(job->order->rows, results);
    else if (job)
        diag_error(diag, (struct place){scenario->file, 0, 0}, "there is no order of a pipeline in this scenario");
    int code = job && job->order ? EXIT_DONE : EXIT_BAD_INPUT;
    arena_destroy(arena);
    return code;
}

typedef int finder(void *user, struct platform *platform, FILE *results, struct diag *diag);

/* *text: what `find` writes; NULL where that is nothing. */
static int read_job(const struct scenario *scenario, finder *find, struct arena *arena, const char **text)
{
    FILE *results;
    int code = simulation_visit(&(struct simulation_visit){scenario, find, (void *)(uintptr_t)scenario}, &results);
    if (code == EXIT_DONE && results) {
        fseek(results, 0, SEEK_END);
        size_t size = (size_t)ftell(results);
        rewind(results);
        char *read = arena_alloc(arena, size + 1);
        read[fread(read, 1, size, results)] = '\0';
        *text = *read ? read : NULL;
    }
    if (results)
        fclose(results);
    return code;
}

/* As it was given, commas and all; only what was found needs to be told in the normal form. */
static const char *given_layout(const struct scenario *scenario, const char *found)
{
    const struct transformer_parameters *p = scenario->parameters;
    return scenario->workload == &transformer_workload && p->pipeline_layout ? p->pipeline_layout : found;
}

/* ---- the command ---- */

struct writing {
    struct export_job *job;
    const struct exporter *exporter;
};

static bool write_export(FILE *out, void *user, struct fault *fault)
{
    (void)fault;
    struct writing *writing = user;
    export_write(writing->job, writing->exporter, out);
    return true;
}

/* NULL with the code after a mistake was reported. */
static struct scenario *load(const struct options *options, struct arena *arena, struct diag *diag, int *code)
{
    struct scenario_request request = {options->files[0], options->sets, options->set_count, NULL, options->plugins};
    struct scenario *scenario = scenario_load(&request, arena, diag);
    *code = EXIT_BAD_INPUT;
    return scenario ? choice_make(scenario, arena, code) : NULL;
}

static bool write_text(FILE *out, void *user, struct fault *fault)
{
    (void)fault;
    fputs(user, out);
    return true;
}

static int export_order(const struct options *options, struct arena *arena)
{
    struct diag diag = {.out = stderr};
    int code;
    const char *rows = NULL;
    struct scenario *scenario = load(options, arena, &diag, &code);
    if (!scenario)
        return code;
    scenario->keeps_order = true;
    if (scenario->schedule && scenario->schedule->crosses && !options->quiet)
        diag_note(&diag, (struct place){scenario->file, 0, 0},
                  "%s goes on without a flush; the file holds one iteration, which ends with one",
                  scenario->schedule_name);
    code = read_job(scenario, find_order, arena, &rows);
    return code == EXIT_DONE ? result_write("export", options->output, write_text, (void *)(uintptr_t)rows) : code;
}

static int export_scenario(const struct options *options, const struct exporter *exporter, struct arena *arena)
{
    struct diag diag = {.out = stderr};
    struct export_job job;
    const char *layout = NULL;
    int code;
    struct scenario *scenario = load(options, arena, &diag, &code);
    if (!scenario)
        return code;
    if (!export_create(scenario, NULL, &job, arena, &diag))
        return EXIT_BAD_INPUT;
    code = read_job(scenario, find_layout, arena, &layout);
    if (code != EXIT_DONE)
        return code;
    job.layout = given_layout(scenario, layout);
    code = result_write("export", options->output, write_export, &(struct writing){&job, exporter});
    if (code == EXIT_DONE && !options->quiet)
        export_tell(&job, exporter, stderr);
    return code;
}

/* Takes --to NAME out of the command line; the rest is read as for the other commands. NULL: there is none. */
static const char *take_name(int *argc, char **argv)
{
    const char *name = NULL;
    int kept = 0;
    for (int i = 0; i < *argc; i++) {
        bool separate = !strcmp(argv[i], "--to") && i + 1 < *argc;
        if (separate)
            name = argv[++i];
        else if (!strncmp(argv[i], "--to=", 5))
            name = argv[i] + 5;
        else
            argv[kept++] = argv[i];
    }
    *argc = kept;
    argv[kept] = NULL;
    return name;
}

/* NULL after the mistake was reported. */
static const struct exporter *find_exporter(const struct command *command, const char *name)
{
    const char *names[EXPORTERS_MAX];
    unsigned count = 0, found;
    while (exporter_table[count])
        names[count] = exporter_table[count]->name, count++;
    names[count++] = order_name;
    if (!name)
        command_usage(command, "expected --to %s or --to %s", names[0], names[1]);
    else if (words_find(names, count, name, &found))
        return exporter_table[found];
    else
        words_unknown(command, "framework", name, names, count);
    return NULL;
}

static int run(const struct command *command, int argc, char **argv)
{
    const char *name = take_name(&argc, argv);
    struct arena *arena = arena_create();
    struct options options;
    int code = EXIT_USAGE;
    if (options_read(command, "o", argc, argv, arena, &options)) {
        bool order = name && !strcmp(name, order_name);
        const struct exporter *exporter = order ? NULL : find_exporter(command, name);
        if (options.file_count != 1 && (order || exporter))
            code = command_usage(command, "expected one scenario, got %d", options.file_count);
        else if (order)
            code = export_order(&options, arena);
        else if (exporter)
            code = export_scenario(&options, exporter, arena);
    }
    arena_destroy(arena);
    return code;
}

const struct command command_export = {
    .name = "export",
    .arguments = "SCENARIO --to FRAMEWORK [OPTION]...",
    .summary = "writes the options with which Megatron-LM or torchtitan runs a scenario's layout",
    .help =
        "Writes a launch script with Megatron-LM's options, or torchtitan's configuration: a registry in Python, or "
        "the "
        "TOML of\n"
        "releases before February 2026. What cannot be said there is listed on top of the file and on standard error.\n"
        "`balance: auto` becomes the layers of each stage. `--to schedule` writes the order of the pipeline as a "
        "schedule "
        "file,\n"
        "to be changed by hand and used with `schedule: {file: FILE}`.\n\n"
        "  --to megatron|torchtitan|torchtitan-toml|schedule  the framework, or the order alone\n"
        "  -o FILE                          write there instead of to standard output\n"
        "  --quiet                          say nothing on standard error\n" OPTIONS_HELP
        "\nexample:\n  stagesim export scenarios/llama3-70b.yaml --to megatron -o train.sh\n",
    .run = run,
};
