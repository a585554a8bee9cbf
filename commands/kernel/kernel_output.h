/* SPDX-License-Identifier: Apache-2.0 */
/* What `stagesim kernel` found: the time, where it is from, and the nearest measured kernels. */
#ifndef STAGESIM_KERNEL_OUTPUT_H
#define STAGESIM_KERNEL_OUTPUT_H

#include "workloads/kernels/kernel_time.h"

#include <stdio.h>

struct kernel_answer {
    const char *gpu, *rows; /* the GPU, and the file with its measured kernels */
    struct kernel_shape shape;
    struct kernel_time time;
};

void kernel_text_write(FILE *out, const struct kernel_answer *answer);
void kernel_json_write(FILE *out, const struct kernel_answer *answer);

/* What the four sizes of a kind are called; NULL: the kind does not have that one. */
const char *const *kernel_size_names(enum kernel_kind kind);

#endif
