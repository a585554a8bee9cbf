/* SPDX-License-Identifier: Apache-2.0 */
/* A YAML file as a tree in which every value knows its place. One document of scalars, lists and maps with scalar keys;
 * aliases, anchors, tags, further documents and repeated keys are refused. */
#ifndef STAGESIM_DOCUMENT_H
#define STAGESIM_DOCUMENT_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;

enum node_kind {
    NODE_SCALAR,
    NODE_LIST,
    NODE_MAP,
    NODE_REFUSED /* an alias or the like: reported already, to be passed over in silence; with a text, which says what
                  * it is, not reported yet: by whom it is needed */
};

struct node {
    enum node_kind kind;
    struct place at;           /* of the value */
    const char *key;           /* entry of a map; NULL otherwise */
    struct place key_at;       /* of the key */
    const char *text;          /* NODE_SCALAR; never holds a NUL byte inside */
    bool quoted;               /* NODE_SCALAR: written in quotes, so '' is a text and not a missing value */
    struct node *first, *last; /* children of a list or map, linked by `next` in the order of the file */
    struct node *next;
    size_t count; /* children */
};

/* Larger files, deeper nesting and larger maps are refused. */
enum { DOCUMENT_BYTES_MAX = 1 << 20, DOCUMENT_DEPTH_MAX = 32, DOCUMENT_KEYS_MAX = 1000 };

/* What a file is expected to be. */
struct document_kind {
    enum node_kind top;   /* NODE_MAP or NODE_LIST */
    size_t bytes_max;     /* larger files are refused */
    const char *expected; /* "lines such as 'platform: cluster.xml'", for messages */
    const char *second;   /* what is wrong with a second document */
};
extern const struct document_kind document_scenario; /* a map of DOCUMENT_BYTES_MAX at most */

/* Reads a file whose top level is a map; the tree lives in the arena, and its places name the file as given. NULL after
 * a mistake that leaves no tree; after others, which are only reported, reading can go on. Why a file cannot be read at
 * all is reported at `at`. */
struct node *document_load(const char *file, struct place at, struct arena *arena, struct diag *diag);

/* The same for files of other kinds; JSON is YAML, too. */
struct node *document_load_kind(const struct document_kind *kind, const char *file, struct place at,
                                struct arena *arena, struct diag *diag);
/* The same for text in memory. */
struct node *document_parse_kind(const struct document_kind *kind, const char *file, const char *text, size_t size,
                                 struct arena *arena, struct diag *diag);

/* Puts a value (YAML text: a scalar, or a list or map in flow style) at a dotted path below the map `root`, replacing
 * what is there and making maps on the way; list entries are named by number. All places in it are `at`. False after a
 * mistake was reported. */
bool document_set(struct node *root, const char *path, const char *value, struct place at, struct arena *arena,
                  struct diag *diag);

/* Puts a child behind the others of a list or map. */
void node_append(struct node *parent, struct node *child);
/* A node with all below it, in the arena; texts are shared. */
struct node *node_copy(const struct node *node, struct arena *arena);
/* Makes of a value the map that has it as its one entry. */
void node_wrap(struct node *node, const char *key, struct arena *arena);
/* The entry of a map, or NULL (also when `map` is NULL or no map). */
struct node *node_get(const struct node *map, const char *key);
/* The same along a dotted path. */
struct node *node_find(const struct node *root, const char *path);
/* The value's place at a dotted path; where the path does not exist, that of its longest part that does. */
struct place node_place(const struct node *root, const char *path);
/* The place of the index-th entry of the list at a dotted path; that of the path where it has no such entry. */
struct place node_entry_place(const struct node *root, const char *path, size_t index);
/* A scalar that was left empty ("key:"). */
bool node_is_empty(const struct node *node);
/* What a value is, for messages: "the text 'abc'", "a list", "a map", "nothing". Memory from the arena. */
const char *node_describe(const struct node *node, struct arena *arena);

#endif
