/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of blocks: of what mixes tokens as its kind says, feed-forward, input and output. */
#include "workloads/transformer/kinds/kinds.h"
#include "workloads/transformer/kinds/scan.h"
#include "workloads/transformer/kinds/shape.h"
#include "workloads/transformer/kinds/tower.h"

/* ---- what mixes tokens ---- */

static void join(const struct transformer_model *m, const struct transformer_layout *l, const struct operator_shape *s,
                 struct transformer_operators *out)
{
    const struct transformer_kind *kind = transformer_kind_of(m);
    if (kind->join)
        kind->join(m, l, s, out);
    else
        operators_add_matrix(out, s, "projection", s->output_inner, s->h);
    operators_add_norms(out, s, transformer_norms_of(m).behind, false);
    operators_add_residual(m, out, s);
}

static void join_backward(const struct transformer_model *m, const struct transformer_layout *l,
                          const struct operator_shape *s, struct transformer_operators *out)
{
    const struct transformer_kind *kind = transformer_kind_of(m);
    operators_add_residual_backward(m, l, out, s);
    operators_add_norms(out, s, transformer_norms_of(m).behind, true);
    if (kind->join_backward)
        kind->join_backward(m, l, s, out);
    else
        operators_add_matrix_backward(out, l, s, "projection", s->output_inner, s->h);
}

static void core(const struct transformer_model *m, const struct transformer_layout *l, const struct operator_shape *s,
                 bool backward, struct transformer_operators *out)
{
    const struct transformer_kind *kind = transformer_kind_of(m);
    if (!kind->scan) {
        (backward ? kind->core_backward : kind->core)(m, l, s, out);
        return;
    }
    struct kind_scan scan = kind->scan(m);
    (backward ? scan_core_backward : scan_core)(m, l, s, &scan, out);
}

/* Sequences are not the outermost dimension: what all ranks along tensor gather is put together, and what they scatter
 * cut, by a copy of the whole. */
static void add_copies(const struct transformer_layout *l, const struct operator_shape *s, double count,
                       struct transformer_operators *out)
{
    if (l->copies && l->sequence_parallel)
        operators_add_vector(out, "copy", count * 2 * s->element * s->rows * s->h);
}

/* Whether the products over scores run again in the backward. */
static bool repeats_core(const struct transformer_model *m, const struct transformer_layout *l)
{
    return l->recompute == TRANSFORMER_SELECTIVE && !l->flash && transformer_kind_of(m)->attends;
}

static void attention_forward(const struct transformer_model *m, const struct transformer_layout *l,
                              enum transformer_block block, const struct operator_shape *s,
                              struct transformer_operators *out)
{
    if (block == BLOCK_ATTENTION || block == BLOCK_PROJECTIONS)
        transformer_kind_of(m)->projections(m, l, s, out);
    if (block == BLOCK_ATTENTION || block == BLOCK_CORE)
        core(m, l, s, false, out);
    if (block == BLOCK_ATTENTION || block == BLOCK_JOIN)
        join(m, l, s, out);
    if (block != BLOCK_CORE)
        add_copies(l, s, block == BLOCK_ATTENTION ? 2 : 1, out);
}

static double inputs(const struct transformer_model *m)
{
    return m->gated ? 2 : 1;
}

/* Recomputation of single operators (torchtitan's `op`): of a layer's products in their order every second one is kept,
 * and what flash attention gives. Keys, the projection and a half of a gated first matrix run again, and all that is no
 * product. In fp8 as much is kept: the published peaks of both are the same. */
static void attention_again(const struct transformer_model *m, const struct transformer_layout *l,
                            enum transformer_block block, const struct operator_shape *s,
                            struct transformer_operators *out)
{
    bool whole = block == BLOCK_ATTENTION, own = m->kv_rank || (m->mixer != MIXER_ATTENTION && m->mixer != MIXER_LOCAL);
    if ((whole || block == BLOCK_PROJECTIONS) && own)
        transformer_kind_of(m)->projections(m, l, s, out);
    else if (whole || block == BLOCK_PROJECTIONS) {
        operators_add_vector(out, "normalisation", 2 * s->element * s->hidden);
        operators_add_gathered_matrix(out, s, "key", s->h_inner, s->key);
        operators_add_vector(out, "heads", 2 * s->element * s->rows * (s->query + s->key_value));
    }
    if (whole || block == BLOCK_JOIN)
        join(m, l, s, out);
}

static void ffn_again(const struct transformer_model *m, enum transformer_block block, const struct operator_shape *s,
                      struct transformer_operators *out)
{
    if (block == BLOCK_SECOND)
        return;
    operators_add_norms(out, s, transformer_norms_of(m).ffn, false);
    if (inputs(m) > 1)
        operators_add_gathered_matrix(out, s, "first matrix", s->h_inner, (inputs(m) - 1) * s->ffn);
    operators_add_vector(out, "activation", (inputs(m) + 1) * s->element * s->rows * s->ffn);
}

static void attention_backward(const struct transformer_model *m, const struct transformer_layout *l,
                               enum transformer_block block, const struct operator_shape *s,
                               struct transformer_operators *out)
{
    bool whole = block == BLOCK_ATTENTION;
    if (l->recompute == TRANSFORMER_FULL)
        attention_forward(m, l, block, s, out);
    else if (l->recompute == TRANSFORMER_OPERATORS)
        attention_again(m, l, block, s, out);
    else if (repeats_core(m, l) && (whole || block == BLOCK_CORE))
        core(m, l, s, false, out);
    if (whole || block == BLOCK_JOIN)
        join_backward(m, l, s, out);
    if (whole || block == BLOCK_CORE)
        core(m, l, s, true, out);
    if (whole || block == BLOCK_PROJECTIONS)
        transformer_kind_of(m)->projections_backward(m, l, s, out);
    if (block != BLOCK_CORE)
        add_copies(l, s, whole ? 3 : block == BLOCK_PROJECTIONS ? 2 : 1, out);
}

/* ---- feed-forward ---- */

static void ffn_forward(const struct transformer_model *m, const struct transformer_layout *l,
                        enum transformer_block block, const struct operator_shape *s, struct transformer_operators *out)
{
    add_copies(l, s, block == BLOCK_FFN ? 2 : 1, out);
    if (block != BLOCK_SECOND) {
        operators_add_norms(out, s, transformer_norms_of(m).ffn, false);
        operators_add_gathered_matrix(out, s, "first matrix", s->h_inner, inputs(m) * s->ffn);
        operators_add_vector(out, "activation", (inputs(m) + 1) * s->element * s->rows * s->ffn);
    }
    if (block != BLOCK_FIRST) {
        operators_add_matrix(out, s, "second matrix", s->ffn_inner, s->h);
        operators_add_norms(out, s, transformer_norms_of(m).behind, false);
        operators_add_residual(m, out, s);
    }
}

/* Nothing needs the result of the last product again, unless something follows it that does: a normalisation, the mask
 * of dropout, what mixes several streams. */
bool transformer_stops_early(const struct transformer_model *model, const struct transformer_layout *layout,
                             enum transformer_block block)
{
    return layout->stops_early && layout->recompute == TRANSFORMER_FULL &&
           (block == BLOCK_FFN || block == BLOCK_SECOND) && !(transformer_norms_of(model).behind > 0) &&
           !model->dropout && model->streams <= 1;
}

/* What of a forward is computed again where layers are as a whole. */
static void ffn_whole(const struct transformer_model *m, const struct transformer_layout *l,
                      enum transformer_block block, const struct operator_shape *s, struct transformer_operators *out)
{
    if (!transformer_stops_early(m, l, block))
        ffn_forward(m, l, block, s, out);
    else if (block == BLOCK_FFN)
        ffn_forward(m, l, BLOCK_FIRST, s, out);
}

static void ffn_backward(const struct transformer_model *m, const struct transformer_layout *l,
                         enum transformer_block block, const struct operator_shape *s,
                         struct transformer_operators *out)
{
    if (l->recompute == TRANSFORMER_FULL)
        ffn_whole(m, l, block, s, out);
    else if (l->recompute == TRANSFORMER_OPERATORS)
        ffn_again(m, block, s, out);
    add_copies(l, s, block == BLOCK_FFN ? 3 : block == BLOCK_FIRST ? 2 : 1, out);
    if (block != BLOCK_FIRST) {
        operators_add_residual_backward(m, l, out, s);
        operators_add_norms(out, s, transformer_norms_of(m).behind, true);
        operators_add_matrix_backward(out, l, s, "second matrix", s->ffn_inner, s->h);
    }
    if (block != BLOCK_SECOND) {
        operators_add_vector(out, "activation", (2 * inputs(m) + 1) * s->element * s->rows * s->ffn);
        operators_add_matrix_backward(out, l, s, "first matrix", s->h_inner, inputs(m) * s->ffn);
        operators_add_norms(out, s, transformer_norms_of(m).ffn, true);
    }
}

/* ---- input and output ---- */

enum { FLOAT = 4 }; /* bytes: the loss is computed in fp32 */

static void output(const struct transformer_model *m, const struct operator_shape *s, struct transformer_operators *out)
{
    if (m->final_norm)
        operators_add_vector(out, "normalisation", 2 * s->element * s->hidden);
    if (m->head_transform)
        operators_add_matrix(out, s, "transform", s->h_inner, s->h);
    operators_add_matrix(out, s, "logits", s->h_inner, s->vocabulary);
    /* A copy in fp32, the largest, the exponentials and their sum. */
    operators_add_vector(out, "loss", (s->element + 4 * FLOAT) * s->rows * s->vocabulary);
}

static void output_backward(const struct transformer_model *m, const struct transformer_layout *l,
                            const struct operator_shape *s, struct transformer_operators *out)
{
    operators_add_vector(out, "loss", (s->element + 2 * FLOAT) * s->rows * s->vocabulary);
    operators_add_matrix_backward(out, l, s, "logits", s->h_inner, s->vocabulary);
    if (m->head_transform)
        operators_add_matrix_backward(out, l, s, "transform", s->h_inner, s->h);
    if (m->final_norm)
        operators_add_vector(out, "normalisation", 4 * s->element * s->hidden);
}

/* ---- further tokens ---- */

/* Two normalisations and a matrix of what the layer before gives and of the next token's embedding, side by side. */
static void prediction(const struct operator_shape *s, struct transformer_operators *out)
{
    operators_add_norms(out, s, 2, false);
    operators_add_matrix(out, s, "joined inputs", 2 * s->h_inner, s->h);
}

static void prediction_backward(const struct transformer_layout *l, const struct operator_shape *s,
                                struct transformer_operators *out)
{
    operators_add_matrix_backward(out, l, s, "joined inputs", 2 * s->h_inner, s->h);
    operators_add_norms(out, s, 2, true);
}

/* ---- all together ---- */

/* ---- shared weights ---- */

/* Elements of the matrices of a block of attention or of a dense feed-forward block. */
static double block_weights(const struct transformer_model *m, const struct operator_shape *s,
                            enum transformer_block block)
{
    double projections = s->h_inner * (s->query + s->key_value), join_weights = s->output_inner * s->h,
           first = s->h_inner * inputs(m) * s->ffn, second = s->ffn_inner * s->h;
    switch (block) {
    case BLOCK_ATTENTION:
        return projections + join_weights;
    case BLOCK_PROJECTIONS:
        return projections;
    case BLOCK_JOIN:
        return join_weights;
    case BLOCK_FFN:
        return first + second;
    case BLOCK_FIRST:
        return first;
    case BLOCK_SECOND:
        return second;
    default:
        return 0;
    }
}

/* Weights that were gathered from those who share them are copied out of the buffer, gradients into theirs, in the
 * precision in which they are summed up. */
static void add_shard_copies(const struct transformer_model *m, const struct transformer_layout *l,
                             enum transformer_block block, const struct operator_shape *s, bool backward,
                             struct transformer_operators *out)
{
    double bytes = !backward || l->gathers_again ? 2 * l->element_bytes : 0, weights = block_weights(m, s, block);
    bytes += backward ? l->element_bytes + l->gradient_bytes : 0;
    if (!l->shard_copies || !(weights > 0))
        return;
    operators_add_vector(out, "shards", bytes * weights);
    out->items[out->count - 1].single = true;
}

void transformer_forward(const struct transformer_model *model, const struct transformer_layout *layout,
                         enum transformer_block block, struct transformer_operators *out)
{
    struct operator_shape shape = operator_shape_of(model, layout);
    out->count = 0;
    switch (block) {
    case BLOCK_INPUT:
        operators_add_vector(out, "embedding", (3 * shape.element + shape.mask) * shape.hidden);
        break;
    case BLOCK_FFN:
    case BLOCK_FIRST:
    case BLOCK_SECOND:
        ffn_forward(model, layout, block, &shape, out);
        break;
    case BLOCK_OUTPUT:
        output(model, &shape, out);
        operators_keep_wide(out, 0);
        break;
    case BLOCK_PREDICTION:
        prediction(&shape, out);
        break;
    case BLOCK_TOWER:
    case BLOCK_TOWERS_END:
        tower_ends(model, layout, (enum transformer_tower_kind)(block - BLOCK_TOWER), false, out);
        break;
    case BLOCK_ATTENTION:
    case BLOCK_PROJECTIONS:
    case BLOCK_CORE:
    case BLOCK_JOIN:
        attention_forward(model, layout, block, &shape, out);
        break;
    default:
        experts_forward(model, layout, block, out);
    }
    add_shard_copies(model, layout, block, &shape, false, out);
}

void transformer_backward(const struct transformer_model *model, const struct transformer_layout *layout,
                          enum transformer_block block, struct transformer_operators *out)
{
    struct operator_shape shape = operator_shape_of(model, layout);
    out->count = 0;
    switch (block) {
    case BLOCK_INPUT:
        operators_add_vector(out, "embedding", (shape.element + 2 * layout->gradient_bytes) * shape.hidden);
        break;
    case BLOCK_FFN:
    case BLOCK_FIRST:
    case BLOCK_SECOND:
        ffn_backward(model, layout, block, &shape, out);
        break;
    case BLOCK_OUTPUT:
        output_backward(model, layout, &shape, out);
        operators_keep_wide(out, 0);
        break;
    case BLOCK_PREDICTION:
        prediction_backward(layout, &shape, out);
        break;
    case BLOCK_TOWER:
    case BLOCK_TOWERS_END:
        tower_ends(model, layout, (enum transformer_tower_kind)(block - BLOCK_TOWER), true, out);
        break;
    case BLOCK_ATTENTION:
    case BLOCK_PROJECTIONS:
    case BLOCK_CORE:
    case BLOCK_JOIN:
        attention_backward(model, layout, block, &shape, out);
        break;
    default:
        experts_backward(model, layout, block, out);
    }
    add_shard_copies(model, layout, block, &shape, true, out);
}

double transformer_operators_flops(const struct transformer_operators *operators, bool weight_only)
{
    double flops = 0;
    for (unsigned i = 0; i < operators->count; i++)
        if (operators->items[i].matrix && (operators->items[i].weight || !weight_only))
            flops += operators->items[i].flops;
    return flops;
}

/* ---- tensor-parallel communication ---- */

struct transformer_exchange transformer_exchange_forward(const struct transformer_model *model,
                                                         const struct transformer_layout *layout,
                                                         enum transformer_block block)
{
    double bytes =
        layout->element_bytes * layout->samples * (double)model->sequence / layout->context * (double)model->hidden;
    bool sums = layout->tensor > 1 && block != BLOCK_OUTPUT; /* an input's parts of the vocabulary are summed, too */
    return (struct transformer_exchange){.buffers = sums, .bytes = bytes};
}

struct transformer_exchange transformer_exchange_backward(const struct transformer_model *model,
                                                          const struct transformer_layout *layout,
                                                          enum transformer_block block)
{
    struct transformer_exchange exchange = transformer_exchange_forward(model, layout, block);
    if (layout->tensor <= 1)
        return exchange;
    bool layer = block == BLOCK_ATTENTION || block == BLOCK_FFN;
    exchange.buffers = block == BLOCK_INPUT ? 0 : 1;
    /* Of a layer that is computed again only the last sum is not needed, but Megatron-LM does it as well. */
    bool again = layer && layout->recompute == TRANSFORMER_FULL, early = transformer_stops_early(model, layout, block);
    exchange.buffers += again && !early;
    exchange.gathers = (layer && layout->sequence_parallel) + (early && layout->sequence_parallel);
    return exchange;
}
