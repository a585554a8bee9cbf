/* SPDX-License-Identifier: Apache-2.0 */
/* What `run -o DIR --trace csv` wrote, read back: enough to draw its pictures and write its report again. */
#ifndef STAGESIM_SAVED_RUN_H
#define STAGESIM_SAVED_RUN_H

#include "analysis/pictures/gantt.h"
#include "base/diagnostics.h"

struct arena;
struct node;

struct saved_run {
    struct report *report; /* in the arena */
    struct gantt *gantt;   /* the caller owns it */
};

/* Reads summary.json, operations.csv, critical-path.csv and memory.csv of a directory. False after every mistake went
 * to diag. */
bool saved_run_read(const char *directory, struct saved_run *run, struct arena *arena, struct diag *diag);

/* A run of a comparison, and what is known of it there: of several jobs on one platform that is all there is. */
struct saved_row {
    const char *directory, *scenario, *schedule, *engine;
    double iteration, samples_per_s, bubble; /* seconds; a share */
    bool asynchronous;
};

/* The list in a comparison.json, which `compare -o` wrote. NULL after the mistake went to diag. Memory from the arena.
 */
const struct node *saved_comparison_load(const char *file, struct arena *arena, struct diag *diag);
/* The runs of such a list, in its order; `count` of them. NULL after every mistake went to diag. Memory from the arena.
 */
struct saved_row *saved_comparison_read(const struct node *list, size_t *count, struct arena *arena, struct diag *diag);

#endif
