/* SPDX-License-Identifier: Apache-2.0 */
/* What pages and pictures of a cluster show, as plain data: written beside them, so that `report` draws them again. */
#ifndef STAGESIM_JOBS_VIEW_H
#define STAGESIM_JOBS_VIEW_H

#include "cluster/jobs/jobs_output.h"

#define JOBS_SAVED "jobs.json"

enum { JOBS_TILES = 4 };

struct jobs_tile {
    const char *value, *name;
};

struct jobs_view {
    const char *title, *subtitle, *verdict, *remarks;
    struct jobs_tile tiles[JOBS_TILES];
    struct table *tables[JOBS_TABLES]; /* NULL: nothing to say */
    struct gantt *gantt;
};

/* Takes over the picture's boxes; texts from the arena. jobs_view_finish frees the rest. */
struct jobs_view jobs_view_create(const struct jobs_figures *figures, const struct jobs_description *description,
                                  struct gantt *gantt, struct arena *arena);
void jobs_view_finish(struct jobs_view *view);

/* jobs.json. */
void jobs_view_write(FILE *out, const struct jobs_view *view);
/* False after mistakes were reported; then there is nothing to finish. */
bool jobs_view_read(const char *file, struct jobs_view *view, struct arena *arena, struct diag *diag);

/* report.html and the pictures, those that are open. */
bool jobs_view_draw(const struct run_files *files, const struct jobs_view *view, struct fault *fault);

#endif
