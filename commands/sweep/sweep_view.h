/* SPDX-License-Identifier: Apache-2.0 */
/* What is shown of a sweep: which axis lies along x, which tells lines or rows apart, and which figure. */
#ifndef STAGESIM_SWEEP_VIEW_H
#define STAGESIM_SWEEP_VIEW_H

#include "analysis/pictures/canvas.h"
#include "analysis/pictures/picture_form.h"
#include "commands/sweep/sweep_figures.h"
#include "studies/sweep.h"

#include <stdio.h>

struct sweep_view {
    const struct sweep *sweep;
    const struct sweep_figure *y;
    size_t x, by; /* axes; by: axis_count where there is none */
    bool heat;    /* cells; otherwise lines */
};

/* --x, --y, --by, NULL where not given: fills the view, or reports the mistake on standard error and returns false. */
bool sweep_view_choose(struct sweep_view *view, const struct sweep *sweep, const char *x, const char *y,
                       const char *by);

/* The best combination that ran, fits in memory and trains synchronously (any that ran, where there is none); the
 * number of combinations where none ran. */
size_t sweep_view_best(const struct sweep_view *view);

/* "batch.micro 2, schedule 1f1b": the values of the axes that have several. Memory from the arena. */
const char *sweep_view_values(const struct sweep_view *view, size_t combination, struct arena *arena);

/* The picture. False with the fault filled. */
bool sweep_view_picture(const struct sweep_view *view, enum canvas_format format, const struct picture_form *form,
                        FILE *out, struct fault *fault);

#endif
