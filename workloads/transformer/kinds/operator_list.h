/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of a transformer's operators share: sizes on a rank, and how operators are added to a list.
 * Activations and weights take element_bytes, masks of dropout take 1 byte. */
#ifndef STAGESIM_OPERATOR_LIST_H
#define STAGESIM_OPERATOR_LIST_H

#include "workloads/transformer/kinds/operators.h"

/* Sizes that all operators derive from: elements unless said otherwise. */
struct operator_shape {
    double rows;    /* tokens of the micro-batch on this rank */
    double samples; /* of the micro-batch on this rank */
    double keys;    /* tokens whose keys and values it meets; where heads are exchanged, in numbers of all heads */
    double length;  /* tokens of one sequence whose queries meet them */
    double hidden;  /* of an activation on this rank between blocks: rows x h, divided under sequence parallelism */
    double query, key_value,
        output;        /* columns of this rank's heads: queries, keys and values, what the attention gives */
    double key;        /* of key_value those of keys */
    double ffn;        /* columns of this rank's feed-forward block */
    double scores;     /* rows x sequence per head of this rank */
    double vocabulary; /* columns of this rank's part of the vocabulary */
    double h;          /* columns of an activation between blocks on this rank */
    double h_inner, output_inner, ffn_inner; /* inner dimensions of this rank's matrix products */
    double gathered;                         /* rows of a matrix product for each of `rows` */
    double cast_share;                       /* as in the layout */
    double element, mask;                    /* bytes of an element, and of a dropout mask's (0: no dropout) */
};

/* Any operator. */
void operators_add(struct transformer_operators *out, struct transformer_operator operator);
/* An operator that only moves bytes. */
void operators_add_vector(struct transformer_operators *out, const char *name, double bytes);
/* So many normalisations of an activation between blocks. */
void operators_add_norms(struct transformer_operators *out, const struct operator_shape *shape, double count,
                         bool backward);
/* rows x inner times inner x columns. */
void operators_add_matrix(struct transformer_operators *out, const struct operator_shape *shape, const char *name,
                          double inner, double columns);
/* Such a product whose input tensor-parallel ranks gather. */
void operators_add_gathered_matrix(struct transformer_operators *out, const struct operator_shape *shape,
                                   const char *name, double inner, double columns);
/* Backward of such a product: gradient of the input, and of the weight, which is added to the accumulated one. */
void operators_add_matrix_backward(struct transformer_operators *out, const struct transformer_layout *layout,
                                   const struct operator_shape *shape, const char *name, double inner, double columns);

/* Operators from that number on stay in 16 bits where others are in fp8. */
void operators_keep_wide(struct transformer_operators *out, unsigned from);

/* ---- streams.c: residual streams, one or several ---- */

/* What comes out of a block is added to what went in; several streams are mixed before it and behind it. */
void operators_add_residual(const struct transformer_model *model, struct transformer_operators *out,
                            const struct operator_shape *shape);
void operators_add_residual_backward(const struct transformer_model *model, const struct transformer_layout *layout,
                                     struct transformer_operators *out, const struct operator_shape *shape);

/* ---- latent.c: projections of latent attention ---- */

void latent_projections(const struct transformer_model *model, const struct transformer_layout *layout,
                        const struct operator_shape *shape, struct transformer_operators *out);
void latent_projections_backward(const struct transformer_model *model, const struct transformer_layout *layout,
                                 const struct operator_shape *shape, struct transformer_operators *out);

/* ---- experts.c: blocks of a layer with experts ---- */

void experts_forward(const struct transformer_model *model, const struct transformer_layout *layout,
                     enum transformer_block block, struct transformer_operators *out);
void experts_backward(const struct transformer_model *model, const struct transformer_layout *layout,
                      enum transformer_block block, struct transformer_operators *out);

#endif
