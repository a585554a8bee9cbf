/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons of scenarios of idle nodes, which have other figures than a job. */
#ifndef STAGESIM_COMPARISON_IDLE_H
#define STAGESIM_COMPARISON_IDLE_H

#include "analysis/output/comparison_output.h"

/* Whether all that were run are of idle nodes, and one was. */
bool comparison_is_of_idle(const struct comparison_row *rows, size_t count);

/* Sets the figure that comparison.json calls so; false: idle nodes have none of that name. */
bool comparison_idle_set(struct comparison_row *row, const char *key, double value);

/* Errors stay on the stream. */
void comparison_idle_print(FILE *out, const struct comparison_row *rows, size_t count, enum table_format format);

/* The page of several: rows[i], gantts[i] and links[i] (NULL: none) belong together. False with the fault filled. */
bool comparison_idle_page(FILE *out, const struct comparison_view *view, struct fault *fault);

#endif
