/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a comparison.json whose runs are no single jobs, read back. */
#ifndef STAGESIM_KEPT_ROWS_H
#define STAGESIM_KEPT_ROWS_H

#include "analysis/output/comparison.h"

struct arena;
struct diag;
struct node;

/* What is compared. */
struct kept_rows {
    const char *schedule; /* the key of what is the schedule of other rows; no other comparison has it */
    const char *figure;   /* "a figure of a queue", for messages */
    const char *row;      /* "a queue with its completion, and the directory of its run" */
    /* Sets the figure that comparison.json calls so; false: there is none of that name. */
    bool (*set)(struct comparison_row *row, const char *key, double value);
    /* Whether all that a row must have is set. */
    bool (*finish)(struct comparison_row *row);
};

/* Those of the rows that have a directory, in their order; *count of them. NULL where the list compares something else,
 * and after mistakes were reported. Memory from the arena. */
struct comparison_row *kept_rows_read(const struct kept_rows *kind, const struct node *list, size_t *count,
                                      struct arena *arena, struct diag *diag);

#endif
