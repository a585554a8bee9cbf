/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations that are Python files: which of them are read, and as what. */
#include "base/arena.h"
#include "base/text/ends.h"
#include "frameworks/import/formats.h"
#include "frameworks/import/parts.h"
#include "frameworks/python/python.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *module, *name;
} tools[] = {{"olmo_core", "OLMo-core"},
             {"internlm", "InternEvo"},
             {"internevo", "InternEvo"},
             {"torchtitan", "torchtitan"},
             {"nemo_run", "NeMo"},
             {"nemo.collections", "NeMo"},
             {"megatron.bridge", "Megatron-Bridge"},
             {"maxtext", "MaxText"}};

static const char *tool_of(const char *text)
{
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (strstr(text, tools[i].module))
            return tools[i].name;
    return NULL;
}

bool program_is(const char *file)
{
    return text_ends_in(file, ".py");
}

/* Where a text stands in the file. */
static struct place place_of(const struct program *program, const char *at)
{
    struct place place = {program->file, 1, 1};
    for (const char *c = program->text; c < at; c++) {
        place.column = *c == '\n' ? 1 : place.column + 1;
        place.line += *c == '\n';
    }
    return place;
}

/* OLMo-core's models are functions of its own, with their shapes; only what a run saved has them. */
static bool refuse_factory(const struct program *program, const struct settings *settings)
{
    static const char class_name[] = "TransformerConfig.";
    for (const char *at = program->text; (at = strstr(at, class_name)); at++) {
        size_t length = sizeof class_name - 1;
        while (isalnum((unsigned char)at[length]) || at[length] == '_')
            length++;
        if (at[length] != '(')
            continue;
        diag_error(settings->diag, place_of(program, at),
                   "a Python program of OLMo-core, whose model is what %.*s(...) makes: that is not in this file, and "
                   "is not run; expected the config.json that a run saves beside its checkpoints, or that of Hugging "
                   "Face with batch, sequence and layout by --set",
                   (int)length, at);
        return true;
    }
    return false;
}

static void refuse(const struct program *program, const struct settings *settings)
{
    const char *what = tool_of(program->text);
    if (what && !strcmp(what, "OLMo-core") && refuse_factory(program, settings))
        return;
    diag_error(settings->diag, (struct place){program->file, 1, 1},
               "a Python program%s%s, which is not run; expected a configuration of InternEvo or torchtitan's "
               "config_registry.py, a config.json, a launch script or YAML; tools/print-config writes what a program "
               "makes of its configuration",
               what ? " of " : "", what ? what : "");
}

/* The function that makes the configuration: the one that is asked for, or the only one. NULL after a mistake was
 * reported. */
static const char *choose(const struct program *program, const char *const *names, const struct settings *settings)
{
    const char *list = "";
    size_t count = 0;
    for (; names[count]; count++) {
        if (program->config && !strcmp(names[count], program->config))
            return names[count];
        list = arena_print(settings->arena, "%s%s%s", list, count ? ", " : "", names[count]);
    }
    if (count == 1 && !program->config)
        return names[0];
    const char *near = program->config ? diag_nearest(program->config, names, count) : NULL;
    if (near)
        diag_error(settings->diag, (struct place){.file = "--config"}, "no function '%s' in %s; did you mean '%s'?",
                   program->config, program->file, near);
    else
        diag_error(settings->diag, (struct place){program->file, 1, 1}, "%s; expected --config with one of %s",
                   program->config ? arena_print(settings->arena, "no function '%s'", program->config)
                                   : "several configurations",
                   list);
    return NULL;
}

/* torchtitan's registry: functions that return a Trainer.Config. */
static const struct node *read_registry(const struct program *program, struct python *python,
                                        const struct settings *settings)
{
    const char *const *names = python_functions(python);
    if (!names[0]) {
        refuse(program, settings);
        return NULL;
    }
    const char *name = choose(program, names, settings);
    const struct node *root = name ? python_call(python, name) : NULL;
    return root ? torchtitan_python(root, program->file, program->text, name, settings) : NULL;
}

const struct node *program_read(const struct program *program, const struct settings *settings)
{
    const struct python_request request = {program->file,       program->text,   program->size,
                                           torchtitan_harmless, settings->arena, settings->diag};
    struct python *python = python_load(&request);
    const struct node *names = python ? python_names(python) : NULL;
    if (!names)
        return NULL;
    const struct format *format = formats_find(names, settings->arena);
    if (format && format->rows && !program->config)
        return names;
    const char *tool = tool_of(program->text);
    if (tool && !strcmp(tool, "torchtitan"))
        return read_registry(program, python, settings);
    refuse(program, settings);
    return NULL;
}

bool program_is_printed(const struct node *root)
{
    return root->kind == NODE_MAP && node_get(root, python_callee);
}

const struct node *program_printed(const struct node *root, const char *file, const struct settings *settings)
{
    const struct node *made = node_get(root, python_callee);
    if (made->kind == NODE_SCALAR && strstr(made->text, "Trainer.Config"))
        return torchtitan_python(root, file, "", "", settings);
    return program_plain(root, settings->arena);
}
