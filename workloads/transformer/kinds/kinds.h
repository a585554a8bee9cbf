/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of what mixes the tokens of a layer: one source each, one table of all. A mixer is a matrix into its columns,
 * what it does with them, and a matrix out of them; tensor-parallel ranks have a part of the columns each, unless said
 * otherwise. Parameters and products are those of the modelling code that each source names. Documented in
 * doc/layer-kinds.md. */
#ifndef STAGESIM_TRANSFORMER_KINDS_H
#define STAGESIM_TRANSFORMER_KINDS_H

#include "workloads/transformer/kinds/operator_list.h"

/* Elements of a mixer's parameters, all of it. */
struct kind_parameters {
    double into, whole, out; /* matrices before the core, divided among tensor ranks or not, and behind it */
    double divided, rest;    /* parameters that are no matrix, divided or not; without normalisations of the layer */
};

/* A scan that carries a state from token to token, of a token, all ranks together: what stands for the core. */
struct kind_scan {
    const char *name;
    double convolved;  /* columns that go through the convolution */
    double flops;      /* of the scan */
    double moved;      /* elements that the scan reads and writes */
    double gated;      /* columns of the gate behind it */
    double heads;      /* of the scan, each with a state of its own */
    double key, value; /* columns of a head's state */
    double share;      /* of the peak that the scan reaches where no kernel was measured */
    enum kernel_kind kernel;
};

/* How ranks that share a sequence compute a mixer. */
enum kind_sharing {
    SHARING_KEYS,   /* they need the keys and values of all: as transformer.context_method says */
    SHARING_HEADS,  /* they exchange tokens for heads, whatever it says */
    SHARING_STATES, /* each hands on what its tokens leave of the state */
};

typedef void (*kind_operators)(const struct transformer_model *model, const struct transformer_layout *layout,
                               const struct operator_shape *shape, struct transformer_operators *out);

struct transformer_kind {
    /* Columns of all ranks: those that the matrix into it gives, as queries, keys and values, and what it gives. */
    struct transformer_widths (*widths)(const struct transformer_model *model);
    struct kind_parameters (*parameters)(const struct transformer_model *model);
    /* The core: a scan, or flop of one sample's forward beside those matrices. `spared`: what forward and backward
     * compute less than three times that, NULL: nothing. */
    struct kind_scan (*scan)(const struct transformer_model *model);
    double (*core_flops)(const struct transformer_model *model);
    double (*spared_flops)(const struct transformer_model *model);
    /* Of the core the products of queries and keys, which a backward forms once more; NULL: by the columns. */
    double (*scores_flops)(const struct transformer_model *model);
    /* Operators up to the core, the normalisation before them included, of the core (NULL: the scan's), and behind it
     * (NULL: one matrix); and the same of the backward. */
    kind_operators projections, projections_backward, core, core_backward, join, join_backward;
    /* Bytes of a token that are kept for the backward beside what comes in and what goes out of the core: `divided` of
     * them among tensor ranks, and whole ones. NULL: none. */
    double (*kept_divided)(const struct transformer_model *model, const struct transformer_layout *layout);
    double (*kept_whole)(const struct transformer_model *model, const struct transformer_layout *layout);
    enum kind_sharing sharing;
    /* Columns of a token that ranks sharing a sequence need of each other, on a rank; elements of a state that they
     * hand on, of all heads. NULL: keys and values, divided. */
    double (*shared_columns)(const struct transformer_model *model, const struct transformer_layout *layout);
    double (*state)(const struct transformer_model *model);
    bool attends; /* products over scores: their time grows with the square of the sequence */
};

/* The kind of a layer's model; never NULL (MIXER_NONE has no operators). */
const struct transformer_kind *transformer_kind_of(const struct transformer_model *model);

extern const struct transformer_kind kind_attention, kind_mamba, kind_gated_delta, kind_kimi_delta, kind_lightning,
    kind_short, kind_sparse, kind_sparse_shared, kind_block_sparse, kind_compressed;

/* ---- attention.c, which other kinds of attention use ---- */

struct kind_parameters attention_parameters(const struct transformer_model *model);
void attention_projections(const struct transformer_model *model, const struct transformer_layout *layout,
                           const struct operator_shape *shape, struct transformer_operators *out);
void attention_projections_backward(const struct transformer_model *model, const struct transformer_layout *layout,
                                    const struct operator_shape *shape, struct transformer_operators *out);
/* A gate of what attention gives, where the model has one: it reads both, and its backward writes the gradients of
 * both. */
void attention_add_gate(const struct transformer_model *model, const struct operator_shape *shape, bool backward,
                        struct transformer_operators *out);
/* What is kept of queries and keys that are normalised, and of a gate and what it weights. */
double attention_kept_divided(const struct transformer_model *model, const struct transformer_layout *layout);
double attention_kept_whole(const struct transformer_model *model, const struct transformer_layout *layout);

/* One operator that never stores its scores, of so many sums over pairs of a query and a key, per head and sample. */
struct kind_pairs {
    double heads, pairs; /* all of them; pairs of one sample and head */
    double key, value;   /* columns of a head */
};
/* Adds it, forward or backward (5 products for 2); `bytes`: that it moves. */
void attention_add_pairs(struct transformer_operators *out, const struct operator_shape *shape, const char *name,
                         const struct kind_pairs *pairs, bool backward, double bytes);

#endif
