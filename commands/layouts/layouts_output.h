/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts as a table for the terminal, as CSV or JSON. */
#ifndef STAGESIM_LAYOUTS_OUTPUT_H
#define STAGESIM_LAYOUTS_OUTPUT_H

#include "analysis/output/comparison.h"
#include "studies/layouts.h"

/* `shown`: rows of the table; CSV and JSON have all. Errors stay on the stream. */
void layouts_print(FILE *out, const struct layout_table *table, enum layouts_method method, size_t shown,
                   enum table_format format);

#endif
