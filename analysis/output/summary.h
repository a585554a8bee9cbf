/* SPDX-License-Identifier: Apache-2.0 */
/* summary.json: the figures of a run for scripts. The names are described in doc/summary.md. */
#ifndef STAGESIM_SUMMARY_H
#define STAGESIM_SUMMARY_H

#include "analysis/figures/report.h"

#include <stdio.h>

/* Write errors stay on the stream. */
void summary_write(FILE *out, const struct report *report);

#endif
