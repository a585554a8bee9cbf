/* SPDX-License-Identifier: Apache-2.0 */
/* Axes: round tick values, units that fit the size of the numbers, and how figures are written in pictures. */
#ifndef STAGESIM_AXIS_H
#define STAGESIM_AXIS_H

#include "analysis/pictures/gantt.h"

#include <cairo.h>

/* A prefixed unit: what is shown is value / scale. */
struct axis_unit {
    double scale;
    const char *name; /* "ms"; "" for bare numbers */
};

/* The unit in which `largest` is at least one: ps to s. */
struct axis_unit axis_unit_of(double largest, enum gantt_unit unit);
/* Four significant digits at least, and the unit: "9.2 s", "812.5 ms", "12,480 s"; returns text. */
const char *axis_quantity(char *text, size_t size, double value, enum gantt_unit unit);
/* "34.8 %"; returns text. */
const char *axis_percent(char *text, size_t size, double share);
/* The step of 1, 2 or 5 times a power of ten that divides `range` into at most `most` parts; 1 for an empty range. */
double axis_step(double range, unsigned most);

/* A horizontal time axis from 0 to `end`, from x to x + width, its line at y; as high as axis_height. */
void axis_draw_time(cairo_t *cr, double x, double y, double width, double end, enum gantt_unit unit);
/* The grid lines of the same axis, to be drawn before what lies upon them. */
void axis_draw_grid(cairo_t *cr, double x, double width, double top, double bottom, double end, enum gantt_unit unit);
extern const double axis_height;

#endif
