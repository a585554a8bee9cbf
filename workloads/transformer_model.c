/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer_model.h"

const char *const transformer_norm_names[] = {"layer", "rms", NULL};

void transformer_model_complete(struct transformer_model *model)
{
    if (!model->kv_heads)
        model->kv_heads = model->heads;
    if (!model->head_size)
        model->head_size = model->hidden / model->heads;
    if (!model->ffn)
        model->ffn = 4 * model->hidden;
}

static double norm(const struct transformer_model *m)
{
    return (m->norm == NORM_RMS ? 1.0 : 2.0) * (double)m->hidden;
}

/* Columns of the query projection, and of those of key and value together. */
static double query_width(const struct transformer_model *m)
{
    return (double)m->heads * (double)m->head_size;
}

static double key_value_width(const struct transformer_model *m)
{
    return 2.0 * (double)m->kv_heads * (double)m->head_size;
}

/* Matrices of the two linear maps of the feed-forward block; a gated one has a third. */
static double ffn_matrices(const struct transformer_model *m)
{
    return (m->gated ? 3.0 : 2.0) * (double)m->hidden * (double)m->ffn;
}

double transformer_layer_divided(const struct transformer_model *m)
{
    double h = (double)m->hidden, columns = query_width(m) + key_value_width(m);
    double biases = m->biases ? columns + (m->gated ? 2.0 : 1.0) * (double)m->ffn : 0;
    return h * columns + query_width(m) * h + ffn_matrices(m) + biases;
}

double transformer_layer_whole(const struct transformer_model *m)
{
    return 2 * norm(m) + (m->biases ? 2.0 * (double)m->hidden : 0);
}

double transformer_vocabulary_matrix(const struct transformer_model *m)
{
    return (double)m->vocabulary * (double)m->hidden;
}

double transformer_input_rest(const struct transformer_model *m)
{
    return (double)(m->positions + m->token_types) * (double)m->hidden + (m->embedding_norm ? norm(m) : 0);
}

double transformer_output_rest(const struct transformer_model *m)
{
    double h = (double)m->hidden, count = 0;
    count += m->final_norm ? norm(m) : 0;
    count += m->head_transform ? h * h + h + norm(m) : 0;
    count += m->head_bias ? (double)m->vocabulary : 0;
    count += m->pooler ? h * h + h : 0;
    count += m->next_sentence ? 2 * h + 2 : 0;
    return count;
}

double transformer_parameters(const struct transformer_model *m)
{
    double layer = transformer_layer_divided(m) + transformer_layer_whole(m);
    return (double)m->layers * layer + (m->tied ? 1 : 2) * transformer_vocabulary_matrix(m) + transformer_input_rest(m) +
           transformer_output_rest(m);
}

double transformer_attention_flops(const struct transformer_model *m)
{
    return 4.0 * (double)m->sequence * (double)m->sequence * query_width(m);
}

double transformer_selective_flops(const struct transformer_model *m)
{
    return 3 * transformer_attention_flops(m);
}

double transformer_layer_flops(const struct transformer_model *m)
{
    double h = (double)m->hidden, s = (double)m->sequence;
    double projections = h * (query_width(m) + key_value_width(m)) + query_width(m) * h;
    return 2 * s * (projections + ffn_matrices(m)) + transformer_attention_flops(m);
}

double transformer_head_flops(const struct transformer_model *m)
{
    double h = (double)m->hidden, s = (double)m->sequence;
    return 2 * s * transformer_vocabulary_matrix(m) + (m->head_transform ? 2 * s * h * h : 0);
}

double transformer_flops(const struct transformer_model *m)
{
    return 3 * ((double)m->layers * transformer_layer_flops(m) + transformer_head_flops(m));
}
