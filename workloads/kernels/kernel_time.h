/* SPDX-License-Identifier: Apache-2.0 */
/* How long a kernel takes: the model's time by shape, times what the nearest measured kernels took beside theirs. */
#ifndef STAGESIM_KERNEL_TIME_H
#define STAGESIM_KERNEL_TIME_H

#include "workloads/kernels/kernel_table.h"

enum { KERNEL_NEIGHBOURS = 6 };

struct kernel_time {
    double seconds;
    double modelled;                                  /* without the neighbours */
    const struct kernel_model *model, *rows;          /* rows: whose measurements these are */
    const struct kernel_row *near[KERNEL_NEIGHBOURS]; /* the nearest first */
    unsigned near_count;
    unsigned outside; /* bits of the sizes (groups, m, n, k) beyond the measured range; without neighbours all that
                         count */
};

/* Seconds of a kernel by the model alone. */
double kernel_model_seconds(const struct kernel_model *model, const struct kernel_shape *shape);
/* Flop of a kernel; 0 for what only moves bytes. Backward attention counts 2.5 times the forward,
 * the backward of a scan twice. */
double kernel_flops(const struct kernel_shape *shape);

/* The time of a kernel by the first model of its kind, type and stage. A model without rows of its own takes those of
 * its source's forward. False: there is no such model. */
bool kernel_time(const struct kernel_table *table, const struct kernel_shape *shape, const char *source,
                 struct kernel_time *out);

#endif
