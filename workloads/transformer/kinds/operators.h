/* SPDX-License-Identifier: Apache-2.0 */
/* The operators of a transformer on one rank: what each computes and moves. */
#ifndef STAGESIM_TRANSFORMER_OPERATORS_H
#define STAGESIM_TRANSFORMER_OPERATORS_H

#include "workloads/kernels/kernel_table.h"
#include "workloads/transformer/kinds/model.h"

enum transformer_recompute {
    TRANSFORMER_KEEP,
    TRANSFORMER_SELECTIVE,
    TRANSFORMER_FULL,
    TRANSFORMER_OPERATORS,
    TRANSFORMER_RECOMPUTES
}; /* as enum scenario_recompute */

/* How a model is cut and computed. */
struct transformer_layout {
    double samples;       /* of a micro-batch on one rank */
    double tensor;        /* ranks that share the heads, the columns of the feed-forward block, and the vocabulary */
    double width;         /* ranks that share the columns of the activations between blocks; 1 in 1D */
    double gathered_rows; /* by how much the rows of matrix products are more than the rank's: activations are gathered
                             before; 1 in 1D */
    bool whole_inner;     /* matrix products sum over the whole inner dimension: panels are gathered before */
    double context;       /* ranks that share each sequence */
    bool exchanged_heads; /* in attention they share heads in its place, of whole sequences */
    double expert;        /* ranks that share the experts of a layer */
    double expert_tensor; /* ranks along tensor that share each expert: all of them or one */
    double padding;       /* a rank computes and sends so many times the tokens that its experts get on average */
    bool sequence_parallel; /* normalisations and residuals are divided by `tensor`, too */
    bool flash;             /* attention as one operator that never stores its scores */
    double element_bytes;   /* of an activation or weight */
    double gradient_bytes;  /* of a gradient in the accumulation buffer */
    double gradient_copy;   /* of one beside it, which is added to it behind each micro-batch; 0: there is none */
    enum transformer_recompute recompute;
    bool copies;        /* what is gathered or scattered is copied once more */
    bool stops_early;   /* a layer that is computed again is so up to the input of its last product */
    double cast_share;  /* of the rows of gathered operands, those that a rank casts to fp8 */
    bool shard_copies;  /* gathered weights are copied to their places, and gradients before they are scattered */
    bool gathers_again; /* weights are gathered for the backward, too */
};

/* Parts of the model that run one after the other. A layer is an attention block and a feed-forward block; where a
 * sequence is shared, the former is its projections, the products over scores and what joins them to the rest; with
 * experts the latter is the router, experts that all tokens share, those that tokens are sent to, and the sum of what
 * comes back. Where ranks exchange something at every linear map, the feed-forward block is two halves. */
enum transformer_block {
    BLOCK_INPUT,
    BLOCK_ATTENTION,
    BLOCK_FFN,
    BLOCK_OUTPUT,
    BLOCK_PROJECTIONS,
    BLOCK_CORE,
    BLOCK_JOIN,
    BLOCK_FIRST,
    BLOCK_SECOND,
    BLOCK_ROUTER,
    BLOCK_SHARED,
    BLOCK_EXPERTS,
    BLOCK_COMBINE,
    BLOCK_PREDICTION, /* what joins the inputs of a layer that predicts a further token */
    BLOCK_TOWER,      /* before the layers of a tower and behind them: what makes positions, the projector */
    BLOCK_TOWERS_END = BLOCK_TOWER + TRANSFORMER_TOWERS - 1, /* the same of the last kind of towers */
    TRANSFORMER_BLOCKS
};

struct transformer_operator {
    const char *name;
    bool matrix; /* a matrix product: `flops` are those of matrix units; others only move `bytes` */
    bool flash;  /* the products within flash attention */
    bool weight; /* the gradient of a weight: may run later than the rest of the backward */
    bool wide;   /* stays in 16 bits where other products are in fp8: attention, router, output (DeepSeek-V3, arXiv
                  * 2412.19437, section 3.3.1)
                  */
    double flops, bytes;
    struct kernel_shape shape; /* of products and flash attention; groups 0: none that is measured */
    bool single;               /* one kernel whether operators are fused or not */
    double cast_share;         /* of the rows of its input, those that are cast to fp8; 0: all */
    double share;              /* of the peak that a scan reaches; 0: by its size */
    bool convolution;          /* a product that is a convolution: tables may have a share of their own for these */
};

enum { TRANSFORMER_OPERATORS_MAX = 64 };

struct transformer_operators {
    struct transformer_operator items[TRANSFORMER_OPERATORS_MAX];
    unsigned count;
};

/* The forward of a block for one micro-batch. */
void transformer_forward(const struct transformer_model *model, const struct transformer_layout *layout,
                         enum transformer_block block, struct transformer_operators *out);
/* Its backward, recomputed operators included. */
void transformer_backward(const struct transformer_model *model, const struct transformer_layout *layout,
                          enum transformer_block block, struct transformer_operators *out);

/* Flop of the matrix products in a list; `weight_only`: of weight gradients alone. */
double transformer_operators_flops(const struct transformer_operators *operators, bool weight_only);

/* Flop that the backward of all layers computes again, of one sample: what hardware flop count beside model flop. Full
 * recomputation: the layers' forward. Selective recomputation: by the definition of Korthikanti et al. 2022,
 * appendix A, the products of scores and values count twice, 3 transformer_all_attention_flops more (computed again are
 * only their forwards). Flash attention: its
 * backward forms the scores again (Dao et al. 2022, section 3.1), one product of the forward's two, under any
 * recomputation; selective recomputation adds nothing to that, for what it would keep from being stored is not stored
 * (Megatron-LM does not checkpoint flash attention either). */
double transformer_repeated_flops(const struct transformer_model *model, const struct transformer_layout *layout);

/* Flop of products that recomputation of single operators runs again, of all layers and one sample. */
double transformer_again_flops(const struct transformer_model *model);

/* Whether the block is one whose last product is not computed again where its layer is: layout.stops_early. */
bool transformer_stops_early(const struct transformer_model *model, const struct transformer_layout *layout,
                             enum transformer_block block);
/* Tensor-parallel communication of a block in one direction: buffers of `bytes` that are all-reduced one after the
 * other (with sequence parallelism each is gathered and scattered instead, which moves as much; the backward gathers
 * inputs once more). */
struct transformer_exchange {
    double buffers; /* all-reduces; without a tensor axis 0 */
    double gathers; /* further all-gathers (or reduce-scatters) of as many bytes */
    double bytes;   /* of each */
};
struct transformer_exchange transformer_exchange_forward(const struct transformer_model *model,
                                                         const struct transformer_layout *layout,
                                                         enum transformer_block block);
struct transformer_exchange transformer_exchange_backward(const struct transformer_model *model,
                                                          const struct transformer_layout *layout,
                                                          enum transformer_block block);

#endif
