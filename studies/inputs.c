/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/inputs.h"

#include "base/arena.h"
#include "base/document.h"
#include "base/files/sha256.h"

#include <errno.h>
#include <string.h>

enum { INPUTS_MAX = 32 };

struct inputs {
    const char *files[INPUTS_MAX], *lines[INPUTS_MAX];
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
    char hash[SHA256_TEXT] = "";
    for (size_t i = 0; i < inputs->count; i++)
        if (inputs->files[i] && !strcmp(inputs->files[i], file))
            return;
    if (inputs->count == INPUTS_MAX)
        return;
    inputs->files[inputs->count] = file;
    if (!sha256_of_file(file, hash))
        fault_set(inputs->fault, "%s: cannot be read again: %s", file, strerror(errno));
    inputs->lines[inputs->count++] = arena_print(inputs->arena, "%s %s sha256 %s", role, base_name(file), hash);
}

/* The file that a map's content stands in. */
static const char *file_of(const struct node *node)
{
    return node->first ? node->first->at.file : node->at.file;
}

/* Sections that are files of their own; what --set says stands in none. */
static void add_sections(struct inputs *inputs, const struct scenario *scenario)
{
    for (const struct node *node = scenario->root->first; node; node = node->next)
        if (node->kind == NODE_MAP && file_of(node) && strncmp(file_of(node), "--", 2) != 0 &&
            strcmp(file_of(node), scenario->file) != 0)
            add_file(inputs, node->key, file_of(node));
}

const char *const *scenario_inputs(const struct scenario *scenario, size_t *count, struct arena *arena,
                                   struct fault *fault)
{
    struct inputs *inputs = arena_alloc(arena, sizeof *inputs);
    *inputs = (struct inputs){.arena = arena, .fault = fault};
    add_file(inputs, "scenario", scenario->file);
    add_sections(inputs, scenario);
    if (scenario->platform.file)
        add_file(inputs, "platform", scenario->platform.file);
    else if (inputs->count < INPUTS_MAX)
        inputs->lines[inputs->count++] = arena_print(arena, "platform %s", scenario->platform.text);
    if (scenario->schedule_file)
        add_file(inputs, "schedule", scenario->schedule_file);
    *count = inputs->count;
    return fault->text[0] ? NULL : inputs->lines;
}

const char *scenario_model_name(const struct scenario *scenario, struct arena *arena)
{
    const struct node *model = node_get(scenario->root, "model");
    if (!model || model->kind != NODE_MAP || !file_of(model) || !strcmp(file_of(model), scenario->file))
        return NULL;
    char *name = arena_copy(arena, base_name(file_of(model))), *dot = strrchr(name, '.');
    if (dot && dot > name)
        *dot = '\0';
    return *name && name[0] != '-' ? name : NULL;
}

const char *scenario_word(const struct scenario *scenario, const char *path)
{
    const struct node *node = node_find(scenario->root, path);
    return node && node->kind == NODE_SCALAR && *node->text ? node->text : NULL;
}
