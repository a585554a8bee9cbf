/* SPDX-License-Identifier: Apache-2.0 */
/* A figure over two lists of values: a field of cells, each with its number, darker where it is larger. */
#ifndef STAGESIM_PICTURE_HEAT_H
#define STAGESIM_PICTURE_HEAT_H

#include "analysis/pictures/canvas.h"
#include "analysis/pictures/picture_chart.h"

#include <stddef.h>

/* Borrowed. */
struct heat {
    const char *title, *subtitle; /* subtitle NULL: none */
    const char *x, *y;            /* what columns and rows are; y NULL: there is one row */
    const char *const *columns;   /* [column_count]: their labels */
    const char *const *rows;      /* [row_count] */
    size_t column_count, row_count;
    const double *values; /* [row * column_count + column]; NAN: there is none */
    enum chart_quantity quantity;
    size_t best; /* a cell that is outlined; row_count * column_count: none */
};

/* A value of a quantity as pictures and tables write it: "1.235 s", "12.4 GiB", "34.8 %"; returns text. */
const char *heat_value_text(char *text, size_t size, enum chart_quantity quantity, double value);

/* Writes the picture. False with the fault filled when it could not be written. */
bool picture_heat(const struct heat *heat, enum canvas_format format, const struct picture_form *form, FILE *out,
                  struct fault *fault);

#endif
