/* SPDX-License-Identifier: Apache-2.0 */
/* Several timelines below each other on one time axis: one sees which ends first, and at the right why. */
#ifndef STAGESIM_PICTURE_COMPARISON_H
#define STAGESIM_PICTURE_COMPARISON_H

#include "analysis/pictures/canvas.h"
#include "analysis/pictures/gantt.h"
#include "analysis/pictures/picture_form.h"

/* Writes the picture of one iteration of `count` runs (at least one), the first being what relative times refer to.
 * False with the fault filled when it could not be written. */
bool picture_comparison(const struct gantt *const *gantts, size_t count, const char *title, enum canvas_format format,
                        const struct picture_form *form, FILE *out, struct fault *fault);

#endif
