/* SPDX-License-Identifier: Apache-2.0 */
/* Slots as a file gives them, each with its place, and the plan that they are. What readers of schedule files share. */
#ifndef STAGESIM_PLAN_ROWS_H
#define STAGESIM_PLAN_ROWS_H

#include "base/diagnostics.h"
#include "schedules/plan/plan.h"

#include <stdio.h>

enum { ROW_NUMBER_MAX = SCHEDULE_STAGES_MAX - 1, ROW_MICRO_BATCH_MAX = SCHEDULE_FORWARDS_MAX - 1 };

/* A slot. Rows of one worker stand in the order in which it executes them. */
struct plan_row {
    uint32_t worker, stage, micro_batch, pipeline, index, slice;
    uint32_t line, column;
    uint8_t kind, part; /* enum slot_kind, enum slot_part */
    bool even;          /* see struct plan, even_slices */
    double transfer;    /* of E and L to host memory: see struct plan; 0: not said */
    double share;       /* of a forward of a slice: of the sequence; of R: of the forward; 0: not said */
    bool braided;       /* where it belongs to the block of the row before: SLOT_BRAIDED */
};

/* Rows being read. `blocks`: neighbours of a worker with one index are one block. */
struct plan_rows {
    const char *name, *unit; /* the file's in messages; what a slot is called there: "rows" */
    struct diag *diag;
    bool blocks;
    struct plan_row *rows;
    size_t count, capacity;
};

/* How many of what rows name. */
struct plan_sizes {
    uint32_t workers, stages, pipelines, micro_batches;
};

void plan_rows_add(struct plan_rows *rows, const struct plan_row *row);
void plan_rows_finish(struct plan_rows *rows);

/* The sizes of at least one row. False with the mistake reported where the rows could not fill them: then no memory
 * should be taken for them. */
bool plan_rows_sizes(const struct plan_rows *rows, struct plan_sizes *sizes);
/* The plan, checked; the caller owns it. NULL after every mistake was reported at its place. Micro-batches of rows
 * that have slices are numbered by slices afterwards. */
struct plan *plan_rows_build(struct plan_rows *rows);

/* The rows of a plan as a schedule file has them. Errors stay on the stream. */
void plan_rows_write(const struct plan *plan, FILE *out);

#endif
