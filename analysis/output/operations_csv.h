/* SPDX-License-Identifier: Apache-2.0 */
/* operations.csv, critical-path.csv and slack.csv: a row per operation and rank. Columns are described in
 * doc/operations-csv.md. */
#ifndef STAGESIM_OPERATIONS_CSV_H
#define STAGESIM_OPERATIONS_CSV_H

#include "analysis/output/traces/trace_source.h"

#include <stdio.h>

/* All operations, ordered by start, rank, stream. Write errors stay on the stream. */
void operations_csv_write(FILE *out, const struct trace_source *source);
/* The same of several jobs, one after the other: the name of each stands in a first column `job`, times are those of
 * the platform. All rows have the column `iteration`. */
void operations_csv_write_jobs(FILE *out, const struct trace_job *jobs, uint32_t count);
/* The chain of operations that determines the iteration time, in the order of time, with their slack. */
void critical_path_csv_write(FILE *out, const struct trace_source *source);
/* All operations with their slack, in the order of operations.csv. */
void slack_csv_write(FILE *out, const struct trace_source *source);

#endif
