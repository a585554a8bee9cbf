/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer/scaling.h"

const char *const transformer_scaling_names[] = {"tensor", "delayed", "current", "row",
                                                 "block",  "mxfp8",   "nvfp4",   NULL};

/* Casts: of TransformerEngine on H200 (delayed, current, blocks: test/validation/casts.py) and on B300, where current
 * scaling, MXFP8 and NVFP4 cost 1.9, 1.7 and 2.1 times what delayed scaling does (docs/features/low_precision_training/
 * speedups.rst @ d0067d0d). A row's scale is found as a tensor's is. */
static const struct {
    enum kernel_type kernel;
    double cast;
    double scale,
        elements; /* bytes of a scale, and of how many elements of a row; 0: of all of them, -1: of a tensor */
    bool is_new;
    double bits;
} scalings[] = {
    [SCALING_TENSOR] = {KERNEL_FP8, 3, 4, -1, false, 8},        [SCALING_DELAYED] = {KERNEL_FP8, 7, 4, -1, false, 8},
    [SCALING_CURRENT] = {KERNEL_FP8, 12, 4, -1, false, 8},      [SCALING_ROW] = {KERNEL_FP8, 12, 4, 0, false, 8},
    [SCALING_BLOCK] = {KERNEL_FP8_BLOCK, 19, 4, 128, false, 8}, [SCALING_MX] = {KERNEL_FP8, 12, 1, 32, true, 8},
    [SCALING_NV] = {KERNEL_NVFP4, 14, 1, 16, true, 4},
};

enum kernel_type transformer_scaling_kernel(enum transformer_scaling scaling)
{
    return scalings[scaling].kernel;
}

double transformer_scaling_cast(enum transformer_scaling scaling)
{
    return scalings[scaling].cast;
}

double transformer_scaling_message(enum transformer_scaling scaling, double row, bool narrow)
{
    if (scaling == SCALING_NV && !narrow) /* libraries that send tokens to experts have 8 bits with blocks of 128 */
        scaling = SCALING_BLOCK;
    double elements = scalings[scaling].elements, bytes = scalings[scaling].bits / 8;
    return elements < 0 ? bytes : bytes + scalings[scaling].scale / (elements > 0 ? elements : row);
}

bool transformer_scaling_is_narrow(enum transformer_scaling scaling)
{
    return scalings[scaling].bits < 8;
}

bool transformer_scaling_is_new(enum transformer_scaling scaling)
{
    return scalings[scaling].is_new;
}
