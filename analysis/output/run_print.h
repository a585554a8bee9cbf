/* SPDX-License-Identifier: Apache-2.0 */
/* What `stagesim run` prints: the figures of one run and its workers. */
#ifndef STAGESIM_RUN_PRINT_H
#define STAGESIM_RUN_PRINT_H

#include "analysis/figures/report.h"
#include "base/tables/table_write.h"

#include <stdio.h>

/* The figures a line each, then the tables. Of a format that people read. */
void run_print(FILE *out, struct table_style style, const struct report *report);

/* " of 80.00 GiB, less 6 % held back", behind what a rank needs; nothing where the platform says nothing of memory. */
void memory_capacity_print(FILE *out, const struct report *report);

#endif
