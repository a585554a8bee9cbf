/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep as a table, CSV, JSON and a page. */
#ifndef STAGESIM_SWEEP_OUTPUT_H
#define STAGESIM_SWEEP_OUTPUT_H

#include "commands/sweep/sweep_view.h"

#include <stdio.h>

/* Errors stay on the stream. The table shows the best only where there are very many combinations. */
void sweep_print(FILE *out, const struct sweep_view *view, enum table_format format);

/* sweep.html. False with the fault filled. */
bool sweep_page(FILE *out, const struct sweep_view *view, struct fault *fault);

#endif
