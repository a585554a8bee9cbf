/* SPDX-License-Identifier: Apache-2.0 */
/* Shardings of embedding tables as a table for the terminal, as CSV or JSON. */
#ifndef STAGESIM_SHARDING_OUTPUT_H
#define STAGESIM_SHARDING_OUTPUT_H

#include "analysis/output/comparison.h"
#include "studies/shardings.h"

/* `shown`: rows of the table; CSV and JSON have all. Errors stay on the stream. */
void shardings_print(FILE *out, const struct sharding_rows *rows, const char *method, size_t shown,
                     enum table_format format);

#endif
