/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax attention of all tokens, of those in a window or of those in a chunk: multi-head and grouped (Ainslie et al.
 * 2023, arXiv 2305.13245), latent (latent.c), with what models add to it: gates of its output, sinks, normalisations of
 * queries and keys, one matrix for keys and values. */
#include "workloads/transformer/kinds/kinds.h"

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
    double flops = 2 * s->scores * width * (m->causal ? 0.5 : 1) * transformer_met_share(m);
    double bytes = passes * s->element * (s->rows * (s->query + s->output) + s->keys * s->key_value);
    /* Ranks that share a sequence compute with blocks of it, or with some heads of all of it; packed documents are like
     * more and shorter sequences. */
    double packed = transformer_document_length(m) / (double)m->sequence;
    struct kernel_shape shape = {.kind = KERNEL_ATTENTION,
                                 .stage = m->causal ? KERNEL_FORWARD : KERNEL_FORWARD_FULL,
                                 .groups = s->scores / (s->length * (double)m->sequence) / packed,
                                 .m = s->length * packed,
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

/* ---- parameters ---- */

static struct transformer_widths widths(const struct transformer_model *m)
{
    double heads = (double)m->heads, size = (double)m->head_size, kv = (double)m->kv_heads;
    double value = m->value_size ? (double)m->value_size : size;
    if (!m->kv_rank)
        return (struct transformer_widths){heads * size, kv * size, kv * value, heads * value};
    double query = heads * (size + (double)m->rope_size), latent = heads * (double)m->value_size;
    return (struct transformer_widths){query, query, latent, latent};
}

static double norm(const struct transformer_model *m, double width)
{
    return (m->norm == NORM_RMS ? 1.0 : 2.0) * width;
}

/* Columns of the matrix into an attention that is not latent. */
static double into_columns(const struct transformer_model *m)
{
    struct transformer_widths w = widths(m);
    return w.query + w.key + (m->keys_are_values ? 0 : w.value) + (m->output_gate ? w.output : 0);
}

static void set_matrices(const struct transformer_model *m, struct kind_parameters *out)
{
    struct transformer_widths w = widths(m);
    double h = (double)m->hidden, keys = (double)(m->heads * m->head_size);
    out->out = w.output * h;
    out->into = h * into_columns(m);
    if (!m->kv_rank)
        return;
    /* A key's rotary part is the same for all heads. */
    out->into = (m->query_rank ? (double)m->query_rank : h) * w.query + (double)m->kv_rank * (keys + w.value) +
                (m->output_gate ? h * w.output : 0);
    out->whole = h * (double)(m->query_rank + m->kv_rank + m->rope_size);
}

struct kind_parameters attention_parameters(const struct transformer_model *m)
{
    struct kind_parameters out = {0};
    struct transformer_widths w = widths(m);
    set_matrices(m, &out);
    out.divided = (m->biases || m->qkv_biases ? w.query + w.key + w.value : 0) + (m->sinks ? (double)m->heads : 0);
    out.rest = (m->biases ? (double)m->hidden : 0) + (m->kv_rank ? norm(m, (double)(m->query_rank + m->kv_rank)) : 0);
    if (m->qk_norm && !m->qk_norm_free)
        out.rest += norm(m, m->qk_norm_whole ? w.query + w.key : 2 * (double)m->head_size);
    return out;
}

static double core_flops(const struct transformer_model *m)
{
    struct transformer_widths w = widths(m);
    return 2.0 * (double)m->sequence * (double)m->sequence * (w.query + w.output) * transformer_met_share(m);
}

/* ---- operators around the products over scores ---- */

/* Columns of a rank's matrix: none of values where keys are used for both, and further ones of a gate. */
static double columns(const struct transformer_model *m, const struct operator_shape *s)
{
    double values = s->key_value - s->key;
    return s->query + s->key_value - (m->keys_are_values ? values : 0) + (m->output_gate ? s->output : 0);
}

void attention_projections(const struct transformer_model *m, const struct transformer_layout *l,
                           const struct operator_shape *s, struct transformer_operators *out)
{
    operators_add_vector(out, "normalisation", 2 * s->element * s->hidden);
    if (m->kv_rank)
        latent_projections(m, l, s, out);
    else
        operators_add_gathered_matrix(out, s, "query, key, value", s->h_inner, columns(m, s));
    if (m->kv_rank && m->output_gate)
        operators_add_gathered_matrix(out, s, "output gate", s->h_inner, s->output);
    operators_add_vector(out, "heads", 2 * s->element * s->rows * (s->query + s->key_value));
    if (m->qk_norm)
        operators_add_vector(out, "query, key normalisation", 2 * s->element * s->rows * (s->query + s->key));
}

void attention_projections_backward(const struct transformer_model *m, const struct transformer_layout *l,
                                    const struct operator_shape *s, struct transformer_operators *out)
{
    if (m->qk_norm)
        operators_add_vector(out, "query, key normalisation", 4 * s->element * s->rows * (s->query + s->key));
    operators_add_vector(out, "heads", 2 * s->element * s->rows * (s->query + s->key_value));
    if (m->kv_rank && m->output_gate)
        operators_add_matrix_backward(out, l, s, "output gate", s->h_inner, s->output);
    if (m->kv_rank)
        latent_projections_backward(m, l, s, out);
    else
        operators_add_matrix_backward(out, l, s, "query, key, value", s->h_inner, columns(m, s));
    operators_add_vector(out, "normalisation", 4 * s->element * s->hidden);
}

void attention_add_gate(const struct transformer_model *m, const struct operator_shape *s, bool backward,
                        struct transformer_operators *out)
{
    if (m->output_gate)
        operators_add_vector(out, "output gate", (backward ? 5 : 3) * s->element * s->rows * s->output);
}

static void core(const struct transformer_model *m, const struct transformer_layout *l, const struct operator_shape *s,
                 struct transformer_operators *out)
{
    attention_core(m, l, s, out);
    attention_add_gate(m, s, false, out);
}

static void core_backward(const struct transformer_model *m, const struct transformer_layout *l,
                          const struct operator_shape *s, struct transformer_operators *out)
{
    attention_add_gate(m, s, true, out);
    attention_core_backward(m, l, s, out);
}

double attention_kept_divided(const struct transformer_model *m, const struct transformer_layout *l)
{
    struct transformer_widths w = widths(m);
    double normalised = m->qk_norm ? l->element_bytes * (w.query + w.key) : 0;
    return normalised + (m->output_gate ? 2 * l->element_bytes * w.output : 0);
}

/* Narrow widths of latent attention, before and behind their normalisation. */
double attention_kept_whole(const struct transformer_model *m, const struct transformer_layout *l)
{
    return m->kv_rank ? l->element_bytes * (double)(2 * (m->query_rank + m->kv_rank) + m->rope_size) : 0;
}

void attention_add_pairs(struct transformer_operators *out, const struct operator_shape *s, const char *name,
                         const struct kind_pairs *p, bool backward, double bytes)
{
    /* Backward: scores once more, gradients of both operands of both products. */
    double width = backward ? 3 * p->key + 2 * p->value : p->key + p->value;
    operators_add(out, (struct transformer_operator){.name = name,
                                                     .matrix = true,
                                                     .flash = true,
                                                     .wide = true,
                                                     .flops = 2 * p->heads * p->pairs * s->samples * width,
                                                     .bytes = bytes});
}

const struct transformer_kind kind_attention = {
    .widths = widths,
    .parameters = attention_parameters,
    .core_flops = core_flops,
    .projections = attention_projections,
    .projections_backward = attention_projections_backward,
    .core = core,
    .core_backward = core_backward,
    .kept_divided = attention_kept_divided,
    .kept_whole = attention_kept_whole,
    .sharing = SHARING_KEYS,
    .attends = true,
};
