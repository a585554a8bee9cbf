/* SPDX-License-Identifier: Apache-2.0 */
/* What a replay leaves: tables for people and programs, a trace, pictures and a page. Policies that were compared are
 * all in the tables and in summary.json; trace and pictures are of the first one. */
#ifndef STAGESIM_IDLE_OUTPUT_H
#define STAGESIM_IDLE_OUTPUT_H

#include "analysis/output/run_files.h"
#include "base/tables/table_write.h"
#include "cluster/idle/idle_nodes.h"
#include "cluster/idle/idle_view.h"

/* The CSV files, in the order of run_files.tables. */
enum { IDLE_TABLE_DECISIONS, IDLE_TABLE_SIZES, IDLE_TABLE_JOBS, IDLE_TABLES };
extern const char *const idle_table_names[IDLE_TABLES + 1];

/* "optimal, 120 s"; memory from the arena. */
const char *idle_policy_name(const struct idle_policy *policy, struct arena *arena);
/* "168 h", "90 s"; memory from the arena. */
const char *idle_duration(double seconds, struct arena *arena);
/* What work is counted in: "samples", "s of one node". */
const char *idle_work_unit(const struct idle_study *study);
/* ", of which at most N run at a time (...)" where there are more jobs than that; else empty. */
const char *idle_waiting(const struct idle_study *study, struct arena *arena);

/* What people read, or with csv and json programs: a row for each policy, and in text the jobs of the first one. */
void idle_print(FILE *out, const struct idle_study *study, const char *name, enum table_format format);
void idle_summary_write(FILE *out, const struct idle_study *study, const struct scenario *scenario);
void idle_decisions_write(FILE *out, const struct idle_study *study);
void idle_sizes_write(FILE *out, const struct idle_study *study);
void idle_jobs_write(FILE *out, const struct idle_study *study);
void idle_paje_write(FILE *out, const struct idle_study *study);
void idle_chrome_write(FILE *out, const struct idle_study *study, const char *name);

/* Writes every file that is open. False with the fault filled. */
bool idle_files_write(const struct run_files *files, const struct idle_study *study, const struct idle_view *view,
                      const struct scenario *scenario, struct fault *fault);

#endif
