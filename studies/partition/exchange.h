/* SPDX-License-Identifier: Apache-2.0 */
/* What two groups of devices exchange for a layer that they share (AccPar: Song et al., HPCA 2020, DOI
 * 10.1109/HPCA47549.2020.00036). A layer is three products: forward F' = F W, backward E = E' W^T, gradient dW = F^T
 * E', of tensors with the sizes B (samples), D_i and D_o (inputs and outputs). One of the three is divided. */
#ifndef STAGESIM_PARTITION_EXCHANGE_H
#define STAGESIM_PARTITION_EXCHANGE_H

/* Types I, II and III: which size is divided. */
enum partition_type { PARTITION_SAMPLES, PARTITION_INPUTS, PARTITION_OUTPUTS, PARTITION_TYPES };

/* What a group has of a tensor between layers: some samples, some features, or everything. */
enum partition_layout { PARTITION_ROWS, PARTITION_COLUMNS, PARTITION_WHOLE };

/* Elements that the first of two groups receives where it has the share a: whole + a (1 - a) product + (1 - a) other.
 * The second one's share is 1 - a. */
struct partition_exchange {
    double whole, product, other;
};

double partition_exchange_elements(const struct partition_exchange *exchange, double share);
/* Adds `more` to `sum`. */
void partition_exchange_add(struct partition_exchange *sum, const struct partition_exchange *more);

/* Within a layer, for sums of which each group has a part: of the gradient, the output, the gradient of the input. */
struct partition_exchange partition_exchange_inside(enum partition_type type, double weights, double inputs,
                                                    double outputs);

/* Of a layer with weights. */
enum partition_layout partition_layout_in(enum partition_type type);
enum partition_layout partition_layout_out(enum partition_type type);

/* Between layers: of a tensor of so many elements that one layer leaves as `from` and another one needs as `to`, and of
 * its gradient, which goes the other way. */
struct partition_exchange partition_exchange_between(enum partition_layout from, enum partition_layout to,
                                                     double elements);

#endif
