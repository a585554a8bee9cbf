/* SPDX-License-Identifier: Apache-2.0 */
/* Which file is what, and the order in which they are read. */
#include "frameworks/import/import.h"

#include "abi/fields/fields.h"
#include "base/arena.h"
#include "base/paths.h"
#include "base/text/ends.h"
#include "frameworks/import/formats.h"
#include "frameworks/import/parts.h"
#include "frameworks/models/huggingface.h"
#include "frameworks/readers/text.h"
#include "frameworks/readers/toml.h"
#include "workloads/transformer/transformer.h"

#include <ctype.h>
#include <string.h>

static void name_file(struct import *import, const char *file, const char *kind)
{
    struct arena *arena = import->settings.arena;
    import->title = import->title ? arena_print(arena, "%s, %s (%s)", import->title, file, kind)
                                  : arena_print(arena, "%s (%s)", file, kind);
}

/* What its files do not say, the profile of the framework does. */
static void name_framework(struct import *import, const char *name, const char *profile)
{
    import->framework = name;
    if (!settings_find(&import->settings, "framework"))
        settings_put(&import->settings, "framework", profile,
                     source_assumed(arena_print(import->settings.arena, "%s's own defaults for all other keys", name)));
}

/* ---- scripts ---- */

static const char deepspeed_config[] = "--deepspeed_config", launch_blocking[] = "CUDA_LAUNCH_BLOCKING";
/* What an operator of stagesim's takes where the host waits for each of its kernels: fitted to the layouts of
 * test/validation/imported/bigscience.csv that a hash gives. */
static const char launch_time[] = "450us";

/* What the training script's name says of the model. */
static void read_program(struct settings *settings, const struct shell_word *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct source from = source_given(words[i].at, "pretrain_bert.py");
        if (text_ends_in(words[i].text, "pretrain_bert.py")) {
            settings_put(settings, "model.causal", "false", from);
            settings_put(settings, "model.token_types", "2", from);
            settings_put(settings, "model.pooler", "true", from);
            settings_put(settings, "model.head_transform", "true", from);
            settings_put(settings, "model.head_bias", "true", from);
            settings_put(settings, "model.next_sentence", "true", from);
        } else if (text_ends_in(words[i].text, "pretrain_t5.py") || text_ends_in(words[i].text, "pretrain_vlm.py"))
            settings_remark(settings, REMARK_PARTIAL, words[i].at, words[i].text,
                            "another architecture: only a stack of decoder layers is modelled");
    }
}

static void read_words(struct import *import, const struct shell_word *words, size_t count)
{
    struct arguments arguments = {.dialect = DIALECT_MEGATRON, .settings = &import->settings};
    arguments_split(&arguments, words, count);
    megatron_read(&arguments);
    layers_read(import, &arguments);
    read_program(&import->settings, words, count);
    if (!import->framework)
        name_framework(import, "Megatron-LM", "megatron");
}

static bool is_megatron(const char *word)
{
    static const char *const names[] = {"--num-layers",
                                        "--tensor-model-parallel-size",
                                        "--micro-batch-size",
                                        "--pipeline-model-parallel-size",
                                        "--seq-length",
                                        "--global-batch-size",
                                        NULL};
    for (const char *const *name = names; *name; name++)
        if (!strncmp(word, *name, strlen(*name)) && strchr("=", word[strlen(*name)]))
            return true;
    return false;
}

/* Nodes and GPUs of a node that a batch script asks for, where the launcher does not say. */
static void read_batch_lines(struct settings *settings, const struct shell_command *command)
{
    struct node nodes = {.kind = NODE_SCALAR, .text = command->nodes.text},
                tasks = {.kind = NODE_SCALAR, .text = command->tasks.text};
    uint64_t count, each;
    if (settings_find(settings, "@ranks") || !nodes.text || !tasks.text || !node_count(&nodes, &count) ||
        !node_count(&tasks, &each))
        return;
    settings_put_count(settings, "@ranks", settings_product(count, each),
                       source_given(command->nodes.at, "#SBATCH nodes x GPUs of a node"));
}

/* Megatron-DeepSpeed's second half: the file that --deepspeed_config names. */
static void read_deepspeed_config(struct import *import, const struct shell_command *command)
{
    struct settings *settings = &import->settings;
    const struct shell_word *file = &command->files[0];
    if (!file->at.line)
        return;
    const char *text = file->text;
    const struct node *root = text ? import_parse(settings, command->file_names[0], text, strlen(text)) : NULL;
    if (root && deepspeed_is(root))
        deepspeed_read(root, settings);
    else if (!root && !text)
        settings_remark(settings, REMARK_PARTIAL, file->at, deepspeed_config, "%s is not read: %s; give it as well",
                        command->file_names[0], file->why);
    else if (root)
        diag_error(settings->diag, root->at, "this is no configuration of DeepSpeed, as %s names one",
                   deepspeed_config);
}

/* The file that --heterogeneous-layers-config-path names. */
static void read_layers_config(struct import *import, const struct shell_command *command)
{
    const struct shell_word *file = &command->files[1];
    if (file->at.line && file->text)
        layers_note(import, import_parse(&import->settings, command->file_names[1], file->text, strlen(file->text)),
                    layers_config);
    else if (file->at.line)
        import->blocks_why = file->why;
}

/* DeepSpeed's optimizer for bf16 beside its pipelines shares its state among replicas, also at stage 0
 * (BF16_Optimizer of deepspeed/runtime/bf16_optimizer.py). */
static void share_state(struct settings *settings)
{
    const struct setting *zero = settings_find(settings, "transformer.zero");
    if (!zero || strcmp(zero->value, "0") != 0 || strcmp(settings_text(settings, "compute.precision", ""), "bf16") != 0)
        return;
    settings_replace(settings, "transformer.zero", "1",
                     source_given(zero->from.at, arena_print(settings->arena,
                                                             "%s 0: DeepSpeed's optimizer for bf16 "
                                                             "shares its state all the same",
                                                             zero->from.text)));
    settings_replace(settings, "transformer.gradients", "accumulated",
                     source_given(zero->from.at, "DeepSpeed's optimizer for bf16 adds them up in fp32"));
}

static bool is_deepspeed(const struct shell_command *command)
{
    for (size_t i = 0; i < command->count; i++)
        if (!strcmp(command->words[i].text, "--deepspeed"))
            return true;
    return false;
}

static void read_launch(struct import *import, const char *file, const struct shell_command *command)
{
    struct settings *settings = &import->settings;
    name_file(import, file, is_deepspeed(command) ? "Megatron-DeepSpeed" : "Megatron-LM");
    if (is_deepspeed(command))
        name_framework(import, "Megatron-DeepSpeed", "deepspeed");
    read_words(import, command->words, command->count);
    read_deepspeed_config(import, command);
    read_layers_config(import, command);
    if (is_deepspeed(command))
        share_state(settings);
    if (command->variable && !strcmp(command->variable, "1"))
        settings_put(settings, "compute.launch", launch_time,
                     source_given((struct place){0}, arena_print(settings->arena, "%s=1", launch_blocking)));
    read_batch_lines(settings, command);
}

static void read_format(struct import *import, const struct format *format, const char *file, const struct node *root)
{
    name_file(import, file, format->name);
    formats_read(format, root, &import->settings);
    if (format->profile)
        name_framework(import, format->name, format->profile);
    else
        import->framework = format->name;
}

static void read_command(struct import *import, const char *file, const struct shell_command *command)
{
    bool megatron = false;
    for (size_t i = 0; i < command->count; i++)
        megatron |= is_megatron(command->words[i].text);
    const struct format *format = NULL;
    const struct node *root = megatron ? NULL : overrides_read(command, &import->settings, &format);
    if (root)
        read_format(import, format, file, root);
    else
        read_launch(import, file, command);
    for (size_t i = 0; i < command->note_count; i++)
        settings_remark(&import->settings, REMARK_CHOICE, command->notes[i].at, command->notes[i].name, "%s",
                        command->notes[i].text);
}

static bool is_launch(const char *word)
{
    return is_megatron(word) || overrides_are(word);
}

static struct shell_request script_request(const struct import_request *request)
{
    return (struct shell_request){.defines = request->defines,
                                  .define_count = request->define_count,
                                  .is_option = is_launch,
                                  .file_options = {deepspeed_config, layers_config},
                                  .variable = launch_blocking,
                                  .tool = "Megatron-LM, veRL or OpenRLHF"};
}

static void read_script(struct import *import, const struct import_request *request, const char *file, const char *text,
                        size_t size)
{
    struct settings *settings = &import->settings;
    struct shell_command command;
    struct shell_request script = script_request(request);
    script.file = file;
    script.text = text;
    script.size = size;
    if (!shell_read(&script, settings->arena, settings->diag, &command))
        return;
    if (command.count)
        read_command(import, file, &command);
    else
        diag_error(
            settings->diag, (struct place){file, 1, 1},
            "no command with options of Megatron-LM, such as --num-layers, of veRL or OpenRLHF; expected a launch "
            "script, a config.json, a TOML file of torchtitan, or a configuration of NeMo, DeepSpeed or accelerate");
}

static void read_calls(struct import *import, const struct import_request *request, const char *folder)
{
    const struct shell_request like = script_request(request);
    struct shell_command command;
    if (calls_read(folder, &like, &import->settings, &command))
        read_command(import, folder, &command);
}

/* ---- documents ---- */

static void read_document(struct import *import, const struct import_request *request, const char *file,
                          const struct node *root);

static void read_named(struct import *import, const struct import_request *request, const char *file, const char *other)
{
    struct settings *settings = &import->settings;
    const char *path = path_resolve(path_directory(file, settings->arena), other, settings->arena);
    size_t size;
    const char *text = text_read(path, &size, settings->arena, settings->diag);
    const struct node *root = text ? import_parse(settings, path, text, size) : NULL;
    if (root && !deepspeed_is(root))
        diag_error(settings->diag, root->at,
                   "this is no configuration of DeepSpeed, as deepspeed_config_file names one");
    else if (root)
        read_document(import, request, path, root);
}

static void read_document(struct import *import, const struct import_request *request, const char *file,
                          const struct node *root)
{
    struct settings *settings = &import->settings;
    enum dialect dialect;
    const char *other = NULL;
    const struct format *format = formats_find(root, settings->arena);
    if (format) {
        read_format(import, format, file, root);
    } else if (node_get(root, "block_configs") && !huggingface_is_config(root)) {
        name_file(import, file, "Megatron-LM's layers");
        layers_note(import, root, file);
    } else if (huggingface_is_config(root)) {
        name_file(import, file, "Hugging Face");
        huggingface_read(root, settings);
    } else if (deepspeed_is(root)) {
        name_file(import, file, "DeepSpeed");
        deepspeed_read(root, settings);
        name_framework(import, "DeepSpeed", "deepspeed");
    } else if (accelerate_is(root)) {
        name_file(import, file, "accelerate");
        import->framework = "accelerate";
        accelerate_read(root, settings, &other);
        if (other)
            read_named(import, request, file, other);
    } else if (torchtitan_is(root)) {
        name_file(import, file, "torchtitan");
        torchtitan_read(root, settings);
        name_framework(import, "torchtitan", "torchtitan");
    } else if (nemo_is(root)) {
        nemo_read(root, settings, &dialect);
        name_framework(import, dialect == DIALECT_NEMO ? "NeMo" : "Megatron-Bridge", "nemo");
        name_file(import, file, import->framework);
    } else
        diag_error(
            settings->diag, root->at,
            "none of the files that stagesim knows; expected model_type (Hugging Face), zero_optimization or a batch "
            "(DeepSpeed), distributed_type (accelerate), parallelism (torchtitan), or model with trainer or train "
            "(NeMo, Megatron-Bridge)");
}

/* ---- which is which ---- */

static bool has_line(const char *text, const char *beginning)
{
    size_t length = strlen(beginning);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        line += strspn(line, " \t");
        if (!strncmp(line, beginning, length))
            return true;
    }
    return false;
}

/* Files that describe machines: they have a command of their own. */
static bool refuse_machines(struct diag *diag, const char *file, const char *text)
{
    const char *what = has_line(text, "SwitchName=") || has_line(text, "BlockName=") || has_line(text, "- topology:") ||
                               has_line(text, "-   topology:")
                           ? "a topology of Slurm"
                       : strstr(text, "GPU0") && strstr(text, "CPU Affinity") ? "a matrix of nvidia-smi topo -m"
                       : has_line(text, "<topology") || has_line(text, "<system") || has_line(text, "<platform")
                           ? "a description of machines"
                           : NULL;
    if (what)
        diag_error(diag, (struct place){file, 1, 1}, "%s, no job: see stagesim platform import", what);
    return what;
}

static bool is_script(const char *file, const char *text)
{
    static const char *const endings[] = {".sh", ".bash", ".slurm", ".sbatch", ".sub", ".txt", NULL};
    for (const char *const *ending = endings; *ending; ending++)
        if (text_ends_in(file, *ending))
            return true;
    return !strncmp(text, "#!", 2) ||
           (!text_ends_in(file, ".yaml") && !text_ends_in(file, ".yml") && strstr(text, "--"));
}

/* A line that begins a table, outside of YAML's and JSON's files. */
static bool is_toml(const char *file, const char *text)
{
    bool other = text_ends_in(file, ".yaml") || text_ends_in(file, ".yml") || text_ends_in(file, ".json");
    return text_ends_in(file, ".toml") || (!other && has_line(text, "[") && strstr(text, " = "));
}

static void read_file(struct import *import, const struct import_request *request, const char *file)
{
    struct settings *settings = &import->settings;
    size_t size;
    if (calls_is_folder(file)) {
        read_calls(import, request, file);
        return;
    }
    const char *text = text_read(file, &size, settings->arena, settings->diag);
    if (!text || refuse_machines(settings->diag, file, text))
        return;
    if (program_is(file)) {
        const struct program program = {file, text, size, request->config};
        const struct node *made = program_read(&program, settings);
        if (made)
            read_document(import, request, file, made);
        return;
    }
    const char *start = text + strspn(text, " \t\r\n");
    if (*start != '{' && !text_ends_in(file, ".toml") && is_script(file, text)) {
        read_script(import, request, file, text, size);
        return;
    }
    if (is_toml(file, text)) {
        const struct node *table = toml_parse(file, text, size, settings->arena, settings->diag);
        if (table)
            read_document(import, request, file, table);
        return;
    }
    struct node *whole = import_parse(settings, file, text, size);
    if (whole)
        document_inherit(settings, whole);
    const struct node *root = whole;
    if (root && program_is_printed(root))
        root = program_printed(root, file, settings);
    if (root)
        read_document(import, request, file, root);
}

/* ---- parameters ---- */

/* Where a setting came from, for a message: its place in a file, or the words of the command line. */
static struct place place_of(const struct setting *setting)
{
    return setting->from.at.line ? setting->from.at : (struct place){.file = setting->from.text};
}

/* The model's keys in one map, as a scenario would have them. */
static struct node *model_map(struct settings *settings)
{
    struct node *root = arena_alloc(settings->arena, sizeof *root);
    *root = (struct node){.kind = NODE_MAP};
    for (const struct setting *each = settings->first; each; each = each->next)
        if (strncmp(each->key, "model.", 6) == 0)
            document_set(root, each->key, import_quoted(each->value, settings->arena), place_of(each), settings->arena,
                         settings->diag);
    return (struct node *)(uintptr_t)node_get(root, "model");
}

/* 0 where the model is not known, or after a value was refused: nothing is computed with that. */
static double count_parameters(struct settings *settings)
{
    static const char *const needed[] = {"model.layers", "model.hidden", "model.heads", "model.vocabulary", NULL};
    struct transformer_parameters parameters = *(const struct transformer_parameters *)transformer_workload.defaults;
    struct fields_reader reader = {".", settings->arena, settings->diag};
    struct fields_section section = {"model", false, transformer_workload.fields};
    unsigned errors = settings->diag->errors;
    for (const char *const *key = needed; *key; key++)
        if (!settings_find(settings, *key))
            return 0;
    const struct node *map = model_map(settings);
    for (const struct stagesim_field *field = section.fields; field->key; field++) {
        const char *key = fields_key(&section, field);
        const struct node *node = key ? node_get(map, key) : NULL;
        if (node)
            fields_read_value(&reader, field, key, node, &parameters);
    }
    if (settings->diag->errors != errors)
        return 0;
    transformer_model_complete(&parameters.model);
    return transformer_parameters(&parameters.model);
}

/* ---- all together ---- */

static void apply_sets(struct import *import, const struct import_request *request)
{
    struct settings *settings = &import->settings;
    for (size_t i = 0; i < request->set_count; i++) {
        const char *text = request->sets[i], *equals = strchr(text, '=');
        if (!equals || equals == text) {
            diag_error(settings->diag, (struct place){.file = "--set"},
                       "'%s' is no KEY=VALUE such as model.sequence=4096", text);
            continue;
        }
        const char *key = arena_print(settings->arena, "%.*s", (int)(equals - text), text);
        settings_remove(settings, key);
        settings_put(settings, key, equals + 1,
                     (struct source){SETTING_TYPED, {0}, arena_print(settings->arena, "--set %s", key)});
    }
}

bool import_read(const struct import_request *request, struct import *import, struct arena *arena, struct diag *diag)
{
    unsigned errors = diag->errors;
    *import = (struct import){.settings = {.arena = arena, .diag = diag}};
    apply_sets(import, request);
    for (size_t i = 0; i < request->file_count; i++)
        read_file(import, request, request->files[i]);
    if (request->option_count) {
        struct shell_word *words = arena_array(arena, request->option_count, sizeof *words);
        for (size_t i = 0; i < request->option_count; i++)
            words[i] = (struct shell_word){.text = request->options[i]};
        name_file(import, "the command line", "Megatron-LM");
        read_words(import, words, request->option_count);
    }
    if (diag->errors == errors)
        layers_apply(import);
    if (diag->errors == errors)
        (import_is_rl(import) ? import_combine_rl : import_combine)(request, import);
    if (diag->errors == errors)
        import->parameters = count_parameters(&import->settings);
    return diag->errors == errors;
}
