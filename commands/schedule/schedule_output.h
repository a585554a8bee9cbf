/* SPDX-License-Identifier: Apache-2.0 */
/* A plan with its times as text drawing, csv and json. */
#ifndef STAGESIM_SCHEDULE_OUTPUT_H
#define STAGESIM_SCHEDULE_OUTPUT_H

#include "analysis/pictures/canvas.h"
#include "analysis/pictures/picture_form.h"
#include "base/tables/table_write.h"
#include "schedules/plan/plan_timing.h"
#include "schedules/schedule.h"

#include <stdio.h>

/* What is shown; all borrowed. */
struct schedule_view {
    const char *name;
    const struct schedule *schedule;        /* NULL: from a file */
    const struct schedule_request *request; /* NULL: from a file */
    const struct plan *plan;
    const struct plan_timing *timing;
};

/* How the drawing for a terminal looks. */
struct schedule_text_style {
    unsigned width; /* columns; longer drawings continue below */
    bool colour;    /* with escape sequences */
};

/* Workers as rows, time as columns. A slot is its letter and micro-batch (":c" its chunk where workers hold several, a
 * or b its half), filled up with '.' for F, '=' for B, '-' for W; a block of two starts with both names. Then the
 * figures. */
void schedule_text_write(FILE *out, const struct schedule_view *view, struct schedule_text_style style);

/* worker,index,kind,stage,micro_batch,pipeline,part,start,end: what plan_file_read reads again. */
void schedule_csv_write(FILE *out, const struct schedule_view *view);

/* The figures under the summary's names, and the slots under those of the csv. */
void schedule_json_write(FILE *out, const struct schedule_view *view);

/* The lines below the drawing: time, bubble, what the workers hold. */
void schedule_figures_write(FILE *out, const struct schedule_view *view);

/* A row for each worker: when it begins and ends, how long it computes, what it holds; then the figures. Of a format
 * that people read. */
void schedule_table_write(FILE *out, const struct schedule_view *view, enum table_format format);

/* The picture. False with the fault filled when it could not be drawn or written. */
bool schedule_picture_write(FILE *out, const struct schedule_view *view, enum canvas_format format,
                            const struct picture_form *form, struct fault *fault);

/* Slots of a block of two that stand at the front (1) and behind (2); 0: alone. */
unsigned schedule_block_place(const struct plan_order *order, size_t index);

#endif
