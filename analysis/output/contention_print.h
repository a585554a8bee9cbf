/* SPDX-License-Identifier: Apache-2.0 */
/* What contention adds, as tables and as JSON. */
#ifndef STAGESIM_CONTENTION_PRINT_H
#define STAGESIM_CONTENTION_PRINT_H

#include "analysis/figures/report.h"
#include "base/json_writer.h"
#include "base/tables/table_write.h"

#include <stdio.h>

/* Two tables, of a report whose contention is not NULL. */
void contention_print(FILE *out, struct table_style style, const struct report *report);
/* The block `contention` of summary.json. */
void contention_write(struct json_writer *json, const struct report *report);

#endif
