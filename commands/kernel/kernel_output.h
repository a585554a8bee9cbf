/* SPDX-License-Identifier: Apache-2.0 */
/* What `stagesim kernel` found: the time, where it is from, and the nearest measured kernels. */
#ifndef STAGESIM_KERNEL_OUTPUT_H
#define STAGESIM_KERNEL_OUTPUT_H

#include "base/tables/table_write.h"
#include "workloads/kernels/kernel_time.h"

#include <stdio.h>

struct kernel_answer {
    const char *gpu, *rows; /* the GPU, and the file with its measured kernels */
    struct kernel_shape shape;
    struct kernel_time time;
};

/* In a format that people read: the time and what it rests on, then the nearest measured kernels. CSV has these alone.
 */
void kernel_text_write(FILE *out, const struct kernel_answer *answer, enum table_format format);
void kernel_json_write(FILE *out, const struct kernel_answer *answer);

/* What the four sizes of a kind are called; NULL: the kind does not have that one. */
const char *const *kernel_size_names(enum kernel_kind kind);

#endif
