/* SPDX-License-Identifier: Apache-2.0 */
/* Members of a JSON file of stagesim's, read back into structs. What is no such value goes to the reader's diag with
 * its place, and the target stays as it was. */
#ifndef STAGESIM_SAVED_MEMBER_H
#define STAGESIM_SAVED_MEMBER_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct node;

struct saved_reader {
    struct arena *arena; /* of what is read */
    struct diag *diag;
};

enum saved_type { SAVED_TEXT, SAVED_NUMBER, SAVED_POSITIVE, SAVED_COUNT, SAVED_FLAG };

/* A member of the file and where it belongs. */
struct saved_member {
    const char *path; /* dotted, from a node */
    enum saved_type type;
    bool required;
    size_t offset; /* const char *, double, double, uint32_t, bool */
};

/* A number from `least` (-INFINITY: any) to 1e30; false after a mistake. */
bool saved_number(const struct saved_reader *reader, const struct node *node, double least, double *number);
/* A whole number up to INT32_MAX; false after a mistake. */
bool saved_count(const struct saved_reader *reader, const struct node *node, uint32_t *count);
/* A text in quotes, which lives as long as the file's nodes. */
void saved_text(const struct saved_reader *reader, const struct node *node, const char **text);

/* The member below `root`, into the struct at `target`. It is a mistake if it is required and missing. */
void saved_member_read(const struct saved_reader *reader, const struct node *root, const struct saved_member *member,
                       char *target);
void saved_members_read(const struct saved_reader *reader, const struct node *root, const struct saved_member *members,
                        size_t count, void *target);

#endif
