/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a cluster for people and programs. */
#ifndef STAGESIM_JOBS_OUTPUT_H
#define STAGESIM_JOBS_OUTPUT_H

#include "analysis/output/run_files.h"
#include "analysis/pictures/gantt.h"
#include "base/table.h"
#include "base/tables/table_write.h"
#include "cluster/jobs/jobs_figures.h"

struct arena;
struct jobs_view;

/* What the outputs say of the cluster beside its figures; borrowed. */
struct jobs_description {
    const struct scenario *scenario;
    const struct platform *platform;
    const struct engine *engine;
    const char *command; /* NULL: not known */
};

/* ---- jobs_tables.c: each is the caller's to destroy ---- */

enum jobs_table { JOBS_TABLE, JOBS_TABLE_SHARED, JOBS_TABLE_KINDS, JOBS_TABLE_PAIRS, JOBS_TABLES };
extern const char *const jobs_table_titles[JOBS_TABLES];
/* NULL where there is nothing to say. */
struct table *jobs_table_create(const struct jobs_figures *figures, enum jobs_table which);
/* What was simulated and what follows from it: lines. */
void jobs_remarks(FILE *out, const struct jobs_figures *figures, const struct jobs_description *description);

/* ---- jobs_gantt.c ---- */

/* A row for each job: above when any of its ranks computes, below when any of its transfers moves. */
struct gantt *jobs_gantt_create(const struct jobs_figures *figures, struct platform *whole,
                                const struct jobs_description *description);

/* ---- jobs_files.c, jobs_page.c ---- */

void jobs_summary_write(FILE *out, const struct jobs_figures *figures, const struct jobs_description *description);
bool jobs_page_write(FILE *out, const struct jobs_view *view, struct fault *fault);
/* Every file that is open. */
bool jobs_files_write(const struct run_files *files, const struct jobs_figures *figures,
                      const struct jobs_description *description, const struct jobs_view *view, struct fault *fault);

#endif
