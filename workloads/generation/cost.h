/* SPDX-License-Identifier: Apache-2.0 */
/* How long products with weights, and attention, take on one GPU of an engine. */
#ifndef STAGESIM_GENERATION_COST_H
#define STAGESIM_GENERATION_COST_H

#include "workloads/generation/attention.h"
#include "workloads/generation/cache.h"
#include "workloads/generation/generation.h"
#include "workloads/transformer/kinds/operators.h"

/* Layers that are alike. */
struct generation_layers {
    uint32_t count;
    struct transformer_model own;
    struct generation_cache cache;
    const struct attention_grid *grid; /* NULL: not measured */
};

/* Seconds, and the bytes and flop of a GPU that they stand for, and in how many operators. */
struct generation_work {
    double seconds, bytes, flops, wide_flops, operators;
};

/* What products of a layer, or of the input and the output, are computed with. */
struct generation_products {
    const struct generation_device *device;
    struct transformer_layout layout; /* samples: tokens of a rank; of experts those that it gets on average */
    double weight;                    /* bytes of an element of a weight */
    double routed;                    /* tokens that all ranks of the experts have */
};

void generation_add(struct generation_work *sum, const struct generation_work *more, double times);
/* A layer without the products over its cache and those of experts, which are BLOCK_EXPERTS. */
struct generation_work generation_layer_work(const struct generation_products *products,
                                             const struct transformer_model *own, bool carries);
/* The products of a layer's experts. */
struct generation_work generation_experts_work(const struct generation_products *products,
                                               const struct transformer_model *own);
/* One of the blocks that layers stand between. */
struct generation_work generation_block_work(const struct generation_products *products,
                                             const struct transformer_model *model, enum transformer_block block);
/* Attention of one of the layers: `sequences` go on by a token each and have `context` tokens together; of prompts so
 * many tokens in so many pairs. */
struct generation_work generation_attention_work(const struct generation_device *device,
                                                 const struct generation_layers *layers, double sequences,
                                                 double context, double prefill, double pairs);
/* Bytes of an element, with the scales that stand beside narrow ones. */
double generation_element(enum generation_type type);

#endif
