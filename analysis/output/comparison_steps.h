/* SPDX-License-Identifier: Apache-2.0 */
/* Runs by what their steps take on average and one time in twenty. */
#ifndef STAGESIM_COMPARISON_STEPS_H
#define STAGESIM_COMPARISON_STEPS_H

#include "analysis/output/comparison.h"
#include "analysis/pictures/canvas.h"
#include "analysis/pictures/picture_form.h"

/* Whether steps of one of the runs were drawn. */
bool comparison_has_steps(const struct comparison_row *rows, size_t count);
/* Writes the picture of those that were. False with the fault filled. */
bool comparison_steps_picture(FILE *out, const struct comparison_row *rows, size_t count, enum canvas_format format,
                              const struct picture_form *form, struct fault *fault);
/* The same as a section of a page. */
bool comparison_steps_section(FILE *out, const struct comparison_row *rows, size_t count, struct fault *fault);

#endif
