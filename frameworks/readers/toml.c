/* SPDX-License-Identifier: Apache-2.0 */
/* Lines: tables, keys, and what follows a value. The values are in toml_value.c. */
#include "frameworks/readers/toml.h"

#include "base/arena.h"
#include "frameworks/readers/text.h"
#include "frameworks/readers/toml_parts.h"

#include <string.h>

struct node *toml_node(struct toml *t, enum node_kind kind, const char *text, size_t at)
{
    struct node *node = arena_alloc(t->arena, sizeof *node);
    *node = (struct node){.kind = kind, .text = text, .at = toml_place(t, at)};
    return node;
}

struct place toml_place(struct toml *t, size_t offset)
{
    if (offset < t->counted) {
        t->counted = 0;
        t->reached = (struct place){t->file, 1, 1};
    }
    for (; t->counted < offset; t->counted++) {
        char c = t->text[t->counted];
        t->reached.column = c == '\n' ? 1 : t->reached.column + (((unsigned char)c & 0xC0) != 0x80);
        t->reached.line += c == '\n';
    }
    return t->reached;
}

bool toml_fail(struct toml *t, size_t at, const char *what)
{
    if (!t->failed)
        diag_error(t->diag, toml_place(t, at), "this is not TOML: %s", what);
    t->failed = true;
    return false;
}

void toml_skip(struct toml *t, bool lines)
{
    while (t->at < t->size) {
        char c = t->text[t->at];
        if (c == ' ' || c == '\t' || (lines && c == '\n') || (lines && c == '\r' && t->text[t->at + 1] == '\n'))
            t->at++;
        else if (lines && c == '#')
            toml_comment(t);
        else
            return;
    }
}

void toml_comment(struct toml *t)
{
    while (t->at < t->size && t->text[t->at] != '\n') {
        unsigned char c = (unsigned char)t->text[t->at];
        if ((c < ' ' && c != '\t' && !(c == '\r' && t->text[t->at + 1] == '\n')) || c == 127) {
            toml_fail(t, t->at, "a control character in a comment");
            return;
        }
        t->at++;
    }
}

/* ---- keys ---- */

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

static struct node *add_child(struct toml *t, struct node *map, const char *key, struct node *child, size_t at)
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
        there = add_child(t, map, key, toml_node(t, NODE_MAP, NULL, at), at);
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
static struct node *read_path(struct toml *t, struct node *map, const char **key, size_t *at, enum toml_mark mark)
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

bool toml_pair(struct toml *t, struct node *map)
{
    const char *key;
    size_t at;
    struct node *table = read_path(t, map, &key, &at, TOML_DOTTED);
    if (!table)
        return false;
    if (t->text[t->at] != '=')
        return toml_fail(t, t->at, "expected '=' behind the key");
    t->at++;
    toml_skip(t, false);
    if (node_get(table, key))
        return toml_fail(t, at, "this key has a value already");
    struct node *value = toml_value(t, 0);
    return value && add_child(t, table, key, value, at);
}

/* ---- tables ---- */

/* [a.b] */
static struct node *open_table(struct toml *t, struct node *parent, const char *key, size_t at)
{
    struct node *there = node_get(parent, key);
    if (!there) {
        there = add_child(t, parent, key, toml_node(t, NODE_MAP, NULL, at), at);
        if (there)
            toml_mark(t, there, TOML_HEADED);
        return there;
    }
    if (there->kind != NODE_MAP || toml_marked(t, there) != TOML_IMPLIED) {
        toml_fail(t, at, "this table is there already");
        return NULL;
    }
    toml_mark(t, there, TOML_HEADED);
    return there;
}

/* [[a.b]] */
static struct node *open_entry(struct toml *t, struct node *parent, const char *key, size_t at)
{
    struct node *list = node_get(parent, key);
    if (!list) {
        list = add_child(t, parent, key, toml_node(t, NODE_LIST, NULL, at), at);
        if (list)
            toml_mark(t, list, TOML_TABLES);
    } else if (list->kind != NODE_LIST || toml_marked(t, list) != TOML_TABLES) {
        toml_fail(t, at, "this key is no list of tables");
        return NULL;
    }
    if (!list)
        return NULL;
    struct node *entry = toml_node(t, NODE_MAP, NULL, at);
    toml_mark(t, entry, TOML_HEADED);
    node_append(list, entry);
    return entry;
}

static struct node *read_header(struct toml *t, struct node *root)
{
    bool twice = t->text[t->at + 1] == '[';
    const char *key;
    size_t at;
    t->at += twice ? 2 : 1;
    toml_skip(t, false);
    struct node *parent = read_path(t, root, &key, &at, TOML_IMPLIED);
    if (!parent)
        return NULL;
    if (t->text[t->at] != ']' || (twice && t->text[t->at + 1] != ']')) {
        toml_fail(t, t->at, "expected ']' behind the table's name");
        return NULL;
    }
    t->at += twice ? 2 : 1;
    return twice ? open_entry(t, parent, key, at) : open_table(t, parent, key, at);
}

static void end_line(struct toml *t)
{
    toml_skip(t, false);
    if (t->text[t->at] == '#')
        toml_comment(t);
    if (t->at < t->size && t->text[t->at] == '\r' && t->text[t->at + 1] == '\n')
        t->at++;
    if (t->at < t->size && t->text[t->at] != '\n')
        toml_fail(t, t->at, "expected the end of the line");
}

struct node *toml_parse(const char *file, const char *text, size_t size, struct arena *arena, struct diag *diag)
{
    struct toml t = {.file = file, .text = text, .size = size, .arena = arena, .diag = diag, .reached = {file, 1, 1}};
    if (text_bad_utf8(text, size) < size)
        toml_fail(&t, text_bad_utf8(text, size), "a byte that is no UTF-8");
    if (!strncmp(text, "\xEF\xBB\xBF", 3))
        t.at = 3;
    struct node *root = toml_node(&t, NODE_MAP, NULL, 0), *table = root;
    for (toml_skip(&t, true); t.at < size && !t.failed; toml_skip(&t, true)) {
        if (text[t.at] == '[')
            table = read_header(&t, root);
        else
            toml_pair(&t, table);
        if (!t.failed)
            end_line(&t);
    }
    return t.failed ? NULL : root;
}
