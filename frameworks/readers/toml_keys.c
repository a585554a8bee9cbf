/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, dotted or not, and the tables that they lead to. */
#include "frameworks/readers/toml_parts.h"

#include "base/arena.h"

#include <string.h>

static bool is_bare(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static const char *read_key(struct toml *t)
{
    size_t from = t->at;
    if (t->text[t->at] == '"' || t->text[t->at] == '\'') {
        if (!strncmp(t->text + t->at, "\"\"\"", 3) || !strncmp(t->text + t->at, "'''", 3)) {
            toml_fail(t, from, "a key of several lines");
            return NULL;
        }
        struct node *node = toml_string(t);
        return node ? node->text : NULL;
    }
    while (t->at < t->size && is_bare(t->text[t->at]))
        t->at++;
    if (t->at == from) {
        toml_fail(t, from, "expected a key");
        return NULL;
    }
    return arena_print(t->arena, "%.*s", (int)(t->at - from), t->text + from);
}

struct node *toml_add(struct toml *t, struct node *map, const char *key, struct node *child, size_t at)
{
    if (map->count >= DOCUMENT_KEYS_MAX) {
        toml_fail(t, at, "a table of too many keys");
        return NULL;
    }
    child->key = key;
    child->key_at = toml_place(t, at);
    node_append(map, child);
    return child;
}

/* The last entry of a list of tables stands for it. */
static struct node *table_of(struct node *node)
{
    return node && node->kind == NODE_LIST ? node->last : node;
}

/* The table below `map`, made where there is none. `marks`: how it comes to be, see enum toml_mark. */
static struct node *enter(struct toml *t, struct node *map, const char *key, size_t at, enum toml_mark mark)
{
    struct node *there = node_get(map, key);
    if (!there) {
        there = toml_add(t, map, key, toml_node(t, NODE_MAP, NULL, at), at);
        if (there)
            toml_mark(t, there, mark);
        return there;
    }
    if (there->kind == NODE_LIST && toml_marked(t, there) != TOML_TABLES) {
        toml_fail(t, at, "this key is an array already");
        return NULL;
    }
    there = table_of(there);
    if (!there || there->kind != NODE_MAP || toml_marked(t, there) == TOML_CLOSED ||
        (mark == TOML_DOTTED && toml_marked(t, there) != TOML_DOTTED)) {
        toml_fail(t, at, "this key has a value already");
        return NULL;
    }
    return there;
}

/* The table that the keys before the last dot name; *key is the last one. */
struct node *toml_path(struct toml *t, struct node *map, const char **key, size_t *at, enum toml_mark mark)
{
    for (unsigned depth = 0; map && depth < DOCUMENT_DEPTH_MAX; depth++) {
        *at = t->at;
        *key = read_key(t);
        if (!*key)
            return NULL;
        toml_skip(t, false);
        if (t->text[t->at] != '.')
            return map;
        t->at++;
        toml_skip(t, false);
        map = enter(t, map, *key, *at, mark);
    }
    if (map)
        toml_fail(t, t->at, "tables are nested too deep");
    return NULL;
}
