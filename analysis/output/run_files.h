/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a run in the output directory. */
#ifndef STAGESIM_RUN_FILES_H
#define STAGESIM_RUN_FILES_H

#include "analysis/output/traces/trace_source.h"
#include "analysis/pictures/canvas.h"
#include "analysis/pictures/gantt.h"
#include "analysis/pictures/picture_form.h"
#include "base/files/output.h"
#include "base/words/output_formats.h"

enum { PICTURE_FORMATS = 3, RUN_TABLES_MAX = 4 };

/* Which files a run writes. */
struct run_wanted {
    unsigned traces, pictures; /* bits of enum trace_bit, picture_bit */
    bool report;
    struct picture_form form; /* of the pictures */
    /* What is no job writes these, NULL-terminated, at most RUN_TABLES_MAX, in place of the tables of operations, and
     * one more that `report` draws from; NULL: a job, none. */
    const char *const *tables;
    const char *saved;
};

/* Open for writing; NULL: not wanted. Opened in the parent, so that all runs' files appear together. */
struct run_files {
    FILE *summary, *operations, *critical_path, *slack, *memory, *paje, *chrome, *chrome_gzip, *perfetto, *goal, *html;
    FILE *tables[RUN_TABLES_MAX];    /* of what is no job, in the order wanted; NULL: not wanted */
    FILE *pictures[PICTURE_FORMATS]; /* by enum canvas_format */
    struct picture_form form;        /* of them */
    FILE *saved;                     /* of what is no job */
    FILE *chakra;                    /* a file for each rank, as parts (base/files/parts.h) of no file of the set */
    char directory[256];             /* below the set's, for those: "" or "NAME/" */
    char chakra_name[512];           /* of their directory, for faults */
};

/* Whether a format is among bits of enum picture_bit. */
bool picture_wanted(unsigned pictures, enum canvas_format format);

/* Opens what is wanted below `directory` ("" or "NAME/") of the set. False with the fault filled. */
bool run_files_open(struct run_files *files, const struct run_wanted *wanted, struct output *output,
                    const char *directory, struct fault *fault);
/* Only pictures (bits of enum picture_bit), and report.html where `report`. */
bool run_files_open_drawn(struct run_files *files, unsigned pictures, const struct picture_form *form, bool report,
                          struct output *output, const char *directory, struct fault *fault);

/* Writes the pictures and report.html, those of them that are open. False with the fault filled. */
bool run_files_draw(const struct run_files *files, const struct report *report, const struct gantt *gantt,
                    struct fault *fault);
/* Whether traces for other simulators are not too large, and their files may be opened (output NULL: nobody asks).
 * False with the fault filled, and refused where it is about files. */
bool run_files_allow(const struct run_files *files, struct output *output, const struct program *const *programs,
                     uint32_t count, struct fault *fault);
/* What of a program those traces cannot say, for people; NULL: nothing. */
const char *run_files_lose(const struct run_files *files, const struct program *program);
/* Writes traces for other simulators, of one job or several. False with the fault filled. */
bool run_files_replay(const struct run_files *files, const struct trace_job *jobs, uint32_t count, struct fault *fault);
/* For the parent of the process that has written: what became a file for each rank joins the set, and what it came by
 * is closed. `done`: it has written all; otherwise nothing joins. False with the fault filled. */
bool run_files_join(struct run_files *files, bool done, struct output *output, struct fault *fault);
/* Writes every file that is open. */
bool run_files_write(const struct run_files *files, const struct trace_source *source, const struct report *report,
                     const struct gantt *gantt, struct fault *fault);

#endif
