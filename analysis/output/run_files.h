/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a run in the output directory. */
#ifndef STAGESIM_RUN_FILES_H
#define STAGESIM_RUN_FILES_H

#include "analysis/output/traces/trace_source.h"
#include "analysis/pictures/canvas.h"
#include "analysis/pictures/gantt.h"
#include "analysis/pictures/picture_form.h"
#include "base/files/output.h"
#include "job/scenario/scenario_kind.h"

enum { PICTURE_FORMATS = 3 };

/* Open for writing; NULL: not wanted. Opened in the parent, so that all runs' files appear together. */
struct run_files {
    FILE *summary, *operations, *critical_path, *slack, *memory, *paje, *chrome, *chrome_gzip, *perfetto, *html;
    FILE *tables[KIND_TABLES_MAX];   /* of what is no job, in the order of its kind; NULL: not wanted */
    FILE *pictures[PICTURE_FORMATS]; /* by enum canvas_format */
    struct picture_form form;        /* of them */
    FILE *saved;                     /* of what is no job: see struct scenario_kind */
};

/* Whether a format is among bits of enum scenario_picture. */
bool picture_wanted(unsigned pictures, enum canvas_format format);

/* How a scenario wants its pictures. */
struct picture_form picture_form_of(const struct scenario *scenario);

/* Opens what the scenario wants below `directory` ("" or "NAME/") of the set. False with the fault filled. */
bool run_files_open(struct run_files *files, const struct scenario *scenario, struct output *output,
                    const char *directory, struct fault *fault);
/* Only pictures (bits of enum scenario_picture), and report.html where `report`. */
bool run_files_open_drawn(struct run_files *files, unsigned pictures, const struct picture_form *form, bool report,
                          struct output *output, const char *directory, struct fault *fault);

/* Writes the pictures and report.html, those of them that are open. False with the fault filled. */
bool run_files_draw(const struct run_files *files, const struct report *report, const struct gantt *gantt,
                    struct fault *fault);
/* Writes every file that is open. */
bool run_files_write(const struct run_files *files, const struct trace_source *source, const struct report *report,
                     const struct gantt *gantt, struct fault *fault);

#endif
