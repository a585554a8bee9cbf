/* SPDX-License-Identifier: Apache-2.0 */
/* What stagesim compare has run; for compare*.c only. */
#ifndef STAGESIM_COMPARED_H
#define STAGESIM_COMPARED_H

#include "analysis/output/comparison_output.h"
#include "commands/cli/options.h"
#include "studies/simulation.h"

/* A run of the comparison; `reason` is set where it cannot be. */
struct comparison_run {
    struct scenario *scenario; /* NULL: it could not even be loaded */
    const char *file;
    const char *name, *schedule; /* what it is called */
    char directory[300];         /* "NAME-SCHEDULE/" */
    const char *reason;          /* NULL: none is known */
    const char *said;            /* the whole message that the reason is of; NULL: none */
    struct run_files files;
    struct simulation_result result;
    struct nearest nearest;
};

struct comparison {
    const struct options *options;
    struct arena *arena;
    const char *command; /* as typed */
    struct diag diag;
    struct comparison_run *runs;
    size_t count, capacity;
    size_t asked;            /* runs, of which `count` were done; 0: all were */
    struct saved_row *older; /* the runs of the comparison that was in the same place; NULL: none */
    size_t older_count;
};

/* Prints the rows, and the utilization of each worker where there are few. */
void compared_print(const struct comparison *comparison);
/* comparison.csv and comparison.json. False with the fault filled. */
bool compared_write_rows(const struct comparison *comparison, struct output *output, struct fault *fault);
/* The pictures and the report on top, where any of the scenarios asks for them. False with the fault filled. */
bool compared_write_drawn(const struct comparison *comparison, struct output *output, struct fault *fault);

/* Looks what comparison is in the directory that will be written, before it is. */
void compared_find_older(struct comparison *comparison);
/* Removes the files of stagesim in the directories of those of its runs that the new one does not have. */
void compared_remove_older(const struct comparison *comparison);

#endif
