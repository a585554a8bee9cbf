/* SPDX-License-Identifier: Apache-2.0 */
/* Maps of foreign files: what was looked up, and what nobody asked for. */
#include "base/arena.h"
#include "frameworks/import/parts.h"

#include <string.h>

struct reading reading_of(const struct node *root, struct settings *settings)
{
    struct reading reading = {.root = root, .settings = settings};
    reading.used = arena_array(settings->arena, DOCUMENT_KEYS_MAX, sizeof *reading.used);
    return reading;
}

static bool is_used(const struct reading *r, const struct node *node)
{
    for (size_t i = 0; i < r->used_count; i++)
        if (r->used[i] == node)
            return true;
    return false;
}

/* The value at a path, or what stands in its place: a map on the way to it that is not known. */
static const struct node *find(struct reading *r, const char *path)
{
    const struct node *node = node_find(r->root, path);
    for (size_t length = strlen(path); !node && length; length--)
        if (path[length] == '.') {
            const struct node *above = node_find(r->root, arena_copy_part(r->settings->arena, path, length));
            if (above && above->kind == NODE_REFUSED)
                return above;
        }
    return node;
}

const struct node *reading_get(struct reading *r, const char *path)
{
    const struct node *node = find(r, path);
    if (node && node->kind == NODE_REFUSED && node->text && !is_used(r, node))
        diag_error(r->settings->diag, node->at, "%s is %s, which stagesim does not run; expected a value",
                   node->key ? node->key : path, node->text);
    if (node && r->used_count < DOCUMENT_KEYS_MAX)
        r->used[r->used_count++] = node;
    return node_given(node) && node->kind != NODE_REFUSED ? node : NULL;
}

uint64_t reading_count(struct reading *r, const char *path, uint64_t other)
{
    const struct node *node = reading_get(r, path);
    uint64_t count;
    if (!node)
        return other;
    if (node_count(node, &count))
        return count;
    diag_error(r->settings->diag, node->at, "%s is %s; expected a count", path,
               node_describe(node, r->settings->arena));
    return other;
}

bool reading_flag(struct reading *r, const char *path, bool other)
{
    const struct node *node = reading_get(r, path);
    bool flag = other;
    if (node && !node_flag(node, &flag))
        diag_error(r->settings->diag, node->at, "%s is %s; expected true or false", path,
                   node_describe(node, r->settings->arena));
    return flag;
}

const char *reading_text(struct reading *r, const char *path, const char *other)
{
    const struct node *node = reading_get(r, path);
    return node && node->kind == NODE_SCALAR ? node->text : other;
}

struct source reading_source(struct reading *r, const char *path, const char *framework)
{
    const struct node *node = node_find(r->root, path);
    if (node_given(node))
        return source_given(node->key_at, path);
    return source_default(arena_print(r->settings->arena, "%s without %s", framework, path));
}

/* ---- what is left ---- */

static bool matches(const char *pattern, const char *path)
{
    size_t length = strlen(pattern);
    return pattern[length - 1] == '*' ? !strncmp(pattern, path, length - 1) : !strcmp(pattern, path);
}

/* A value that switches nothing on. */
static bool is_off(const struct node *node)
{
    bool flag;
    double number;
    return !node_given(node) || (node_flag(node, &flag) && !flag) || (node_number(node, &number) && number == 0) ||
           (node->kind == NODE_SCALAR && (!strcmp(node->text, "none") || !*node->text));
}

static void account_one(struct reading *r, const struct node *node, const char *path, const char *const *ignored,
                        const char *const *partial)
{
    for (; partial && *partial; partial += 2)
        if (matches(partial[0], path)) {
            if (!is_off(node))
                settings_remark(r->settings, REMARK_PARTIAL, node->key_at, path, "%s", partial[1]);
            return;
        }
    for (; *ignored; ignored++)
        if (matches(*ignored, path)) { /* a name without * is of a value: what a map holds is looked at */
            r->settings->ignored += node->kind != NODE_MAP || strchr(*ignored, '*');
            return;
        }
    if (node->kind != NODE_MAP)
        settings_remark(r->settings, REMARK_UNKNOWN, node->key_at, path, "no key that stagesim knows");
}

static void account_map(struct reading *r, const struct node *map, const char *before, const char *const *ignored,
                        const char *const *partial)
{
    for (const struct node *node = map->first; node; node = node->next) {
        const char *path = *before ? arena_print(r->settings->arena, "%s.%s", before, node->key) : node->key;
        if (is_used(r, node) && node->kind != NODE_MAP)
            continue;
        unsigned ignored_before = r->settings->ignored;
        account_one(r, node, path, ignored, partial);
        if (node->kind == NODE_MAP && r->settings->ignored == ignored_before)
            account_map(r, node, path, ignored, partial);
    }
}

void reading_account(struct reading *r, const char *const *ignored, const char *const *partial)
{
    account_map(r, r->root, "", ignored, partial);
}
