/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of a config.json: read once, under any of their names, with where each value came from. */
#include "frameworks/models/huggingface_parts.h"

#include "base/arena.h"
#include "base/quantity.h"

#include <string.h>

static void mark_used(struct config *c, const struct node *node)
{
    if (c->used_count < DOCUMENT_KEYS_MAX)
        c->used[c->used_count++] = node;
}

const struct node *config_find(struct config *c, const char *keys)
{
    const struct node *found = NULL;
    for (size_t length; *keys; keys += length + (keys[length] == ' ')) {
        length = strcspn(keys, " ");
        const struct node *node = node_get(c->root, arena_print(c->settings->arena, "%.*s", (int)length, keys));
        if (node)
            mark_used(c, node);
        if (!found || !node_given(found))
            found = node ? node : found;
    }
    return found;
}

const struct node *config_get(struct config *c, const char *keys)
{
    const struct node *node = config_find(c, keys);
    return node_given(node) ? node : NULL;
}

/* Several keys of a scenario may follow from one value: what is wrong with it is said once. */
static void report_wrong(struct config *c, const struct node *node, const char *expected)
{
    for (size_t i = 0; i < c->wrong_count; i++)
        if (c->wrong[i] == node)
            return;
    if (c->wrong_count < CONFIG_WRONG_MAX)
        c->wrong[c->wrong_count++] = node;
    diag_error(c->settings->diag, node->at, "%s is %s; expected %s", node->key, node_describe(node, c->settings->arena),
               expected);
}

uint64_t config_count(struct config *c, const char *keys, uint64_t other)
{
    uint64_t count;
    const struct node *node = config_get(c, keys);
    if (!node)
        return other;
    if (node_count(node, &count))
        return count;
    report_wrong(c, node, "a count");
    return other;
}

static void report_nothing(struct config *c, const struct node *node)
{
    diag_error(c->settings->diag, node->at, "%s is 0; expected a count from 1", node->key);
}

uint64_t config_positive(struct config *c, const char *keys, uint64_t other)
{
    uint64_t count = config_count(c, keys, other);
    if (!count)
        report_nothing(c, config_get(c, keys));
    return count;
}

bool config_flag(struct config *c, const char *key, bool other)
{
    const struct node *node = config_get(c, key);
    bool flag = other;
    if (node && !node_flag(node, &flag))
        report_wrong(c, node, "true or false");
    return flag;
}

struct source config_given(const struct node *node)
{
    return source_given(node->key_at, node->key);
}

struct source config_default(const struct config *c, const char *name)
{
    const char *text = arena_print(c->settings->arena, "%s, where %s is not given", c->family->type, name);
    return source_default(text);
}

struct source config_fixed(const struct config *c)
{
    struct arena *arena = c->settings->arena;
    return source_given(node_get(c->root, "model_type")->key_at, arena_print(arena, "model_type %s", c->family->type));
}

void config_put_fixed(struct config *c, const char *key, const char *value)
{
    settings_put(c->settings, key, value, config_fixed(c));
}

void config_put_flag(struct config *c, const char *key, const char *name, bool other)
{
    const struct node *node = config_get(c, name);
    bool value = config_flag(c, name, other);
    settings_put_flag(c->settings, key, value, node ? config_given(node) : config_default(c, name));
}

uint64_t config_put_count(struct config *c, const char *key, const char *keys, uint64_t other, bool needed)
{
    const struct node *node = config_get(c, keys);
    const char *first = arena_print(c->settings->arena, "%.*s", (int)strcspn(keys, " "), keys);
    uint64_t count = config_count(c, keys, other), given;
    if (node && !node_count(node, &given))
        return count;
    if (node && needed && !count)
        report_nothing(c, node);
    else if (node)
        settings_put_count(c->settings, key, count, config_given(node));
    else if (other)
        settings_put_count(c->settings, key, other, config_default(c, first));
    else if (needed)
        diag_error(c->settings->diag, c->root->at, "the file has no '%s', which a model of type %s needs", first,
                   c->family->type);
    return count;
}
