/* SPDX-License-Identifier: Apache-2.0 */
#include "job/write/inputs.h"

#include "base/arena.h"
#include "base/document.h"
#include "base/paths.h"
#include "job/scenario/plugin.h"
#include "job/scenario/scenario_tables.h"
#include "platforms/presets/presets.h"

#include <errno.h>
#include <string.h>

enum { INPUTS_MAX = 64 };

struct inputs {
    struct scenario_input *list; /* [INPUTS_MAX] */
    size_t count;
    struct arena *arena;
    struct fault *fault;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void add_file(struct inputs *inputs, const char *role, const char *file)
{
    for (size_t i = 0; i < inputs->count; i++)
        if (inputs->list[i].file && !strcmp(inputs->list[i].file, file))
            return;
    if (inputs->count == INPUTS_MAX)
        return;
    struct scenario_input *input = &inputs->list[inputs->count++];
    *input = (struct scenario_input){.role = role, .file = file, .text = base_name(file)};
    if (!sha256_of_file(file, input->sha256))
        fault_set(inputs->fault, "%s: cannot be read again: %s", file, strerror(errno));
}

/* The file that a map's content stands in. */
static const char *file_of(const struct node *node)
{
    return node->first ? node->first->at.file : node->at.file;
}

/* Sections that are files of their own; what --set says stands in none. What clusters cost is written out where it
 * counts, and says nothing of a job. */
static void add_sections(struct inputs *inputs, const struct scenario *scenario)
{
    if (scenario->model_file)
        add_file(inputs, "model", scenario->model_file);
    for (const struct node *node = scenario->root->first; node; node = node->next)
        if (node->kind == NODE_MAP && file_of(node) && strncmp(file_of(node), "--", 2) != 0 &&
            strcmp(file_of(node), scenario->file) != 0 && strcmp(node->key, plan_section.name) != 0 &&
            strcmp(node->key, prices_section.name) != 0)
            add_file(inputs, node->key, file_of(node));
}

/* Tables that are files of their own. */
static void add_rows(struct inputs *inputs, const struct scenario *scenario, const struct stagesim_field *field)
{
    const struct node *node = node_find(scenario->root, field->key);
    if (!node || node->kind != NODE_SCALAR)
        return;
    const char *directory = node->at.line ? path_directory(node->at.file, inputs->arena) : scenario->directory;
    add_file(inputs, field->key, path_of_file(directory, node->text, node->at.line == 0, inputs->arena));
}

/* Files that keys of the workload and of power name. */
static void add_values(struct inputs *inputs, const struct scenario *scenario)
{
    static const struct stagesim_field table = {.key = "power.table"}, carbon = {.key = "power.carbon"},
                                       components = {.key = "failures.components"};
    if (scenario->power.table_count)
        add_rows(inputs, scenario, &table);
    if (scenario->power.series)
        add_rows(inputs, scenario, &carbon);
    add_rows(inputs, scenario, &components);
    for (const struct stagesim_field *field = scenario->workload->fields; field && field->key; field++) {
        const char *const *path = (const void *)((const char *)scenario->parameters + field->offset);
        if (field->type == STAGESIM_FIELD_ROWS)
            add_rows(inputs, scenario, field);
        else if (field->type == STAGESIM_FIELD_PATH && *path)
            add_file(inputs, field->key, *path);
    }
}

/* The user's own files of a product, and of what it is made of. */
static void add_products(struct inputs *inputs, const struct platform_source *source)
{
    const struct preset *preset = source->file ? NULL : preset_find(source->request.preset);
    for (size_t i = 0; preset && i < preset->file_count; i++)
        add_file(inputs, "product", preset->files[i]);
}

const struct scenario_input *scenario_input_list(const struct scenario *scenario, size_t *count, struct arena *arena,
                                                 struct fault *fault)
{
    struct inputs inputs = {arena_array(arena, INPUTS_MAX, sizeof *inputs.list), 0, arena, fault};
    add_file(&inputs, "scenario", scenario->file);
    if (scenario->kind) { /* its parts have their own */
        if (scenario->log)
            add_file(&inputs, "log", scenario->log);
        *count = inputs.count;
        return fault->text[0] ? NULL : inputs.list;
    }
    for (size_t i = 0; i < scenario->framework_count; i++)
        add_file(&inputs, "framework", scenario->framework_files[i]);
    add_sections(&inputs, scenario);
    if (scenario->platform.file)
        add_file(&inputs, "platform", scenario->platform.file);
    else if (inputs.count < INPUTS_MAX)
        inputs.list[inputs.count++] = (struct scenario_input){.role = "platform", .text = scenario->platform.text};
    add_products(&inputs, &scenario->platform);
    const char *workload = node_find(scenario->root, "workload")->text;
    const char *plugin = plugin_path(workload, scenario->directory, arena);
    if (plugin)
        add_file(&inputs, "workload", plugin);
    if (scenario->schedule_file)
        add_file(&inputs, "schedule", scenario->schedule_file);
    for (int kind = 0; kind < STAGESIM_COLLECTIVES; kind++) {
        const struct collective_algorithm *algorithm = scenario->collectives.algorithms[kind];
        if (algorithm && algorithm->own)
            add_file(&inputs, "communication", algorithm->source);
    }
    add_values(&inputs, scenario);
    *count = inputs.count;
    return fault->text[0] ? NULL : inputs.list;
}

const char *const *scenario_inputs(const struct scenario *scenario, size_t *count, struct arena *arena,
                                   struct fault *fault)
{
    const struct scenario_input *list = scenario_input_list(scenario, count, arena, fault);
    const char **lines = list ? arena_array(arena, *count, sizeof *lines) : NULL;
    for (size_t i = 0; list && i < *count; i++)
        lines[i] =
            arena_print(arena, "%s %s%s%s", list[i].role, list[i].text, list[i].file ? " sha256 " : "", list[i].sha256);
    return lines;
}

const char *scenario_model_name(const struct scenario *scenario, struct arena *arena)
{
    if (!scenario->model_file)
        return NULL;
    char *name = arena_copy(arena, base_name(scenario->model_file)), *dot = strrchr(name, '.');
    if (dot && dot > name)
        *dot = '\0';
    return *name && name[0] != '-' ? name : NULL;
}

const char *scenario_word(const struct scenario *scenario, const char *path)
{
    size_t own = strlen(scenario->workload->name);
    for (const struct stagesim_field *field = scenario->workload->fields; field && field->key; field++) {
        bool section = !strncmp(path, scenario->workload->name, own) && path[own] == '.';
        if (strcmp(field->key, path) != 0 && (!section || strcmp(field->key, path + own + 1) != 0))
            continue;
        const char *value = (const char *)scenario->parameters + field->offset;
        if (field->type == STAGESIM_FIELD_NAME)
            return field->names[*(const unsigned *)(const void *)value];
        return field->type == STAGESIM_FIELD_TEXT ? *(const char *const *)(const void *)value : NULL;
    }
    return NULL;
}
