/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of a profile, which repeat: rows of kernels that come in the same order again and again. */
#ifndef STAGESIM_PROFILE_LAYER_ROWS_H
#define STAGESIM_PROFILE_LAYER_ROWS_H

#include "traces/recorded.h"

struct arena;

struct layer_row {
    uint32_t kernels, times; /* so many kernels come so many times, one after the other */
    uint32_t name;           /* of the kernel that takes most of them */
    double seconds;          /* from the begin of one to the begin of the next, the median */
    double slowest;          /* kernels of the slowest one over the median */
    uint32_t slowest_at;     /* which one that is, from 0 */
};

enum { LAYER_ROWS_MAX = 2 };

struct layer_rows {
    struct layer_row rows[LAYER_ROWS_MAX]; /* count of them, in the order of time */
    size_t count;
    uint32_t rank, step; /* number, of whose kernels they are: the first rank and its first step */
};

/* Of each row the shortest that repeats, of those that are a tenth of the step's computation or more. */
void layer_rows_find(const struct recorded *recorded, struct layer_rows *layers);
/* "16 times 4 kernels of ..."; NULL: none were found. Memory from the arena. */
const char *layer_rows_text(const struct recorded *recorded, const struct layer_rows *layers, struct arena *arena);

#endif
