/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of a model, of its layers and of its ends. */
#include "workloads/transformer/kinds/kinds.h"

static double norm(const struct transformer_model *m, double width)
{
    return (m->norm == NORM_RMS ? 1.0 : 2.0) * width;
}

/* Matrices of a feed-forward block between so many columns and its inner width; a gated one has a third. */
static double ffn_matrices(const struct transformer_model *m, double width, double inner)
{
    return (m->gated ? 3.0 : 2.0) * width * inner;
}

/* Columns of the matrices into the block. */
static double ffn_columns(const struct transformer_model *m, double inner)
{
    return (m->gated ? 2.0 : 1.0) * inner;
}

/* Where residual streams are mixed, or attention chooses among what layers left: of one block. */
static double site(const struct transformer_model *m)
{
    double streams = (double)m->streams, h = (double)m->hidden, weights = (2 + streams) * streams;
    return (m->streams > 1 ? weights * streams * h + weights + 3 : 0) + (m->residual_blocks ? 2 * h : 0);
}

/* ---- what mixes tokens ---- */

double transformer_attention_divided(const struct transformer_model *m)
{
    struct kind_parameters p = transformer_kind_of(m)->parameters(m);
    return p.into + p.out + p.divided;
}

double transformer_attention_whole(const struct transformer_model *m)
{
    struct kind_parameters p = transformer_kind_of(m)->parameters(m);
    struct transformer_norms norms = transformer_norms_of(m);
    if (m->mixer == MIXER_NONE)
        return 0;
    return (norms.attention + norms.behind) * norm(m, (double)m->hidden) + p.whole + p.rest + site(m);
}

/* ---- feed-forward ---- */

double transformer_ffn_divided(const struct transformer_model *m)
{
    double h = (double)m->hidden, inner = (double)m->ffn;
    return ffn_matrices(m, h, inner) + (m->biases ? ffn_columns(m, inner) : 0);
}

static double ffn_norms(const struct transformer_model *m)
{
    struct transformer_norms norms = transformer_norms_of(m);
    return (norms.ffn + norms.behind) * norm(m, (double)m->hidden) + site(m);
}

double transformer_ffn_whole(const struct transformer_model *m)
{
    return ffn_norms(m) + (m->biases ? (double)m->hidden : 0) + (double)m->activation_parameters;
}

double transformer_expert(const struct transformer_model *m)
{
    double inner = (double)m->expert_ffn, width = transformer_expert_width(m);
    return ffn_matrices(m, width, inner) + (m->biases ? ffn_columns(m, inner) + width : 0);
}

double transformer_shared_divided(const struct transformer_model *m)
{
    double inner = transformer_shared_width(m), h = (double)m->hidden;
    double biases = m->biases ? ffn_columns(m, inner) + (double)m->shared_experts * h : 0;
    return ffn_matrices(m, h, inner) + biases;
}

double transformer_router_whole(const struct transformer_model *m)
{
    double h = (double)m->hidden, experts = (double)m->experts, width = transformer_expert_width(m);
    double gate = m->shared_gate ? h : 0, scales = m->router_scales ? h + experts : 0;
    double narrow = transformer_narrow_experts(m) ? 2 * h * width + (m->expert_width_norm ? norm(m, width) : 0) : 0;
    double around = m->norms == 7 ? 3 * norm(m, h) : 0;
    return ffn_norms(m) + gate + experts * (h + (m->router_bias ? 1 : 0)) + scales + narrow + around;
}

/* ---- input and output ---- */

double transformer_vocabulary_matrix(const struct transformer_model *m)
{
    return (double)m->vocabulary * (double)m->hidden;
}

double transformer_input_rest(const struct transformer_model *m)
{
    return (double)(m->positions + m->token_types) * (double)m->hidden +
           (m->embedding_norm ? norm(m, (double)m->hidden) : 0);
}

/* Weights with which an output collapses residual streams. */
static double collapse(const struct transformer_model *m)
{
    double streams = (double)m->streams;
    return m->streams > 1 ? streams * streams * (double)m->hidden + streams + 1 : 0;
}

double transformer_output_rest(const struct transformer_model *m)
{
    double h = (double)m->hidden, count = 0;
    count += m->final_norm ? norm(m, h) : 0;
    count += m->head_transform ? h * h + h + norm(m, h) : 0;
    count += m->head_bias ? (double)m->vocabulary : 0;
    count += m->pooler ? h * h + h : 0;
    count += m->next_sentence ? 2 * h + 2 : 0;
    count += collapse(m);
    count += m->residual_blocks ? 2 * h : 0;
    return count;
}

double transformer_prediction_whole(const struct transformer_model *m)
{
    double h = (double)m->hidden;
    return 2 * h * h + 3 * norm(m, h) + collapse(m);
}

/* ---- layers ---- */

static double feed_of(const struct transformer_model *own, bool active)
{
    double routed = active ? (double)own->top_k : (double)own->experts;
    switch (own->feed) {
    case FEED_DENSE:
        return transformer_ffn_divided(own) + transformer_ffn_whole(own);
    case FEED_EXPERTS:
        return routed * transformer_expert(own) + transformer_shared_divided(own) + transformer_router_whole(own);
    default:
        return 0;
    }
}

double transformer_layer_parameters(const struct transformer_model *own, bool active)
{
    return transformer_attention_divided(own) + transformer_attention_whole(own) + feed_of(own, active);
}

static double count(const struct transformer_model *m, bool active)
{
    double sum = 0;
    for (uint64_t layer = 0; layer < m->layers; layer++) {
        struct transformer_model own = transformer_model_of_layer(m, layer);
        sum += transformer_layer_parameters(&own, active);
    }
    return sum + (m->tied ? 1 : 2) * transformer_vocabulary_matrix(m) + transformer_input_rest(m) +
           transformer_output_rest(m);
}

double transformer_parameters(const struct transformer_model *m)
{
    return count(m, false);
}

double transformer_active_parameters(const struct transformer_model *m)
{
    return count(m, true);
}

double transformer_further_parameters(const struct transformer_model *m)
{
    double sum = 0;
    for (uint64_t number = 0; number < m->predictions; number++) {
        struct transformer_model own = transformer_model_of_layer(m, m->layers + number);
        sum += transformer_layer_parameters(&own, false) + transformer_prediction_whole(m);
    }
    return sum;
}
