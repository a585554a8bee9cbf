/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes as in Megatron-LM: column-parallel then row-parallel matrices (Shoeybi et al. 2019), normalisations and residuals on
 * every rank unless sequence parallelism divides them (Korthikanti et al. 2022). Bytes are what one kernel per line reads and
 * writes in device memory; bias additions and dropout are fused into their neighbours, masks of dropout take 1 byte. */
#include "workloads/transformer_operators.h"

/* Sizes that all operators derive from: elements unless said otherwise. */
struct shape {
    double rows;             /* tokens of the micro-batch */
    double hidden;           /* of an activation on this rank between blocks: rows x h, divided under sequence parallelism */
    double query, key_value; /* columns of this rank's projections */
    double ffn;              /* columns of this rank's feed-forward block */
    double scores;           /* s x s per sample and head of this rank */
    double vocabulary;       /* columns of this rank's part of the vocabulary */
    double h, element, mask; /* bytes of an element, and of a dropout mask's (0: no dropout) */
};

static struct shape shape_of(const struct transformer_model *m, const struct transformer_layout *l)
{
    double s = (double)m->sequence, t = l->tensor;
    struct shape shape = {.rows = l->samples * s, .h = (double)m->hidden, .element = l->element_bytes, .mask = m->dropout};
    shape.hidden = shape.rows * shape.h / (l->sequence_parallel ? t : 1);
    shape.query = (double)(m->heads * m->head_size) / t;
    shape.key_value = 2 * (double)(m->kv_heads * m->head_size) / t;
    shape.ffn = (double)m->ffn / t;
    shape.scores = l->samples * s * s * (double)m->heads / t;
    shape.vocabulary = (double)m->vocabulary / t;
    return shape;
}

static void add(struct transformer_operators *out, struct transformer_operator operator)
{
    out->items[out->count++] = operator;
}

static void add_vector(struct transformer_operators *out, const char *name, double bytes)
{
    add(out, (struct transformer_operator){.name = name, .bytes = bytes});
}

/* rows x inner times inner x columns. */
static void add_matrix(struct transformer_operators *out, const struct shape *s, const char *name, double inner, double columns)
{
    double bytes = s->element * (s->rows * inner + inner * columns + s->rows * columns);
    add(out, (struct transformer_operator){.name = name, .matrix = true, .flops = 2 * s->rows * inner * columns, .bytes = bytes});
}

/* Backward of such a product: gradient of the input, and of the weight, which is added to the accumulated one. */
static void add_matrix_backward(struct transformer_operators *out, const struct transformer_layout *l, const struct shape *s,
                                const char *name, double inner, double columns)
{
    add_matrix(out, s, name, inner, columns);
    add_matrix(out, s, name, inner, columns);
    struct transformer_operator *weight = &out->items[out->count - 1];
    weight->weight = true;
    weight->bytes += inner * columns * (2 * l->gradient_bytes - s->element);
}

/* ---- attention ---- */

/* One of the products over scores: s x s per head against s x head size. */
static void add_scores_product(struct transformer_operators *out, const struct transformer_model *m, const struct shape *s,
                               const char *name)
{
    double flops = 2 * s->scores * (double)m->head_size, bytes = s->element * (s->scores + 2 * s->rows * s->query);
    add(out, (struct transformer_operator){.name = name, .matrix = true, .flops = flops, .bytes = bytes});
}

/* Attention in one operator: `products` of the size of scores, of which a causal mask leaves half. */
static void add_flash(struct transformer_operators *out, const struct transformer_model *m, const struct shape *s, const char *name,
                      double products, double passes)
{
    double flops = products * 2 * s->scores * (double)m->head_size * (m->causal ? 0.5 : 1);
    double bytes = passes * s->element * s->rows * (2 * s->query + s->key_value);
    add(out, (struct transformer_operator){.name = name, .matrix = true, .flash = true, .flops = flops, .bytes = bytes});
}

/* The part that selective recomputation computes again. */
static void attention_core(const struct transformer_model *m, const struct transformer_layout *l, const struct shape *s,
                           struct transformer_operators *out)
{
    if (l->flash) {
        add_flash(out, m, s, "attention", 2, 1);
        return;
    }
    add_scores_product(out, m, s, "scores");
    add_vector(out, "softmax", 2 * s->element * s->scores);
    if (s->mask > 0)
        add_vector(out, "attention dropout", (2 * s->element + s->mask) * s->scores);
    add_scores_product(out, m, s, "values");
}

static void attention_core_backward(const struct transformer_model *m, const struct transformer_layout *l, const struct shape *s,
                                    struct transformer_operators *out)
{
    if (l->flash) {
        add_flash(out, m, s, "attention", 5, 2); /* scores are computed again within (Dao et al. 2022) */
        return;
    }
    for (int i = 0; i < 2; i++)
        add_scores_product(out, m, s, "values");
    if (s->mask > 0)
        add_vector(out, "attention dropout", (2 * s->element + s->mask) * s->scores);
    add_vector(out, "softmax", 3 * s->element * s->scores);
    for (int i = 0; i < 2; i++)
        add_scores_product(out, m, s, "scores");
}

static void attention(const struct transformer_model *m, const struct transformer_layout *l, const struct shape *s,
                      struct transformer_operators *out)
{
    add_vector(out, "normalisation", 2 * s->element * s->hidden);
    add_matrix(out, s, "query, key, value", s->h, s->query + s->key_value);
    add_vector(out, "heads", 2 * s->element * s->rows * (s->query + s->key_value));
    attention_core(m, l, s, out);
    add_matrix(out, s, "projection", s->query, s->h);
    add_vector(out, "residual", (3 * s->element + s->mask) * s->hidden);
}

static void attention_backward(const struct transformer_model *m, const struct transformer_layout *l, const struct shape *s,
                               struct transformer_operators *out)
{
    if (l->recompute == TRANSFORMER_FULL)
        attention(m, l, s, out);
    else if (l->recompute == TRANSFORMER_SELECTIVE && !l->flash)
        attention_core(m, l, s, out);
    add_vector(out, "residual", (2 * s->element + s->mask) * s->hidden);
    add_matrix_backward(out, l, s, "projection", s->query, s->h);
    attention_core_backward(m, l, s, out);
    add_vector(out, "heads", 2 * s->element * s->rows * (s->query + s->key_value));
    add_matrix_backward(out, l, s, "query, key, value", s->h, s->query + s->key_value);
    add_vector(out, "normalisation", 4 * s->element * s->hidden);
}

/* ---- feed-forward ---- */

static double inputs(const struct transformer_model *m)
{
    return m->gated ? 2 : 1;
}

static void ffn(const struct transformer_model *m, const struct shape *s, struct transformer_operators *out)
{
    add_vector(out, "normalisation", 2 * s->element * s->hidden);
    add_matrix(out, s, "first matrix", s->h, inputs(m) * s->ffn);
    add_vector(out, "activation", (inputs(m) + 1) * s->element * s->rows * s->ffn);
    add_matrix(out, s, "second matrix", s->ffn, s->h);
    add_vector(out, "residual", (3 * s->element + s->mask) * s->hidden);
}

static void ffn_backward(const struct transformer_model *m, const struct transformer_layout *l, const struct shape *s,
                         struct transformer_operators *out)
{
    if (l->recompute == TRANSFORMER_FULL)
        ffn(m, s, out);
    add_vector(out, "residual", (2 * s->element + s->mask) * s->hidden);
    add_matrix_backward(out, l, s, "second matrix", s->ffn, s->h);
    add_vector(out, "activation", (2 * inputs(m) + 1) * s->element * s->rows * s->ffn);
    add_matrix_backward(out, l, s, "first matrix", s->h, inputs(m) * s->ffn);
    add_vector(out, "normalisation", 4 * s->element * s->hidden);
}

/* ---- input and output ---- */

enum { FLOAT = 4 }; /* bytes: the loss is computed in fp32 */

static void output(const struct transformer_model *m, const struct shape *s, struct transformer_operators *out)
{
    if (m->final_norm)
        add_vector(out, "normalisation", 2 * s->element * s->hidden);
    if (m->head_transform)
        add_matrix(out, s, "transform", s->h, s->h);
    add_matrix(out, s, "logits", s->h, s->vocabulary);
    /* A copy in fp32, the largest, the exponentials and their sum. */
    add_vector(out, "loss", (s->element + 4 * FLOAT) * s->rows * s->vocabulary);
}

static void output_backward(const struct transformer_model *m, const struct transformer_layout *l, const struct shape *s,
                            struct transformer_operators *out)
{
    add_vector(out, "loss", (s->element + 2 * FLOAT) * s->rows * s->vocabulary);
    add_matrix_backward(out, l, s, "logits", s->h, s->vocabulary);
    if (m->head_transform)
        add_matrix_backward(out, l, s, "transform", s->h, s->h);
    if (m->final_norm)
        add_vector(out, "normalisation", 4 * s->element * s->hidden);
}

/* ---- all together ---- */

void transformer_forward(const struct transformer_model *model, const struct transformer_layout *layout, enum transformer_block block,
                         struct transformer_operators *out)
{
    struct shape shape = shape_of(model, layout);
    out->count = 0;
    switch (block) {
    case BLOCK_ATTENTION:
        attention(model, layout, &shape, out);
        break;
    case BLOCK_FFN:
        ffn(model, &shape, out);
        break;
    case BLOCK_OUTPUT:
        output(model, &shape, out);
        break;
    default:
        add_vector(out, "embedding", (3 * shape.element + shape.mask) * shape.hidden);
    }
}

void transformer_backward(const struct transformer_model *model, const struct transformer_layout *layout, enum transformer_block block,
                          struct transformer_operators *out)
{
    struct shape shape = shape_of(model, layout);
    out->count = 0;
    switch (block) {
    case BLOCK_ATTENTION:
        attention_backward(model, layout, &shape, out);
        break;
    case BLOCK_FFN:
        ffn_backward(model, layout, &shape, out);
        break;
    case BLOCK_OUTPUT:
        output_backward(model, layout, &shape, out);
        break;
    default:
        add_vector(out, "embedding", (shape.element + 2 * layout->gradient_bytes) * shape.hidden);
    }
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

struct transformer_exchange transformer_exchange_forward(const struct transformer_model *model, const struct transformer_layout *layout,
                                                         enum transformer_block block)
{
    double bytes = layout->element_bytes * layout->samples * (double)model->sequence * (double)model->hidden;
    bool sums = layout->tensor > 1 && block != BLOCK_OUTPUT; /* an input's parts of the vocabulary are summed, too */
    return (struct transformer_exchange){.buffers = sums, .bytes = bytes};
}

struct transformer_exchange transformer_exchange_backward(const struct transformer_model *model, const struct transformer_layout *layout,
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
