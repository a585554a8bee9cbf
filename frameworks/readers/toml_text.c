/* SPDX-License-Identifier: Apache-2.0 */
/* Where the reader is, and its marks on nodes. */
#include "frameworks/readers/toml_parts.h"

#include "base/arena.h"

#include <string.h>

static const char *const marks[] = {"closed", "implied", "headed", "dotted", "tables"};

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

void toml_mark(struct toml *t, struct node *node, enum toml_mark mark)
{
    (void)t;
    node->text = marks[mark];
}

enum toml_mark toml_marked(const struct toml *t, const struct node *node)
{
    (void)t;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (node->text == marks[i])
            return (enum toml_mark)i;
    return TOML_CLOSED;
}
