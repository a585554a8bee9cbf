/* SPDX-License-Identifier: Apache-2.0 */
/* memory.csv: what the workers of the report hold over time. Columns are described in doc/operations-csv.md. */
#ifndef STAGESIM_MEMORY_CSV_H
#define STAGESIM_MEMORY_CSV_H

#include "analysis/pictures/gantt.h"

#include <stdio.h>

/* A row per level of the gantt, which is of this report; but for the last level of each worker, which only goes on to
 * the end. Write errors stay on the stream. */
void memory_csv_write(FILE *out, const struct report *report, const struct gantt *gantt);

#endif
