/* SPDX-License-Identifier: Apache-2.0 */
/* How narrow numbers are scaled: recipes of 8 bits, and of 4, as frameworks have them. Documented in doc/precision.md.
 */
#ifndef STAGESIM_TRANSFORMER_SCALING_H
#define STAGESIM_TRANSFORMER_SCALING_H

#include "workloads/kernels/kernel_table.h"

#include <stdbool.h>

enum transformer_scaling {
    SCALING_TENSOR,
    SCALING_DELAYED,
    SCALING_CURRENT,
    SCALING_ROW,
    SCALING_BLOCK,
    SCALING_MX,
    SCALING_NV
};
/* "tensor", ...; NULL-terminated. */
extern const char *const transformer_scaling_names[];

/* The kernels whose measurements hold for its products. */
enum kernel_type transformer_scaling_kernel(enum transformer_scaling scaling);
/* Bytes that casts and scaling move for each element of an operand, where the scenario does not say. */
double transformer_scaling_cast(enum transformer_scaling scaling);
/* Bytes of an element of a message with its part of the scales, which lie along `row` elements of a token; `narrow`:
 * messages are as narrow as products, otherwise of 8 bits. */
double transformer_scaling_message(enum transformer_scaling scaling, double row, bool narrow);
/* Whether its products are of 4 bits; and whether only units for blocks of few elements know such scales, which are
 * those that multiply numbers of 4 bits. */
bool transformer_scaling_is_narrow(enum transformer_scaling scaling);
bool transformer_scaling_is_new(enum transformer_scaling scaling);

#endif
