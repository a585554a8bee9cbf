/* SPDX-License-Identifier: Apache-2.0 */
/* What kinds of layers share that carry a state from token to token: a matrix into their columns, a short convolution,
 * a scan over chunks of the sequence, a gate, a matrix out. */
#ifndef STAGESIM_TRANSFORMER_SCAN_H
#define STAGESIM_TRANSFORMER_SCAN_H

#include "workloads/transformer/kinds/kinds.h"

/* Flop of one sample's convolution and scan. */
double scan_flops(const struct transformer_model *model, const struct kind_scan *scan);

/* A convolution of so many columns, of all ranks along tensor together, over the model's number of tokens. */
void scan_convolution(const struct transformer_model *model, const struct transformer_layout *layout,
                      const struct operator_shape *shape, double convolved, bool backward,
                      struct transformer_operators *out);
void scan_core(const struct transformer_model *model, const struct transformer_layout *layout,
               const struct operator_shape *shape, const struct kind_scan *scan, struct transformer_operators *out);
/* The scan's backward computes its forward once more and twice as many products. */
void scan_core_backward(const struct transformer_model *model, const struct transformer_layout *layout,
                        const struct operator_shape *shape, const struct kind_scan *scan,
                        struct transformer_operators *out);
/* The normalisation and the matrix into all columns. */
void scan_projections(const struct transformer_model *model, const struct transformer_layout *layout,
                      const struct operator_shape *shape, struct transformer_operators *out);
void scan_projections_backward(const struct transformer_model *model, const struct transformer_layout *layout,
                               const struct operator_shape *shape, struct transformer_operators *out);

#endif
