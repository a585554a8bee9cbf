/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a sweep's combinations, by name. */
#ifndef STAGESIM_SWEEP_FIGURES_H
#define STAGESIM_SWEEP_FIGURES_H

#include "analysis/output/comparison.h"
#include "analysis/pictures/picture_chart.h"

struct sweep_figure {
    const char *name;  /* of --y, and of the column */
    const char *label; /* what pictures call it */
    enum chart_quantity quantity;
    int better;                                     /* -1: small values are, 1: large ones */
    double (*of)(const struct comparison_row *row); /* NAN: not known */
};

/* All, in the order of the columns; a NULL name ends. */
extern const struct sweep_figure sweep_figures[];

/* NULL where there is none of that name. */
const struct sweep_figure *sweep_figure_find(const char *name);

#endif
