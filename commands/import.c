/* SPDX-License-Identifier: Apache-2.0 */
/* stagesim import: jobs of training frameworks as scenarios. */
#include "frameworks/import/import.h"
#include "base/arena.h"
#include "base/bulk.h"
#include "base/document.h"
#include "base/files/output.h"
#include "base/paths.h"
#include "commands/cli/command.h"
#include "commands/cli/option_next.h"
#include "commands/platform/platform_command.h"
#include "frameworks/import/stand_in.h"
#include "job/scenario/platform_source.h"
#include "job/scenario/scenario.h"
#include "job/scenario/scenario_kind.h"
#include "workloads/transformer/transformer.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct arguments {
    struct arena *arena;
    struct import_request request;
    const char **sets;
    struct shell_define *defines;
    const char *output, *shim;
};

static const struct option long_options[] = {
    {"platform", required_argument, NULL, 'p'},
    {"gpus", required_argument, NULL, 'g'},
    {"define", required_argument, NULL, 'd'},
    {"set", required_argument, NULL, 's'},
    {"output", required_argument, NULL, 'o'},
    {"shim", required_argument, NULL, 'S'},
    {"config", required_argument, NULL, 'c'},
    {"quiet", no_argument, NULL, 'q'},
    {NULL, 0, NULL, 0},
};

/* NAME=VALUE */
static bool read_define(const char *text, struct shell_define *define, struct arena *arena)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return false;
    *define = (struct shell_define){arena_print(arena, "%.*s", (int)(equals - text), text), equals + 1};
    return true;
}

static int read_option(const struct command *command, int option, struct arguments *a)
{
    uint32_t count;
    switch (option) {
    case 'p':
        a->request.platform = optarg;
        return 0;
    case 'g':
        if (!platform_read_count(optarg, 1 << 20, &count))
            return command_usage(command, "'%s' is no count; GPUs are a whole number from 1", optarg);
        a->request.gpus = count;
        return 0;
    case 'd':
        if (!read_define(optarg, &a->defines[a->request.define_count], a->arena))
            return command_usage(command, "'%s' is no NAME=VALUE such as NNODES=16", optarg);
        a->request.define_count++;
        return 0;
    case 's':
        a->sets[a->request.set_count++] = optarg;
        return 0;
    case 'o':
        a->output = optarg;
        return 0;
    case 'c':
        a->request.config = optarg;
        return 0;
    case 'S':
        a->shim = optarg;
        return 0;
    case 'q':
        return 0;
    default: /* option_next lets no other one through */
        return 0;
    }
}

/* How many GPUs the platform has, and whose kernels a table for TransformerEngine is of. */
static bool read_platform(struct arguments *a, struct fault *fault)
{
    struct platform_source source;
    const char *why;
    if (!a->request.platform)
        return true;
    if (!platform_source_typed(a->request.platform, &source, a->arena, fault))
        return false;
    struct platform *platform = platform_source_native(&source, a->arena, &why, fault);
    if (!platform && *fault->text)
        return false;
    if (!platform)
        return true;
    if (!a->request.gpus)
        a->request.gpus = platform->host_count;
    else if (a->request.gpus > platform->host_count)
        return fault_set(fault, "--gpus %llu is more than the %u of %s", (unsigned long long)a->request.gpus,
                         platform->host_count, a->request.platform);
    const char *model = platform->host_count ? platform->hosts[0].model : NULL;
    if (model && path_find_installed(INSTALLED_EFFICIENCY, arena_print(a->arena, "%s-transformer-engine", model),
                                     ".csv", a->arena))
        a->request.kernels = "transformer-engine";
    return true;
}

static bool write_scenario(FILE *out, void *user, struct fault *fault)
{
    (void)fault;
    import_write(user, out);
    return true;
}

/* A value for a key that no file gives, so that the rest can be looked at. */
static void put_missing(struct node *root, struct arena *arena)
{
    struct diag silent = {0};
    struct place at = {.file = "import"};
    if (!node_get(root, "platform"))
        document_set(root, "platform", "dgx-h100:1", at, arena, &silent);
    for (const struct stagesim_field *field = transformer_workload.fields; field->key; field++)
        if (field->required && !node_find(root, field->key))
            document_set(root, field->key, "1024", at, arena, &silent);
}

/* Keys that would be refused because they change nothing are left out, each with a remark. */
static void drop_unused(struct import *import, struct arena *arena)
{
    struct diag silent = {0};
    struct scenario_request request = {.file = "import", .study = true};
    char *text = NULL;
    size_t size = 0;
    FILE *out = memory_stream_open(&text, &size);
    import_write(import, out);
    memory_stream_close(out);
    struct node *root = document_parse_kind(&document_scenario, "import", text, size, arena, &silent);
    if (root)
        put_missing(root, arena);
    const struct scenario *scenario = root ? scenario_load_part(&request, root, NULL, arena, &silent) : NULL;
    for (size_t i = 0; scenario && i < scenario->unmet_count; i++) {
        const struct scenario_unmet *unmet = &scenario->unmet[i];
        const struct setting *setting = settings_find(&import->settings, unmet->path);
        if (!unmet->refused || unmet->profile || !setting || setting->from.origin == SETTING_TYPED)
            continue;
        settings_remark(&import->settings, REMARK_CHOICE, setting->from.at, unmet->path, "left out, for it %s",
                        scenario_unmet_text(unmet, arena));
        settings_remove(&import->settings, unmet->path);
    }
    free(text);
}

static int import_files(struct arguments *a)
{
    struct diag diag = {.out = stderr};
    struct import import;
    struct fault fault = {""};
    if (!read_platform(a, &fault)) {
        diag_fault(&diag, "--platform", fault.text);
        return EXIT_BAD_INPUT;
    }
    if (!import_read(&a->request, &import, a->arena, &diag))
        return EXIT_BAD_INPUT;
    drop_unused(&import, a->arena);
    int code = platform_write_result(a->output, write_scenario, &import);
    if (code == EXIT_DONE)
        import_tell(&import, stderr);
    return code;
}

/* ---- stand-ins ---- */

static bool write_stand_in(struct output *output, const char *name, struct fault *fault)
{
    FILE *out = output_open(output, name, fault);
    if (!out)
        return false;
    for (const char *const *line = stand_in_text; *line; line++)
        fprintf(out, "%s\n", *line);
    return fchmod(fileno(out), 0755) == 0 || fault_set(fault, "%s cannot be made executable", name);
}

static int write_stand_ins(const char *folder)
{
    struct diag diag = {.out = stderr};
    struct fault fault = {""};
    struct output *output = output_create(folder, &fault);
    bool good = output;
    for (const char *const *name = stand_in_names; good && *name; name++)
        good = write_stand_in(output, *name, &fault);
    if (good && output_commit(output, &fault)) {
        diag_print(stderr,
                   "stand-ins for launchers, which note how they are called and run nothing:\n"
                   "  PATH=\"$(cd '%s' && pwd):$PATH\" bash YOUR-SCRIPT\n"
                   "  stagesim import %s\n",
                   folder, folder);
        return EXIT_DONE;
    }
    if (!good)
        output_abort(output);
    diag_fault(&diag, "--shim", fault.text);
    return good ? EXIT_FAILED : EXIT_BAD_INPUT;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct arguments a = {.arena = arena_create()};
    int code = 0, words = argc;
    for (int i = 1; i < words; i++)
        if (!strcmp(argv[i], "--"))
            words = i;
    a.sets = arena_array(a.arena, (size_t)argc, sizeof *a.sets);
    a.defines = arena_array(a.arena, (size_t)argc, sizeof *a.defines);
    a.request.sets = a.sets;
    a.request.defines = a.defines;
    for (int option; !code && (option = option_next(command, words, argv, "o:", long_options, &code)) != -1;)
        code = read_option(command, option, &a);
    a.request.files = (const char *const *)argv + optind;
    a.request.file_count = (size_t)(words - optind);
    if (words < argc) {
        a.request.options = (const char *const *)argv + words + 1;
        a.request.option_count = (size_t)(argc - words - 1);
    }
    if (!code && a.shim && (a.request.file_count || a.request.option_count))
        code = command_usage(command, "--shim writes stand-ins for launchers, and reads no job");
    else if (!code && a.shim) {
        code = write_stand_ins(a.shim);
        arena_destroy(a.arena);
        return code;
    }
    if (!code && !a.request.file_count && !a.request.option_count)
        code = command_usage(command, "expected the description of a job");
    if (!code)
        code = import_files(&a);
    arena_destroy(a.arena);
    return code;
}

const struct command command_import = {
    .name = "import",
    .arguments = "JOB... [OPTION]... [-- OPTION OF MEGATRON-LM...]",
    .summary = "makes a scenario from the description of a job: config.json, launch script, TOML, YAML, JSON",
    .help =
        "Reads what other tools run: Hugging Face's config.json, scripts and command lines of Megatron-LM, YAML of "
        "NeMo and\n"
        "Megatron-Bridge, torchtitan's TOML, configurations of DeepSpeed and accelerate. Several files are put "
        "together.\n"
        "Each line of the scenario says where it came from; what is missing or not modelled is named.\n\n"
        "  --platform PLATFORM  the cluster: PRESET:NODES, or a platform file\n"
        "  --gpus N             how many of its GPUs the job has (all)\n"
        "  --define NAME=VALUE  a variable of a script, such as NNODES=16\n"
        "  --set KEY=VALUE      a key of the scenario, such as model.sequence=4096\n"
        "  -o FILE              write there; otherwise to standard output\n"
        "  --config NAME        the function of a Python file that makes the configuration\n"
        "  --shim DIR           write stand-ins for torchrun, python, srun, ... into DIR: your script, run with them\n"
        "                       first in PATH, notes its launches and starts none; stagesim import DIR reads them\n"
        "\nexample:\n  stagesim import --platform dgx-h100:1 -- --num-layers 24 --hidden-size 2048 "
        "--num-attention-heads 16\n",
    .run = run,
};
