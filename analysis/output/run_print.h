/* SPDX-License-Identifier: Apache-2.0 */
/* What `stagesim run` prints: the figures of one run and its workers. */
#ifndef STAGESIM_RUN_PRINT_H
#define STAGESIM_RUN_PRINT_H

#include "analysis/figures/report.h"

#include <stdio.h>

void run_print(FILE *out, const struct report *report);

#endif
