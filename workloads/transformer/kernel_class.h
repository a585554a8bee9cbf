/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of kernels that become slow, or vary, together. Documented in doc/transformer.md. */
#ifndef STAGESIM_KERNEL_CLASS_H
#define STAGESIM_KERNEL_CLASS_H

#include "workloads/transformer/kinds/operators.h"

enum kernel_class {
    CLASS_MATRIX,    /* products of activations and weights, logits and the router's included */
    CLASS_GROUPED,   /* the same of all experts of a rank, where it has more than one */
    CLASS_ATTENTION, /* all that is done with scores */
    CLASS_SCAN,      /* state-space scans, linear attention, their short convolution */
    CLASS_NORM,
    CLASS_ELEMENT, /* everything else that only moves bytes */
    KERNEL_CLASSES
};

extern const char *const kernel_class_keys[KERNEL_CLASSES];

/* What the kernels of a class take over what is known of them, and which classes took any time. */
struct kernel_class_times {
    double times[KERNEL_CLASSES];
    bool met[KERNEL_CLASSES];
};

/* KERNEL_CLASSES: none, the optimizer's step. */
enum kernel_class kernel_class_of(const struct transformer_operator *operator);

#endif
