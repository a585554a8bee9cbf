/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer/kernel_class.h"

#include <string.h>

const char *const kernel_class_keys[KERNEL_CLASSES] = {"compute.matrix_time",    "compute.grouped_time",
                                                       "compute.attention_time", "compute.scan_time",
                                                       "compute.norm_time",      "compute.elementwise_time"};

/* Classes that the operator's name tells. */
static const struct {
    const char *name;
    enum kernel_class class;
} named[] = {
    {"scores", CLASS_ATTENTION},       {"values", CLASS_ATTENTION},
    {"softmax", CLASS_ATTENTION},      {"attention dropout", CLASS_ATTENTION},
    {"index choice", CLASS_ATTENTION}, {"convolution", CLASS_SCAN},
    {"normalisation", CLASS_NORM},     {"query, key normalisation", CLASS_NORM},
    {"optimizer", KERNEL_CLASSES},
};

enum kernel_class kernel_class_of(const struct transformer_operator *operator)
{
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (!strcmp(operator->name, named[i].name))
            return named[i].class;
    if (operator->flash)
        return CLASS_ATTENTION;
    if (operator->share> 0)
        return CLASS_SCAN;
    if (operator->matrix)
        return operator->shape.kind == KERNEL_GROUPED ? CLASS_GROUPED : CLASS_MATRIX;
    return CLASS_ELEMENT;
}
