/* SPDX-License-Identifier: Apache-2.0 */
/* Measured kernels of a GPU as a job uses them: `compute.kernels: measured`. Documented in doc/transformer.md. */
#ifndef STAGESIM_KERNEL_USE_H
#define STAGESIM_KERNEL_USE_H

#include "workloads/kernels/kernel_time.h"
#include "workloads/transformer/kinds/operators.h"

struct efficiency_device;

enum { KERNEL_MEMORY_SLOTS = 1024 };

/* A kernel whose time is known. */
struct kernel_known {
    struct kernel_shape shape; /* groups 0: an empty slot */
    double seconds;            /* negative: no model has it */
};

struct kernel_use {
    struct kernel_table table;
    const char *source; /* whose measurements are taken; NULL: those of libraries that train, then shared ones */
    double clock;       /* of products and attention, over the clock that they were measured at */
    double cast_bytes;  /* moved for each element of an operand in 8 bits */
    /* Different kernels that were asked for; of them those beyond what was measured, those that are taken of another
     * source than `source` or than one that trains, and grouped products that are taken one by one, since only
     * inference measured them; whose these are. */
    unsigned asked, outside, elsewhere, one_by_one;
    const char *other, *inference;
    bool rescaled; /* products with the scales in use were not measured: of one scale a tensor, or by the table */
    struct kernel_known known[KERNEL_MEMORY_SLOTS];
};

/* Seconds of an operator on the device. False: no measured kernel is like it. */
bool kernel_use_seconds(const struct efficiency_device *device, const struct transformer_operator *operator,
                        double * seconds);

#endif
