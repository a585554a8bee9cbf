/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that are no single job, as `report` reads them: of each kind one file has all that its page and pictures show.
 */
#ifndef STAGESIM_REPORT_KEPT_H
#define STAGESIM_REPORT_KEPT_H

#include "analysis/output/run_files.h"
#include "commands/kept_rows.h"

struct kept_kind {
    const char *file; /* of a run's directory */
    /* NULL after mistakes were reported. Memory from the arena, and what `finish` gives back. */
    void *(*read)(const char *path, struct arena *arena, struct diag *diag);
    void (*finish)(void *run);
    /* The pictures and report.html, those that are open. False with the fault filled. */
    bool (*draw)(const struct run_files *files, const void *run, struct fault *fault);
    /* The rows of comparisons of kinds that only their like are compared with; NULL: they are compared with any. */
    const struct kept_rows *rows;
    /* One run of several in the pictures of a comparison. The caller destroys it. */
    struct gantt *(*aligned)(const void *run, const struct comparison_row *row);
};

/* NULL-terminated. That of several jobs first. */
extern const struct kept_kind *const kept_kinds[];
/* Compared with any: the rows of comparisons are those of jobs. */
extern const struct kept_kind kept_jobs;

#endif
