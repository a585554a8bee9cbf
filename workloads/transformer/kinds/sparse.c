/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse attention: an indexer scores all keys before a token, and the attention meets the best of them.
 * DeepSeek-V3.2's (DeepSeek-AI 2025, with latent attention, whose narrow keys and values all heads share), GLM's layers
 * that use the choice of the layer before, and MiniMax M3's, which picks blocks of keys of grouped heads. Flop are
 * counted of the pairs that are met. */
#include "workloads/transformer/kinds/kinds.h"

#include <math.h>

static double picked(const struct transformer_model *m)
{
    double block = m->index_block ? (double)m->index_block : 1;
    return transformer_met_pairs(m, block * (double)m->index_top);
}

/* ---- the indexer: its heads' queries, one key, a weight of each head ---- */

struct indexer {
    double from;    /* columns that queries come from */
    double queries; /* of all its heads */
    double key, weights;
};

static struct indexer indexer_of(const struct transformer_model *m)
{
    double heads = (double)m->index_heads, size = (double)m->index_size;
    bool blocks = m->mixer == MIXER_BLOCK_SPARSE;
    double from = blocks || !m->query_rank ? (double)m->hidden : (double)m->query_rank;
    return (struct indexer){from, heads * size, size, blocks ? 0 : heads};
}

static double indexer_matrices(const struct transformer_model *m)
{
    struct indexer i = indexer_of(m);
    return i.from * i.queries + (double)m->hidden * (i.key + i.weights);
}

/* All pairs of a causal mask: products, and the sum over heads. */
static double indexer_scores(const struct transformer_model *m)
{
    struct indexer i = indexer_of(m);
    return 2 * transformer_met_pairs(m, INFINITY) * (i.queries + i.weights);
}

static void add_indexer(const struct transformer_model *m, const struct transformer_layout *l,
                        const struct operator_shape *s, struct transformer_operators *out)
{
    struct indexer i = indexer_of(m);
    operators_add_matrix(out, s, "index queries", i.from, i.queries);
    operators_add_matrix(out, s, "index keys", s->h, i.key + i.weights);
    operators_add(out, (struct transformer_operator){.name = "index scores",
                                                     .matrix = true,
                                                     .flash = true,
                                                     .flops = indexer_scores(m) * s->samples / l->context,
                                                     .bytes = s->element * (s->rows * i.queries + s->keys * i.key)});
    operators_add_vector(out, "index choice", 4 * s->rows * transformer_met_pairs(m, INFINITY) / (double)m->sequence);
}

/* Trained by the attention's own scores, which its gradients do not reach: weights' gradients alone, those of the
 * scores, and the scores that it learns (Megatron-Bridge, training/utils/flop_utils.py @ 067f987d). */
static double teacher(const struct transformer_model *m, double width)
{
    return 2 * picked(m) * (double)m->heads * width;
}

static void add_indexer_backward(const struct transformer_model *m, const struct transformer_layout *l,
                                 const struct operator_shape *s, double width, struct transformer_operators *out)
{
    struct indexer i = indexer_of(m);
    if (!m->index_trained)
        return;
    double share = s->samples / l->context;
    operators_add(
        out, (struct transformer_operator){.name = "index scores",
                                           .matrix = true,
                                           .flash = true,
                                           .wide = true,
                                           .flops = (2 * indexer_scores(m) + teacher(m, width) / l->tensor) * share,
                                           .bytes = 2 * s->element * s->rows * (i.queries + i.key)});
    operators_add_matrix(out, s, "index queries", i.from, i.queries);
    out->items[out->count - 1].weight = true;
    operators_add_matrix(out, s, "index keys", s->h, i.key + i.weights);
    out->items[out->count - 1].weight = true;
}

/* ---- DeepSeek's ---- */

static double narrow(const struct transformer_model *m)
{
    return (double)(m->kv_rank + m->rope_size);
}

static double latent_core_flops(const struct transformer_model *m)
{
    return 2 * picked(m) * (double)m->heads * (narrow(m) + (double)m->kv_rank);
}

static double latent_scores(const struct transformer_model *m)
{
    return 2 * picked(m) * (double)m->heads * narrow(m);
}

static double sparse_core_flops(const struct transformer_model *m)
{
    return latent_core_flops(m) + 2 * (double)m->sequence * indexer_matrices(m) + indexer_scores(m);
}

static double spared(const struct transformer_model *m, double width)
{
    double matrices = 2 * (double)m->sequence * indexer_matrices(m);
    return m->index_trained ? matrices - teacher(m, width) : 2 * (matrices + indexer_scores(m));
}

static double sparse_spared(const struct transformer_model *m)
{
    return spared(m, narrow(m));
}

static struct kind_parameters with_indexer(const struct transformer_model *m)
{
    struct kind_parameters out = attention_parameters(m);
    out.rest += indexer_matrices(m) + 2 * (double)m->index_size;
    return out;
}

static void add_latent_core(const struct transformer_model *m, const struct transformer_layout *l,
                            const struct operator_shape *s, bool backward, struct transformer_operators *out)
{
    double heads = (double)m->heads / l->tensor, passes = backward ? 2 : 1;
    struct kind_pairs pairs = {heads, picked(m) / l->context, narrow(m), (double)m->kv_rank};
    double bytes = passes * s->element * s->rows * (heads * (narrow(m) + (double)m->kv_rank)) +
                   passes * s->element * s->keys * narrow(m);
    attention_add_pairs(out, s, "sparse attention", &pairs, backward, bytes);
}

static void sparse_core(const struct transformer_model *m, const struct transformer_layout *l,
                        const struct operator_shape *s, struct transformer_operators *out)
{
    if (m->mixer == MIXER_SPARSE)
        add_indexer(m, l, s, out);
    add_latent_core(m, l, s, false, out);
    attention_add_gate(m, s, false, out);
}

static void sparse_core_backward(const struct transformer_model *m, const struct transformer_layout *l,
                                 const struct operator_shape *s, struct transformer_operators *out)
{
    attention_add_gate(m, s, true, out);
    add_latent_core(m, l, s, true, out);
    if (m->mixer == MIXER_SPARSE)
        add_indexer_backward(m, l, s, narrow(m), out);
}

static struct transformer_widths attention_widths(const struct transformer_model *m)
{
    return kind_attention.widths(m);
}

/* Ranks that share a sequence gather the narrow keys (megatron/core/transformer/experimental_attention_variant/dsa.py),
 * the same on all tensor ranks, and the indexer's. */
static double narrow_columns(const struct transformer_model *m, const struct transformer_layout *l)
{
    (void)l;
    return narrow(m) + (m->mixer == MIXER_SPARSE ? (double)m->index_size : 0);
}

const struct transformer_kind kind_sparse = {
    .widths = attention_widths,
    .parameters = with_indexer,
    .core_flops = sparse_core_flops,
    .spared_flops = sparse_spared,
    .scores_flops = latent_scores,
    .projections = attention_projections,
    .projections_backward = attention_projections_backward,
    .core = sparse_core,
    .core_backward = sparse_core_backward,
    .kept_divided = attention_kept_divided,
    .kept_whole = attention_kept_whole,
    .sharing = SHARING_KEYS,
    .shared_columns = narrow_columns,
    .attends = true,
};

const struct transformer_kind kind_sparse_shared = {
    .widths = attention_widths,
    .parameters = attention_parameters,
    .core_flops = latent_core_flops,
    .scores_flops = latent_scores,
    .projections = attention_projections,
    .projections_backward = attention_projections_backward,
    .core = sparse_core,
    .core_backward = sparse_core_backward,
    .kept_divided = attention_kept_divided,
    .kept_whole = attention_kept_whole,
    .sharing = SHARING_KEYS,
    .shared_columns = narrow_columns,
    .attends = true,
};

/* ---- MiniMax's: one choice for all query heads of a group ---- */

static double block_core_flops(const struct transformer_model *m)
{
    struct transformer_widths w = kind_attention.widths(m);
    return 2 * picked(m) * (w.query + w.output) + 2 * (double)m->sequence * indexer_matrices(m) + indexer_scores(m);
}

static double block_scores(const struct transformer_model *m)
{
    return 2 * picked(m) * kind_attention.widths(m).query;
}

static double block_spared(const struct transformer_model *m)
{
    return spared(m, (double)m->head_size);
}

static void add_block_core(const struct transformer_model *m, const struct transformer_layout *l,
                           const struct operator_shape *s, bool backward, struct transformer_operators *out)
{
    double passes = backward ? 2 : 1;
    struct kind_pairs pairs = {(double)m->heads / l->tensor, picked(m) / l->context, (double)m->head_size,
                               (double)m->value_size};
    double bytes = passes * s->element * (s->rows * (s->query + s->output) + s->keys * s->key_value);
    attention_add_pairs(out, s, "block-sparse attention", &pairs, backward, bytes);
}

static void block_core(const struct transformer_model *m, const struct transformer_layout *l,
                       const struct operator_shape *s, struct transformer_operators *out)
{
    add_indexer(m, l, s, out);
    add_block_core(m, l, s, false, out);
    attention_add_gate(m, s, false, out);
}

static void block_core_backward(const struct transformer_model *m, const struct transformer_layout *l,
                                const struct operator_shape *s, struct transformer_operators *out)
{
    attention_add_gate(m, s, true, out);
    add_block_core(m, l, s, true, out);
    add_indexer_backward(m, l, s, (double)m->head_size, out);
}

const struct transformer_kind kind_block_sparse = {
    .widths = attention_widths,
    .parameters = with_indexer,
    .core_flops = block_core_flops,
    .spared_flops = block_spared,
    .scores_flops = block_scores,
    .projections = attention_projections,
    .projections_backward = attention_projections_backward,
    .core = block_core,
    .core_backward = block_core_backward,
    .kept_divided = attention_kept_divided,
    .sharing = SHARING_KEYS,
    .attends = true,
};
