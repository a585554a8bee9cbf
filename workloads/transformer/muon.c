/* SPDX-License-Identifier: Apache-2.0 */
/* Muon (Jordan et al. 2024; Liu et al. 2025, arXiv 2502.16982) makes the momentum of each matrix of m x n orthogonal by
 * five steps of Newton and Schulz: with the narrower side m, X X^T and its square, and their product with X, 4 m^2 n +
 * 2 m^3 flop a step. Tensor-parallel ranks do so with their parts, as Megatron-LM does (--muon-tp-mode blockwise).
 * Other parameters (embedding, output, normalisations, biases, a tower) have Adam. */
#include "workloads/transformer/transformer.h"

#include <math.h>

enum { STEPS = 5, PRODUCTS = 3 };

static void add_matrix(struct transformer_matrices *sum, double count, double rows, double columns)
{
    double narrow = fmin(rows, columns), wide = fmax(rows, columns);
    sum->elements += count * rows * columns;
    sum->flops += count * STEPS * (4 * narrow * narrow * wide + 2 * narrow * narrow * narrow);
    sum->products += count * STEPS * PRODUCTS;
}

/* The matrices of a block, or the adapters beside them. */
static void add_block(const struct transformer_job *at, enum transformer_block block, struct transformer_matrices *sum)
{
    struct transformer_operators list;
    double rank = (double)at->parameters->adapter_rank;
    if (rank > 0 && !(transformer_adapter_parameters(at, block) > 0))
        return;
    transformer_forward(&at->model, &at->layout, block, &list);
    for (unsigned i = 0; i < list.count; i++) {
        const struct kernel_shape *s = &list.items[i].shape;
        if (!transformer_is_product(&list.items[i]))
            continue;
        add_matrix(sum, s->groups, s->k, rank > 0 ? rank : s->n);
        if (rank > 0)
            add_matrix(sum, s->groups, rank, s->n);
    }
}

static struct transformer_matrices matrices_of(const struct transformer_job *at, bool experts)
{
    static const enum transformer_block own[] = {BLOCK_ROUTER, BLOCK_SHARED, BLOCK_COMBINE};
    struct transformer_matrices sum = {0};
    bool routed = at->model.feed == FEED_EXPERTS && at->model.experts;
    if (experts) {
        if (routed)
            add_block(at, BLOCK_EXPERTS, &sum);
        return sum;
    }
    if (at->model.mixer != MIXER_NONE)
        add_block(at, BLOCK_ATTENTION, &sum);
    if (at->model.feed == FEED_DENSE)
        add_block(at, BLOCK_FFN, &sum);
    for (unsigned i = 0; routed && i < sizeof own / sizeof *own; i++)
        if (own[i] != BLOCK_SHARED || transformer_shared_width(&at->model) > 0)
            add_block(at, own[i], &sum);
    return sum;
}

struct transformer_matrices transformer_stage_matrices(const struct transformer_job *j, uint32_t stage, bool experts)
{
    struct transformer_matrices sum = {0};
    uint32_t first = transformer_stage_first(j, stage),
             end = first + j->layers[stage] + transformer_stage_further(j, stage);
    for (uint32_t layer = first; layer < end; layer++) {
        struct transformer_job at = transformer_at_layer(j, layer);
        struct transformer_matrices own = matrices_of(&at, experts);
        sum.elements += own.elements;
        sum.flops += own.flops;
        sum.products += own.products;
    }
    return sum;
}
