/* SPDX-License-Identifier: Apache-2.0 */
/* torchtitan's registries in Python (torchtitan/models/NAME/config_registry.py since 2026) as the tree that its TOML
 * was: torchtitan/config/configs.py, torchtitan/trainer.py. */
#include "base/arena.h"
#include "frameworks/import/parts.h"
#include "frameworks/python/python.h"
#include "frameworks/torchtitan_models.h"

#include <string.h>

const char *const torchtitan_harmless[] = {
    "model_registry", "decoder_vocab_size", "default_adamw", "default_muon", "cast", "nvfp4_bf16_tail_fqns", NULL};

static const struct node *callee(const struct node *node)
{
    return node ? node_get(node, python_callee) : NULL;
}

static bool is_made_by(const struct node *node, const char *what)
{
    const struct node *name = callee(node);
    return name && strstr(name->text, what);
}

static struct node *text_node(const char *text, const struct node *like, struct arena *arena)
{
    struct node *node = arena_alloc(arena, sizeof *node);
    *node = (struct node){.kind = NODE_SCALAR, .at = like->at, .text = text, .key_at = like->key_at};
    return node;
}

static void put(struct node *map, const char *key, struct node *value)
{
    value->key = key;
    node_append(map, value);
}

static struct node *make_map(const char *key, const struct node *like, struct arena *arena)
{
    struct node *map = arena_alloc(arena, sizeof *map);
    *map = (struct node){.kind = NODE_MAP, .at = like->at, .key = key, .key_at = like->key_at};
    return map;
}

/* ---- the model ---- */

static bool is_known(const char *name, size_t length)
{
    for (const struct torchtitan_model *known = torchtitan_models; known->name; known++)
        if (strlen(known->name) == length && !strncmp(known->name, name, length))
            return true;
    return false;
}

/* The model's name: as it is given; else that of the file's folder, as torchtitan has it; else of the module that the
 * file imports from; else what the function's name begins with. */
static const char *model_name(const struct node *spec, const char *file, const char *text, const char *function,
                              struct arena *arena)
{
    static const char models[] = "torchtitan.models.";
    const struct node *said = node_get(spec, "name");
    if (said && said->kind == NODE_SCALAR)
        return said->text;
    const char *end = strrchr(file, '/'), *from = end;
    while (from && from > file && from[-1] != '/')
        from--;
    if (end && is_known(from, (size_t)(end - from)))
        return arena_copy_part(arena, from, (size_t)(end - from));
    for (const char *at = strstr(text, models); at; at = strstr(at + 1, models)) {
        size_t length = strspn(at + strlen(models), "abcdefghijklmnopqrstuvwxyz0123456789_");
        if (is_known(at + strlen(models), length))
            return arena_copy_part(arena, at + strlen(models), length);
    }
    for (const struct torchtitan_model *known = torchtitan_models; known->name; known++)
        if (!strncmp(known->name, function, strlen(known->name)))
            return known->name;
    return end ? arena_copy_part(arena, from, (size_t)(end - from)) : "";
}

/* Whether a converter has a scale for each row. */
static bool is_by_rows(const struct node *converter)
{
    const struct node *recipe = node_get(converter, "recipe_name");
    return recipe && recipe->kind == NODE_SCALAR && strstr(recipe->text, "rowwise");
}

/* What changes the model's matrices: by the classes of its converters. */
static void put_converters(struct node *model, const struct node *list, struct arena *arena)
{
    static const char *const words[][2] = {{"Float8", "float8"}, {"MX", "mx"}, {"NVFP4", "nvfp4"}, {"LoRA", "lora"}};
    struct node *converters = arena_alloc(arena, sizeof *converters);
    *converters = (struct node){.kind = NODE_LIST, .at = list->at, .key_at = list->key_at};
    for (const struct node *each = list->first; each; each = each->next)
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (is_made_by(each, words[i][0]))
                node_append(converters, text_node(is_by_rows(each) ? "float8 rowwise" : words[i][1], each, arena));
    put(model, "converters", converters);
}

static void put_model(struct node *out, const struct node *spec, const char *name, struct arena *arena)
{
    struct node *model = make_map("model", spec, arena);
    const struct node *flavor = node_get(spec, "0") ? node_get(spec, "0") : node_get(spec, "flavor"),
                      *converters = node_get(spec, "converters");
    put(model, "name", text_node(name, spec, arena));
    if (flavor)
        put(model, "flavor", node_copy(flavor, arena));
    if (converters && converters->kind == NODE_LIST)
        put_converters(model, converters, arena);
    else if (converters)
        put(model, "converters", node_copy(converters, arena));
    node_append(out, model);
}

/* ---- recomputation ---- */

/* `policy` NULL: the default of Trainer.Config. */
static void put_recompute(struct node *out, const struct node *policy, const struct node *root, struct arena *arena)
{
    const struct node *from = policy ? policy : root;
    struct node *section = make_map("activation_checkpoint", from, arena);
    const char *mode = !policy || is_made_by(policy, "SelectiveAC") ? "selective"
                       : is_made_by(policy, "FullAC")               ? "full"
                       : callee(policy)                             ? callee(policy)->text
                                                                    : "none";
    put(section, "mode", from->kind == NODE_REFUSED ? node_copy(from, arena) : text_node(mode, from, arena));
    put(section, "selective_ac_option", text_node("op", from, arena));
    node_append(out, section);
}

/* ---- the rest ---- */

struct node *program_plain(const struct node *node, struct arena *arena)
{
    struct node *copy = arena_alloc(arena, sizeof *copy);
    *copy = *node;
    copy->next = NULL;
    if (node->kind != NODE_MAP)
        return copy;
    copy->first = copy->last = NULL;
    copy->count = 0;
    for (const struct node *each = node->first; each; each = each->next)
        if (strcmp(each->key, python_callee) != 0)
            node_append(copy, program_plain(each, arena));
    return copy;
}

const struct node *torchtitan_python(const struct node *root, const char *file, const char *text, const char *function,
                                     const struct settings *settings)
{
    struct arena *arena = settings->arena;
    const struct node *spec = node_get(root, "model_spec"), *policy = node_get(root, "activation_checkpoint"),
                      *name = callee(root);
    if (!is_made_by(root, "Trainer.Config") || !name) {
        diag_error(settings->diag, root->at, "%s returns %s; expected Trainer.Config(...)", function,
                   root->kind == NODE_REFUSED && root->text ? root->text
                   : name                                   ? name->text
                                                            : "something else");
        return NULL;
    }
    if (!is_made_by(spec, "model_registry")) {
        diag_error(settings->diag, spec ? spec->at : root->at,
                   "model_spec is %s; expected model_registry(...) with the name of a flavor",
                   !spec                                      ? "missing"
                   : spec->kind == NODE_REFUSED && spec->text ? spec->text
                                                              : "something else");
        return NULL;
    }
    struct node *out = make_map(NULL, root, arena);
    put_model(out, spec, model_name(spec, file, text, function, arena), arena);
    put_recompute(out, policy, root, arena);
    for (const struct node *each = root->first; each; each = each->next)
        if (each != spec && each != policy && each != name)
            node_append(out, program_plain(each, arena));
    return out;
}
