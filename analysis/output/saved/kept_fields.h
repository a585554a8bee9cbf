/* SPDX-License-Identifier: Apache-2.0 */
/* What pages are drawn from, as JSON, written and read back. */
#ifndef STAGESIM_KEPT_FIELDS_H
#define STAGESIM_KEPT_FIELDS_H

#include "base/document.h"
#include "base/json_writer.h"
#include "base/table.h"

/* A file that is read. */
struct kept_file {
    const char *name; /* for messages */
    struct arena *arena;
    struct diag *diag;
    bool good; /* until a mistake is reported, the first one only */
};

/* Loads a file; NULL after a mistake was reported. */
const struct node *kept_load(const char *path, struct kept_file *file);
void kept_refuse(struct kept_file *file, const struct node *node, const char *expected);
/* What is there; after a mistake "", 0, an empty list. Where the node is NULL the mistake is in the parent. */
const char *kept_text(struct kept_file *file, const struct node *node, const struct node *parent);
double kept_number(struct kept_file *file, const struct node *node, const struct node *parent);
/* Whole, from 0 to below UINT32_MAX. */
uint32_t kept_count(struct kept_file *file, const struct node *node, const struct node *parent);
const struct node *kept_list(struct kept_file *file, const struct node *map, const char *key);
/* The item behind this one; NULL: there is none. */
const struct node *kept_next(const struct node *node);

/* Members "columns" and "rows" of a map; `aligned`: titles begin with '<' or '>', and otherwise only the first column
 * is on the left. */
void kept_table_write(struct json_writer *json, const struct table *table, bool aligned);
void kept_table_read(struct kept_file *file, const struct node *map, bool aligned, struct table *table);

#endif
