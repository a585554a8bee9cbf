/* SPDX-License-Identifier: Apache-2.0 */
/* What stands below the table of a comparison of jobs: why some were not run, of which orders bounds are, how sure
 * times, memory and the order of the fastest are. */
#ifndef STAGESIM_COMPARISON_REMARKS_H
#define STAGESIM_COMPARISON_REMARKS_H

#include "analysis/output/comparison.h"

#include <stdio.h>

void comparison_remarks(FILE *out, const struct comparison_row *rows, size_t count);

#endif
