/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of toml.h share; for them only. */
#ifndef STAGESIM_READERS_TOML_PARTS_H
#define STAGESIM_READERS_TOML_PARTS_H

#include "base/document.h"

/* How a table came to be, which says what may be added to it. Kept in the node's `quoted` and `text`, which tables do
 * not use otherwise. */
enum toml_mark {
    TOML_CLOSED,  /* written as a value: { } or [ ] */
    TOML_IMPLIED, /* a part of another table's name */
    TOML_HEADED,  /* [name] */
    TOML_DOTTED,  /* a part of a dotted key */
    TOML_TABLES   /* a list of [[name]] */
};

struct toml {
    const char *file, *text;
    size_t size, at;
    struct arena *arena;
    struct diag *diag;
    struct place reached; /* of the byte `counted` */
    size_t counted;
    unsigned nested; /* values within values */
    bool failed;
};

struct place toml_place(struct toml *toml, size_t offset);
struct node *toml_node(struct toml *toml, enum node_kind kind, const char *text, size_t at);
void toml_mark(struct toml *toml, struct node *node, enum toml_mark mark);
enum toml_mark toml_marked(const struct toml *toml, const struct node *node);
/* Reports the first mistake; returns false. */
bool toml_fail(struct toml *toml, size_t at, const char *what);
/* Blanks; with `lines` also line breaks and comments. */
void toml_skip(struct toml *toml, bool lines);
void toml_comment(struct toml *toml);

/* ---- toml_string.c ---- */

struct node *toml_string(struct toml *toml);

/* ---- toml_keys.c ---- */

/* Puts a child into a table, and returns it. NULL after a mistake was reported. */
struct node *toml_add(struct toml *toml, struct node *map, const char *key, struct node *child, size_t at);
/* The table that the keys before the last dot name, made as `mark` says; *key is the last one, *at its place. NULL
 * after a mistake was reported. */
struct node *toml_path(struct toml *toml, struct node *map, const char **key, size_t *at, enum toml_mark mark);

/* ---- toml_value.c ---- */

struct node *toml_value(struct toml *toml, unsigned depth);
/* key = value into a table. */
bool toml_pair(struct toml *toml, struct node *map);

#endif
