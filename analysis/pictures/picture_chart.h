/* SPDX-License-Identifier: Apache-2.0 */
/* A chart of one or more series over two axes, linear or logarithmic. Series are told apart by colour, dashes and
 * marks. */
#ifndef STAGESIM_PICTURE_CHART_H
#define STAGESIM_PICTURE_CHART_H

#include "analysis/pictures/canvas.h"
#include "analysis/pictures/picture_form.h"

#include <stddef.h>

/* What the numbers of an axis are; decides where the ticks are and how they are written. */
enum chart_quantity {
    CHART_NUMBER,
    CHART_SECONDS,
    CHART_BYTES,   /* in KiB, MiB, ...; a logarithmic axis has its ticks at powers of two */
    CHART_PERCENT, /* of shares: 0.5 is written 50 % */
};

struct chart_axis {
    const char *label;
    enum chart_quantity quantity;
    bool logarithmic; /* values that are not above 0 are left out */
    bool fitted;      /* a vertical linear axis need not start at 0 */
};

enum chart_form {
    CHART_LINE,   /* points with a mark each, joined */
    CHART_STEPS,  /* a value holds until the next point; no marks */
    CHART_POINTS, /* marks alone */
};

struct chart_series {
    const char *name;
    enum chart_form form;
    const double *x, *y; /* finite; x ascending except for CHART_POINTS */
    size_t count;
    const char *const *labels; /* [count]: written beside the points where there is room, the first ones first; NULL, or
                                  NULL among them: none */
    bool faint;                /* a thin grey line; colours go to the other series, in their order */
};

/* Borrowed. */
struct chart {
    const char *title, *subtitle; /* subtitle NULL: none */
    struct chart_axis x, y;
    const struct chart_series *series;
    size_t series_count;
    bool diagonal; /* a faint line y = x: what agreement would look like */
    double limit;  /* a dashed horizontal line there; 0 or less: none */
    const char *limit_name;
    double width, height; /* points, on screen; 0: 760 x 440 */
};

/* Writes the picture; one in which no point can be shown says so. False with the fault filled when it could not be
 * written. */
bool picture_chart(const struct chart *chart, enum canvas_format format, const struct picture_form *form, FILE *out,
                   struct fault *fault);

#endif
