/* SPDX-License-Identifier: Apache-2.0 */
/* Names of points in a chart, where there is room. */
#ifndef STAGESIM_CHART_LABELS_H
#define STAGESIM_CHART_LABELS_H

#include "analysis/pictures/chart_scale.h"
#include "analysis/pictures/gantt_style.h"

/* Writes each label beside its point, on the left first, within the plot and clear of all marks and of the labels
 * before, in text of that size; a label for which there is no room is left out. Nothing is done where no point has one.
 */
void chart_labels_draw(cairo_t *cr, const struct chart *chart, const struct chart_scale *x, const struct chart_scale *y,
                       struct rectangle plot, double size);

#endif
