/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of attention, feed-forward, input and output. */
#include "workloads/transformer/operator_list.h"

/* Which of the two products over scores: with queries and keys, or with values. */
enum scores_product { PRODUCT_KEYS, PRODUCT_VALUES };

static double head_width(const struct transformer_model *m, const struct operator_shape *s, enum scores_product product)
{
    double heads = s->query / ((double)m->head_size + (m->kv_rank ? (double)m->rope_size : 0));
    return (product == PRODUCT_KEYS ? s->query : s->output) / heads;
}

static void add_scores_product(struct transformer_operators *out, const struct transformer_model *m,
                               const struct operator_shape *s, const char *name, enum scores_product product)
{
    double columns = product == PRODUCT_KEYS ? s->query : s->output;
    double flops = 2 * s->scores * head_width(m, s, product),
           bytes = s->element * (s->scores + (s->rows + s->keys) * columns);
    operators_add(
        out, (struct transformer_operator){.name = name, .matrix = true, .wide = true, .flops = flops, .bytes = bytes});
}

/* Attention in one operator: so many products with keys and with values, of which a causal mask leaves half. */
static void add_flash(struct transformer_operators *out, const struct transformer_model *m,
                      const struct operator_shape *s, const char *name, double with_keys, double with_values,
                      double passes)
{
    double width = with_keys * head_width(m, s, PRODUCT_KEYS) + with_values * head_width(m, s, PRODUCT_VALUES);
    double flops = 2 * s->scores * width * (m->causal ? 0.5 * transformer_window_share(m) : 1);
    double bytes = passes * s->element * (s->rows * (s->query + s->output) + s->keys * s->key_value);
    /* Ranks that share a sequence compute with blocks of it, or with some heads of all of it. */
    struct kernel_shape shape = {.kind = KERNEL_ATTENTION,
                                 .stage = m->causal ? KERNEL_FORWARD : KERNEL_FORWARD_FULL,
                                 .groups = s->scores / (s->length * (double)m->sequence),
                                 .m = s->length,
                                 .n = head_width(m, s, PRODUCT_KEYS),
                                 .k = head_width(m, s, PRODUCT_VALUES)};
    if (passes > 1)
        shape.stage = m->causal ? KERNEL_BACKWARD : KERNEL_BACKWARD_FULL;
    operators_add(
        out,
        (struct transformer_operator){
            .name = name, .matrix = true, .flash = true, .wide = true, .flops = flops, .bytes = bytes, .shape = shape});
}

/* The part that selective recomputation computes again. */
static void attention_core(const struct transformer_model *m, const struct transformer_layout *l,
                           const struct operator_shape *s, struct transformer_operators *out)
{
    if (l->flash) {
        add_flash(out, m, s, "attention", 1, 1, 1);
        return;
    }
    add_scores_product(out, m, s, "scores", PRODUCT_KEYS);
    operators_add_vector(out, "softmax", 2 * s->element * s->scores);
    if (s->mask > 0)
        operators_add_vector(out, "attention dropout", (2 * s->element + s->mask) * s->scores);
    add_scores_product(out, m, s, "values", PRODUCT_VALUES);
}

static void attention_core_backward(const struct transformer_model *m, const struct transformer_layout *l,
                                    const struct operator_shape *s, struct transformer_operators *out)
{
    if (l->flash) {
        add_flash(out, m, s, "attention", 3, 2, 2); /* scores are computed again within (Dao et al. 2022) */
        return;
    }
    for (int i = 0; i < 2; i++)
        add_scores_product(out, m, s, "values", PRODUCT_VALUES);
    if (s->mask > 0)
        operators_add_vector(out, "attention dropout", (2 * s->element + s->mask) * s->scores);
    operators_add_vector(out, "softmax", 3 * s->element * s->scores);
    for (int i = 0; i < 2; i++)
        add_scores_product(out, m, s, "scores", PRODUCT_KEYS);
}

static void projections(const struct transformer_model *m, const struct transformer_layout *l,
                        const struct operator_shape *s, struct transformer_operators *out)
{
    operators_add_vector(out, "normalisation", 2 * s->element * s->hidden);
    if (m->kv_rank)
        latent_projections(m, l, s, out);
    else
        operators_add_gathered_matrix(out, s, "query, key, value", s->h_inner, s->query + s->key_value);
    operators_add_vector(out, "heads", 2 * s->element * s->rows * (s->query + s->key_value));
    if (m->qk_norm)
        operators_add_vector(out, "query, key normalisation", 2 * s->element * s->rows * (s->query + s->key));
}

static void projections_backward(const struct transformer_model *m, const struct transformer_layout *l,
                                 const struct operator_shape *s, struct transformer_operators *out)
{
    if (m->qk_norm)
        operators_add_vector(out, "query, key normalisation", 4 * s->element * s->rows * (s->query + s->key));
    operators_add_vector(out, "heads", 2 * s->element * s->rows * (s->query + s->key_value));
    if (m->kv_rank)
        latent_projections_backward(m, l, s, out);
    else
        operators_add_matrix_backward(out, l, s, "query, key, value", s->h_inner, s->query + s->key_value);
    operators_add_vector(out, "normalisation", 4 * s->element * s->hidden);
}

static void join(const struct transformer_model *m, const struct operator_shape *s, struct transformer_operators *out)
{
    operators_add_matrix(out, s, "projection", s->output_inner, s->h);
    operators_add_norms(out, s, transformer_norms_of(m).behind, false);
    operators_add_vector(out, "residual", (3 * s->element + s->mask) * s->hidden);
}

static void join_backward(const struct transformer_model *m, const struct transformer_layout *l,
                          const struct operator_shape *s, struct transformer_operators *out)
{
    operators_add_vector(out, "residual", (2 * s->element + s->mask) * s->hidden);
    operators_add_norms(out, s, transformer_norms_of(m).behind, true);
    operators_add_matrix_backward(out, l, s, "projection", s->output_inner, s->h);
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
static bool repeats_core(const struct transformer_layout *l)
{
    return l->recompute == TRANSFORMER_SELECTIVE && !l->flash;
}

static void attention_forward(const struct transformer_model *m, const struct transformer_layout *l,
                              enum transformer_block block, const struct operator_shape *s,
                              struct transformer_operators *out)
{
    if (block == BLOCK_ATTENTION || block == BLOCK_PROJECTIONS)
        projections(m, l, s, out);
    if (block == BLOCK_ATTENTION || block == BLOCK_CORE)
        attention_core(m, l, s, out);
    if (block == BLOCK_ATTENTION || block == BLOCK_JOIN)
        join(m, s, out);
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
    bool whole = block == BLOCK_ATTENTION;
    if ((whole || block == BLOCK_PROJECTIONS) && m->kv_rank)
        projections(m, l, s, out);
    else if (whole || block == BLOCK_PROJECTIONS) {
        operators_add_vector(out, "normalisation", 2 * s->element * s->hidden);
        operators_add_gathered_matrix(out, s, "key", s->h_inner, s->key);
        operators_add_vector(out, "heads", 2 * s->element * s->rows * (s->query + s->key_value));
    }
    if (whole || block == BLOCK_JOIN)
        join(m, s, out);
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
    else if (repeats_core(l) && (whole || block == BLOCK_CORE))
        attention_core(m, l, s, out);
    if (whole || block == BLOCK_JOIN)
        join_backward(m, l, s, out);
    if (whole || block == BLOCK_CORE)
        attention_core_backward(m, l, s, out);
    if (whole || block == BLOCK_PROJECTIONS)
        projections_backward(m, l, s, out);
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
        operators_add_vector(out, "residual", (3 * s->element + s->mask) * s->hidden);
    }
}

static void ffn_backward(const struct transformer_model *m, const struct transformer_layout *l,
                         enum transformer_block block, const struct operator_shape *s,
                         struct transformer_operators *out)
{
    if (l->recompute == TRANSFORMER_FULL)
        ffn_forward(m, l, block, s, out);
    else if (l->recompute == TRANSFORMER_OPERATORS)
        ffn_again(m, block, s, out);
    add_copies(l, s, block == BLOCK_FFN ? 3 : block == BLOCK_FIRST ? 2 : 1, out);
    if (block != BLOCK_FIRST) {
        operators_add_vector(out, "residual", (2 * s->element + s->mask) * s->hidden);
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

/* Of a block of one sample on a single rank. */
static double again_of(const struct transformer_model *model, enum transformer_recompute recompute,
                       enum transformer_block block)
{
    struct transformer_layout whole = {.samples = 1,
                                       .tensor = 1,
                                       .width = 1,
                                       .gathered_rows = 1,
                                       .context = 1,
                                       .expert = 1,
                                       .expert_tensor = 1,
                                       .padding = 1,
                                       .flash = true,
                                       .element_bytes = 2,
                                       .gradient_bytes = 4,
                                       .recompute = recompute};
    struct transformer_operators operators;
    transformer_backward(model, &whole, block, &operators);
    return transformer_operators_flops(&operators, false);
}

double transformer_again_flops(const struct transformer_model *model)
{
    static const enum transformer_block blocks[] = {BLOCK_ATTENTION, BLOCK_FFN, BLOCK_SHARED, BLOCK_EXPERTS};
    double with_experts = (double)transformer_expert_layers(model, (uint32_t)model->layers), sum = 0;
    double dense = (double)model->layers - with_experts;
    const double layers[] = {(double)model->layers, dense, with_experts, with_experts};
    for (unsigned i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (layers[i] > 0)
            sum += layers[i] *
                   (again_of(model, TRANSFORMER_OPERATORS, blocks[i]) - again_of(model, TRANSFORMER_KEEP, blocks[i]));
    return sum;
}

double transformer_repeated_flops(const struct transformer_model *model, const struct transformer_layout *layout)
{
    struct transformer_widths widths = transformer_widths_of(model);
    double scores = widths.query / (widths.query + widths.output);
    double attention = transformer_all_attention_flops(model), flash = layout->flash ? attention * scores : 0;
    if (layout->recompute == TRANSFORMER_FULL)
        return transformer_layers_flops(model) + flash;
    if (layout->recompute == TRANSFORMER_OPERATORS)
        return transformer_again_flops(model) + flash;
    return layout->recompute == TRANSFORMER_SELECTIVE && !layout->flash ? 3 * attention : flash;
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
    exchange.buffers += layer && layout->recompute == TRANSFORMER_FULL;
    exchange.gathers = layer && layout->sequence_parallel;
    return exchange;
}
