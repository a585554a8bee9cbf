/* SPDX-License-Identifier: Apache-2.0 */
/* Lines: tables, keys with values, and what follows them. */
#include "frameworks/readers/toml.h"

#include "base/arena.h"
#include "frameworks/readers/text.h"
#include "frameworks/readers/toml_parts.h"

#include <string.h>

/* ---- tables ---- */

/* [a.b] */
static struct node *open_table(struct toml *t, struct node *parent, const char *key, size_t at)
{
    struct node *there = node_get(parent, key);
    if (!there) {
        there = toml_add(t, parent, key, toml_node(t, NODE_MAP, NULL, at), at);
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
        list = toml_add(t, parent, key, toml_node(t, NODE_LIST, NULL, at), at);
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
    struct node *parent = toml_path(t, root, &key, &at, TOML_IMPLIED);
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
