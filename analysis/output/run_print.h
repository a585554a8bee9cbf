/* SPDX-License-Identifier: Apache-2.0 */
/* What `stagesim run` prints: the figures of one run and its workers. */
#ifndef STAGESIM_RUN_PRINT_H
#define STAGESIM_RUN_PRINT_H

#include "analysis/figures/report.h"

#include <stdio.h>

/* Tables are folded to `width` columns; 0: not. */
void run_print(FILE *out, size_t width, const struct report *report);

#endif
