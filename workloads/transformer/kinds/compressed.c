/* SPDX-License-Identifier: Apache-2.0 */
/* DeepSeek-V4's attention (DeepSeek-AI 2026; transformers' modular_deepseek_v4.py @ 02356fec): one key for all heads,
 * which is its value as well, queries through a narrow width, an output through narrow groups, a window, and beside it
 * entries that are compressed from several tokens: the best of those of few tokens, as an indexer says, or all of those
 * of many. What all heads share is the same on all tensor ranks. */
#include "workloads/transformer/kinds/kinds.h"

static double heads_width(const struct transformer_model *m)
{
    return (double)(m->heads * m->head_size);
}

static struct transformer_widths widths(const struct transformer_model *m)
{
    return (struct transformer_widths){heads_width(m), 0, 0, heads_width(m)};
}

/* Tokens of an entry; 0: there are none. */
static double ratio_of(const struct transformer_model *m)
{
    return m->mixer == MIXER_COMPRESSED           ? (double)m->compression
           : m->mixer == MIXER_HEAVILY_COMPRESSED ? (double)m->heavy_compression
                                                  : 0;
}

/* Windows of entries that an indexer picks overlap: each token is compressed twice. */
static double overlap(const struct transformer_model *m)
{
    return m->mixer == MIXER_COMPRESSED ? 2 : 1;
}

/* A matrix of values and one of their weights. */
static double compressor(const struct transformer_model *m, double width)
{
    return ratio_of(m) > 0 ? overlap(m) * 2 * (double)m->hidden * width : 0;
}

/* Weights by place, and a normalisation. */
static double compressor_rest(const struct transformer_model *m, double width)
{
    return ratio_of(m) > 0 ? overlap(m) * ratio_of(m) * width + width : 0;
}

/* ---- the indexer: a compressor of its own, queries of its heads, a weight for each ---- */

static double index_matrices(const struct transformer_model *m)
{
    double heads = (double)m->index_heads, size = (double)m->index_size;
    if (m->mixer != MIXER_COMPRESSED)
        return 0;
    return compressor(m, size) + (double)m->query_rank * heads * size + (double)m->hidden * heads;
}

static double index_scores(const struct transformer_model *m)
{
    double s = (double)m->sequence, width = (double)(m->index_heads * m->index_size);
    return m->mixer == MIXER_COMPRESSED ? 2 * s * s / (2 * ratio_of(m)) * width : 0;
}

static struct kind_parameters parameters(const struct transformer_model *m)
{
    double h = (double)m->hidden, q = (double)m->query_rank, d = (double)m->head_size;
    double narrow = (double)(m->output_groups * m->output_rank);
    struct kind_parameters out = {.into = q * heads_width(m),
                                  .whole = h * (q + d) + compressor(m, d),
                                  .out = heads_width(m) * (double)m->output_rank + narrow * h,
                                  .divided = (double)m->heads,
                                  .rest = q + d + compressor_rest(m, d)};
    out.rest += index_matrices(m);
    out.rest += m->mixer == MIXER_COMPRESSED ? compressor_rest(m, (double)m->index_size) : 0;
    return out;
}

/* ---- pairs that are met ---- */

static double near_pairs(const struct transformer_model *m)
{
    double s = (double)m->sequence, w = (double)m->window;
    return w > 0 && w < s ? s * w - w * w / 2 : s * s / 2;
}

/* Of a query and an entry before it. */
static double entry_pairs(const struct transformer_model *m)
{
    double s = (double)m->sequence, r = ratio_of(m), k = (double)m->index_top;
    if (!(r > 0))
        return 0;
    return m->mixer == MIXER_COMPRESSED && k < s / r ? s * k - r * k * k / 2 : s * s / (2 * r);
}

static double pairs_of(const struct transformer_model *m)
{
    return near_pairs(m) + entry_pairs(m);
}

static double core_flops(const struct transformer_model *m)
{
    return 2 * pairs_of(m) * 2 * heads_width(m) + 2 * (double)m->sequence * index_matrices(m) + index_scores(m);
}

static double scores_flops(const struct transformer_model *m)
{
    return 2 * pairs_of(m) * heads_width(m);
}

static double spared(const struct transformer_model *m)
{
    return 2 * (2 * (double)m->sequence * index_matrices(m) + index_scores(m));
}

/* ---- operators ---- */

static void projections(const struct transformer_model *m, const struct transformer_layout *l,
                        const struct operator_shape *s, struct transformer_operators *out)
{
    double q = (double)m->query_rank, d = (double)m->head_size;
    (void)l;
    operators_add_vector(out, "normalisation", 2 * s->element * s->hidden);
    operators_add_matrix(out, s, "query down, key", s->h, q + d);
    operators_add_vector(out, "normalisation", 2 * s->element * s->rows * (q + d));
    operators_add_matrix(out, s, "query up", q, s->query);
    operators_add_vector(out, "heads", 2 * s->element * s->rows * s->query);
    if (ratio_of(m) > 0) {
        operators_add_matrix(out, s, "compression", s->h, overlap(m) * 2 * d);
        operators_add_vector(out, "entries", s->element * s->rows * overlap(m) * 2 * d);
    }
}

static void projections_backward(const struct transformer_model *m, const struct transformer_layout *l,
                                 const struct operator_shape *s, struct transformer_operators *out)
{
    double q = (double)m->query_rank, d = (double)m->head_size;
    if (ratio_of(m) > 0) {
        operators_add_vector(out, "entries", 2 * s->element * s->rows * overlap(m) * 2 * d);
        operators_add_matrix_backward(out, l, s, "compression", s->h, overlap(m) * 2 * d);
    }
    operators_add_vector(out, "heads", 4 * s->element * s->rows * s->query);
    operators_add_matrix_backward(out, l, s, "query up", q, s->query);
    operators_add_vector(out, "normalisation", 4 * s->element * s->rows * (q + d));
    operators_add_matrix_backward(out, l, s, "query down, key", s->h, q + d);
    operators_add_vector(out, "normalisation", 4 * s->element * s->hidden);
}

static void add_indexer(const struct transformer_model *m, const struct transformer_layout *l,
                        const struct operator_shape *s, struct transformer_operators *out)
{
    double heads = (double)m->index_heads, size = (double)m->index_size;
    double entries = s->rows * (double)m->sequence / ratio_of(m);
    operators_add_matrix(out, s, "index compression", s->h, overlap(m) * 2 * size + heads);
    operators_add_matrix(out, s, "index queries", (double)m->query_rank, heads * size);
    operators_add_vector(out, "index rotation", 2 * s->element * s->rows * heads * size);
    operators_add(out, (struct transformer_operator){.name = "index scores",
                                                     .matrix = true,
                                                     .flash = true,
                                                     .flops = index_scores(m) * s->samples / l->context,
                                                     .bytes = s->element * s->rows * heads * size});
    operators_add_vector(out, "index choice", 4 * entries / 2);
}

static void add_core(const struct transformer_model *m, const struct transformer_layout *l,
                     const struct operator_shape *s, bool backward, struct transformer_operators *out)
{
    double size = (double)m->head_size, passes = backward ? 2 : 1;
    struct kind_pairs pairs = {(double)m->heads / l->tensor, pairs_of(m) / l->context, size, size};
    double bytes = passes * s->element * (2 * s->rows * s->query + s->keys * size);
    attention_add_pairs(out, s, "compressed attention", &pairs, backward, bytes);
}

static void core(const struct transformer_model *m, const struct transformer_layout *l, const struct operator_shape *s,
                 struct transformer_operators *out)
{
    if (m->mixer == MIXER_COMPRESSED)
        add_indexer(m, l, s, out);
    add_core(m, l, s, false, out);
}

static void core_backward(const struct transformer_model *m, const struct transformer_layout *l,
                          const struct operator_shape *s, struct transformer_operators *out)
{
    add_core(m, l, s, true, out);
}

/* Values are rotated as keys are, so what the heads give is rotated back. Each group of heads has a matrix to its own
 * narrow width; one matrix joins all of these. */
static void join(const struct transformer_model *m, const struct transformer_layout *l, const struct operator_shape *s,
                 struct transformer_operators *out)
{
    double rank = (double)m->output_rank, groups = (double)m->output_groups / l->tensor;
    operators_add_vector(out, "rotation back", 2 * s->element * s->rows * s->output);
    operators_add_matrix(out, s, "group projection", s->output, rank);
    operators_add_matrix(out, s, "projection", groups * rank, s->h);
}

static void join_backward(const struct transformer_model *m, const struct transformer_layout *l,
                          const struct operator_shape *s, struct transformer_operators *out)
{
    double rank = (double)m->output_rank, groups = (double)m->output_groups / l->tensor;
    operators_add_matrix_backward(out, l, s, "projection", groups * rank, s->h);
    operators_add_matrix_backward(out, l, s, "group projection", s->output, rank);
    operators_add_vector(out, "rotation back", 2 * s->element * s->rows * s->output);
}

/* What joins the groups. */
static double kept_divided(const struct transformer_model *m, const struct transformer_layout *l)
{
    return l->element_bytes * (double)(m->output_groups * m->output_rank);
}

/* The narrow queries and the key, before and behind their normalisation; what is compressed. */
static double kept_whole(const struct transformer_model *m, const struct transformer_layout *l)
{
    double d = (double)m->head_size, compressed = ratio_of(m) > 0 ? overlap(m) * 2 * d : 0;
    return l->element_bytes * (2 * ((double)m->query_rank + d) + compressed);
}

/* Of all tokens the key, or where the window is all they need of near ones its entries. */
static double shared_columns(const struct transformer_model *m, const struct transformer_layout *l)
{
    double d = (double)m->head_size, near = (double)m->window * l->context / (double)m->sequence;
    return d * ((near < 1 ? near : 1) + (ratio_of(m) > 0 ? 1 / ratio_of(m) : 0));
}

/* All three: they differ by their layer's mixer. */
const struct transformer_kind kind_compressed = {
    .widths = widths,
    .parameters = parameters,
    .core_flops = core_flops,
    .spared_flops = spared,
    .scores_flops = scores_flops,
    .projections = projections,
    .projections_backward = projections_backward,
    .core = core,
    .core_backward = core_backward,
    .join = join,
    .join_backward = join_backward,
    .kept_divided = kept_divided,
    .kept_whole = kept_whole,
    .sharing = SHARING_KEYS,
    .shared_columns = shared_columns,
    .attends = true,
};
