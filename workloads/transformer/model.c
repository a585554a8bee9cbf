/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer/model.h"

const char *const transformer_norm_names[] = {"layer", "rms", NULL};

void transformer_model_complete(struct transformer_model *model)
{
    if (!model->kv_heads)
        model->kv_heads = model->heads;
    if (!model->head_size)
        model->head_size = model->hidden / model->heads;
    if (!model->ffn)
        model->ffn = 4 * model->hidden;
    if (!model->norms)
        model->norms = 2;
    if (!model->expert_period)
        model->expert_period = 1;
    if (!model->top_k)
        model->top_k = 1;
    if (!model->expert_ffn)
        model->expert_ffn = model->ffn;
    if (!model->value_size)
        model->value_size = model->head_size;
    if (!model->expert_groups)
        model->expert_groups = model->top_groups = 1;
    if (!model->top_groups)
        model->top_groups = model->expert_groups;
}

bool transformer_has_experts(const struct transformer_model *m, uint64_t layer)
{
    return m->experts > 0 && layer >= m->dense_layers && (layer - m->dense_layers) % m->expert_period == 0;
}

uint64_t transformer_expert_layers(const struct transformer_model *m, uint64_t layers)
{
    if (!m->experts || layers <= m->dense_layers)
        return 0;
    return (layers - m->dense_layers + m->expert_period - 1) / m->expert_period;
}

/* ---- layers that are not alike ---- */

static bool sees_all(const struct transformer_model *m, uint64_t layer)
{
    return !m->window || (m->window_period && (layer + 1) % m->window_period == 0);
}

struct transformer_model transformer_model_of_layer(const struct transformer_model *m, uint64_t layer)
{
    struct transformer_model own = *m;
    if (sees_all(m, layer))
        own.window = 0;
    return own;
}

uint64_t transformer_layers_period(const struct transformer_model *m)
{
    uint64_t windows = m->window && m->window_period ? m->window_period : 1, a = m->expert_period, b = windows;
    if (!m->experts)
        return windows;
    for (uint64_t rest; b; b = rest) {
        rest = a % b;
        a = b;
    }
    return m->expert_period / a * windows;
}

double transformer_window_share(const struct transformer_model *m)
{
    double s = (double)m->sequence, w = (double)m->window;
    return m->window && w < s ? (2 * s * w - w * w) / (s * s) : 1;
}

struct transformer_norms transformer_norms_of(const struct transformer_model *m)
{
    return (struct transformer_norms){1, m->norms != 1, m->norms > 2};
}

struct transformer_widths transformer_widths_of(const struct transformer_model *m)
{
    double heads = (double)m->heads, size = (double)m->head_size;
    if (!m->kv_rank)
        return (struct transformer_widths){heads * size, (double)m->kv_heads * size, (double)m->kv_heads * size,
                                           heads * size};
    double query = heads * (size + (double)m->rope_size), value = heads * (double)m->value_size;
    return (struct transformer_widths){query, query, value, value};
}

static double norm(const struct transformer_model *m, double width)
{
    return (m->norm == NORM_RMS ? 1.0 : 2.0) * width;
}

/* Matrices of the linear maps of a feed-forward block of that inner width; a gated one has a third. */
static double ffn_matrices(const struct transformer_model *m, double inner)
{
    return (m->gated ? 3.0 : 2.0) * (double)m->hidden * inner;
}

/* Columns of the matrices into the block. */
static double ffn_columns(const struct transformer_model *m, double inner)
{
    return (m->gated ? 2.0 : 1.0) * inner;
}

/* ---- attention ---- */

/* Matrices that are divided by heads: into queries, keys and values, and out of the attention. */
static double divided_projections(const struct transformer_model *m)
{
    struct transformer_widths widths = transformer_widths_of(m);
    double h = (double)m->hidden;
    if (!m->kv_rank)
        return h * (widths.query + widths.key + widths.value) + widths.output * h;
    double keys = (double)(m->heads * m->head_size); /* a key's rotary part is the same for all heads */
    return (m->query_rank ? (double)m->query_rank : h) * widths.query + (double)m->kv_rank * (keys + widths.value) +
           widths.output * h;
}

/* Matrices into the narrow widths of latent attention. */
static double whole_projections(const struct transformer_model *m)
{
    return m->kv_rank ? (double)m->hidden * (double)(m->query_rank + m->kv_rank + m->rope_size) : 0;
}

double transformer_attention_divided(const struct transformer_model *m)
{
    struct transformer_widths widths = transformer_widths_of(m);
    double biases = m->biases || m->qkv_biases ? widths.query + widths.key + widths.value : 0;
    return divided_projections(m) + biases + (m->sinks ? (double)m->heads : 0);
}

double transformer_attention_whole(const struct transformer_model *m)
{
    double h = (double)m->hidden, latent = m->kv_rank ? norm(m, (double)(m->query_rank + m->kv_rank)) : 0;
    struct transformer_norms norms = transformer_norms_of(m);
    double heads = m->qk_norm ? norm(m, 2 * (double)m->head_size) : 0;
    return (norms.attention + norms.behind) * norm(m, h) + (m->biases ? h : 0) + whole_projections(m) + latent + heads;
}

/* ---- feed-forward ---- */

double transformer_ffn_divided(const struct transformer_model *m)
{
    return ffn_matrices(m, (double)m->ffn) + (m->biases ? ffn_columns(m, (double)m->ffn) : 0);
}

static double ffn_norms(const struct transformer_model *m)
{
    struct transformer_norms norms = transformer_norms_of(m);
    return (norms.ffn + norms.behind) * norm(m, (double)m->hidden);
}

double transformer_ffn_whole(const struct transformer_model *m)
{
    return ffn_norms(m) + (m->biases ? (double)m->hidden : 0);
}

double transformer_expert(const struct transformer_model *m)
{
    double inner = (double)m->expert_ffn;
    return ffn_matrices(m, inner) + (m->biases ? ffn_columns(m, inner) + (double)m->hidden : 0);
}

double transformer_shared_divided(const struct transformer_model *m)
{
    return (double)m->shared_experts * transformer_expert(m);
}

double transformer_router_whole(const struct transformer_model *m)
{
    double gate = m->shared_gate ? (double)m->hidden : 0;
    return ffn_norms(m) + gate + (double)m->experts * ((double)m->hidden + (m->router_bias ? 1 : 0));
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

double transformer_output_rest(const struct transformer_model *m)
{
    double h = (double)m->hidden, count = 0;
    count += m->final_norm ? norm(m, h) : 0;
    count += m->head_transform ? h * h + h + norm(m, h) : 0;
    count += m->head_bias ? (double)m->vocabulary : 0;
    count += m->pooler ? h * h + h : 0;
    count += m->next_sentence ? 2 * h + 2 : 0;
    return count;
}

double transformer_parameters(const struct transformer_model *m)
{
    double layers = (double)m->layers, experts = (double)transformer_expert_layers(m, m->layers);
    double attention = transformer_attention_divided(m) + transformer_attention_whole(m);
    double sum = layers * attention + (layers - experts) * (transformer_ffn_divided(m) + transformer_ffn_whole(m));
    sum += experts *
           ((double)m->experts * transformer_expert(m) + transformer_shared_divided(m) + transformer_router_whole(m));
    return sum + (m->tied ? 1 : 2) * transformer_vocabulary_matrix(m) + transformer_input_rest(m) +
           transformer_output_rest(m);
}

double transformer_active_parameters(const struct transformer_model *m)
{
    double idle = (double)m->experts - (double)m->top_k;
    return transformer_parameters(m) - (double)transformer_expert_layers(m, m->layers) * idle * transformer_expert(m);
}

/* ---- flop ---- */

double transformer_attention_flops(const struct transformer_model *m)
{
    struct transformer_widths widths = transformer_widths_of(m);
    return 2.0 * (double)m->sequence * (double)m->sequence * (widths.query + widths.output) *
           transformer_window_share(m);
}

double transformer_all_attention_flops(const struct transformer_model *m)
{
    struct transformer_model whole = *m;
    whole.window = 0;
    uint64_t all = !m->window ? m->layers : m->window_period ? m->layers / m->window_period : 0;
    return (double)all * transformer_attention_flops(&whole) +
           (double)(m->layers - all) * transformer_attention_flops(m);
}

static double attention_block_flops(const struct transformer_model *m)
{
    return 2 * (double)m->sequence * (divided_projections(m) + whole_projections(m)) + transformer_attention_flops(m);
}

double transformer_layer_flops(const struct transformer_model *m)
{
    return attention_block_flops(m) + 2 * (double)m->sequence * ffn_matrices(m, (double)m->ffn);
}

double transformer_expert_layer_flops(const struct transformer_model *m)
{
    double used = (double)(m->top_k + m->shared_experts), router = (double)m->hidden * (double)m->experts;
    return attention_block_flops(m) +
           2 * (double)m->sequence * (used * ffn_matrices(m, (double)m->expert_ffn) + router);
}

double transformer_layers_flops(const struct transformer_model *m)
{
    double experts = (double)transformer_expert_layers(m, m->layers);
    double sum =
        ((double)m->layers - experts) * transformer_layer_flops(m) + experts * transformer_expert_layer_flops(m);
    return m->window ? sum - (double)m->layers * transformer_attention_flops(m) + transformer_all_attention_flops(m)
                     : sum;
}

double transformer_head_flops(const struct transformer_model *m)
{
    double h = (double)m->hidden, s = (double)m->sequence;
    return 2 * s * transformer_vocabulary_matrix(m) + (m->head_transform ? 2 * s * h * h : 0);
}

double transformer_flops(const struct transformer_model *m)
{
    return 3 * (transformer_layers_flops(m) + transformer_head_flops(m));
}
