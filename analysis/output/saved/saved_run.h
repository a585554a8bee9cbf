/* SPDX-License-Identifier: Apache-2.0 */
/* What `run -o DIR --trace csv` wrote, read back: enough to draw its pictures and write its report again. */
#ifndef STAGESIM_SAVED_RUN_H
#define STAGESIM_SAVED_RUN_H

#include "analysis/pictures/gantt.h"
#include "base/diagnostics.h"

struct arena;

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

/* The runs of a `compare -o`, in its order, from its comparison.json; `count` of them. NULL after every mistake went to
 * diag. Memory from the arena. */
struct saved_row *saved_comparison_read(const char *file, size_t *count, struct arena *arena, struct diag *diag);

#endif
