/* SPDX-License-Identifier: Apache-2.0 */
/* What comparisons of scenarios that are no single job share: queues and idle nodes. */
#ifndef STAGESIM_COMPARISON_PARTS_H
#define STAGESIM_COMPARISON_PARTS_H

#include "analysis/output/comparison.h"
#include "analysis/output/comparison_output.h"
#include "analysis/pictures/picture_form.h"

/* Whether the table names directories: rows know where their files are for those who read the table back. */
bool comparison_has_directories(const struct comparison_row *rows, size_t count, enum table_format format);
/* Below a table that people read, why rows were not run. */
void comparison_print_reasons(FILE *out, const struct comparison_row *rows, size_t count, enum table_format format);

/* Begins a row of the page: its scenario, and its schedule with the link to its own page. */
void comparison_page_names(FILE *out, const struct comparison_view *view, size_t i, bool best);
/* The view's timelines as a picture (html's drawing). */
bool comparison_draw(FILE *out, const struct picture_form *form, void *view, struct fault *fault);

#endif
