/* SPDX-License-Identifier: Apache-2.0 */
/* A partition as the key `split` of the workload layers says it. */
#ifndef STAGESIM_DIVISION_ROWS_H
#define STAGESIM_DIVISION_ROWS_H

#include "studies/division/division.h"

#include <stdio.h>

/* Writes the row of a layer in flow style: degrees, devices and, where parts are unequal, shares. NULL for the
 * partition: equal parts by samples. */
void division_write_row(FILE *out, const struct division_study *study, const struct partition *partition,
                        uint32_t layer);
/* All rows as one list in flow style, from the arena. */
const char *division_list(const struct division_study *study, const struct partition *partition, struct arena *arena);

#endif
