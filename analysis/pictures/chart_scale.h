/* SPDX-License-Identifier: Apache-2.0 */
/* From values to places on the page, and the ticks between. */
#ifndef STAGESIM_CHART_SCALE_H
#define STAGESIM_CHART_SCALE_H

#include "analysis/pictures/picture_chart.h"

struct chart_scale {
    const struct chart_axis *axis;
    double low, high; /* values at the ends: round ones; logarithms (base 2 or 10) of them on a logarithmic axis */
    double step;      /* between ticks, in the same terms */
    unsigned ticks;   /* number of them */
    bool fine;        /* a logarithmic axis of few decades: ticks at 1, 2, 5, 10, ... */
    int first;        /* then: the first of these, counted from 1 */
    double from, to;  /* places of the ends on the page */
};

/* A scale with round ends around the values; `most` bounds the number of ticks. An empty range becomes one around its
 * value. */
struct chart_scale chart_scale_of(const struct chart_axis *axis, double least, double largest, unsigned most);
/* Place of a value. On a logarithmic axis the value must be above 0. */
double chart_place(const struct chart_scale *scale, double value);
/* The place of a tick, and its text; returns text. */
double chart_tick_place(const struct chart_scale *scale, unsigned tick);
const char *chart_tick_text(char *text, size_t size, const struct chart_scale *scale, unsigned tick);

#endif
