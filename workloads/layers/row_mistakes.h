/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes in the rows that describe layers and how they are shared out. */
#ifndef STAGESIM_LAYERS_ROW_MISTAKES_H
#define STAGESIM_LAYERS_ROW_MISTAKES_H

#include "workloads/layers/layers.h"

enum { ROW_MISTAKES_MAX = 16 }; /* more than are shown; looking for near names takes time */

/* Where mistakes go: `row` is the number of the row, STAGESIM_NONE where it is none in particular. */
struct row_reporter {
    void (*report)(void *user, uint32_t row, const char *text);
    void *user;
};

/* Counts a mistake and reports it. */
__attribute__((format(printf, 4, 5))) void row_mistake(const struct row_reporter *reporter, uint32_t *mistakes,
                                                       uint32_t row, const char *format, ...);

struct layer_operator;

/* "; did you mean 'NAME'?" with the nearest name of the first `count` layers, or "", in a buffer of `size`. */
const char *row_nearest(const struct layer_operator *operators, uint32_t count, const char *name, char *text,
                        size_t size);

#endif
