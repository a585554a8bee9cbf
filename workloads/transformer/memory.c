/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer/memory.h"

static double rows(const struct transformer_model *m, const struct transformer_layout *l)
{
    return l->samples * (double)m->sequence / l->context;
}

/* By what activations between blocks are divided. */
static double between(const struct transformer_layout *l)
{
    return l->sequence_parallel ? l->tensor : l->width;
}

/* Of a token: query, key, value, the projection's input; around the activation function. Divided among tensor-parallel
 * ranks. */
static double attention_divided(const struct transformer_model *m, const struct transformer_layout *l)
{
    struct transformer_widths widths = transformer_widths_of(m);
    double e = l->element_bytes, mask = m->dropout,
           scores = 0; /* softmax, and where there is dropout its mask and what is left */
    if (!l->flash && l->recompute == TRANSFORMER_KEEP)
        scores = (e + mask * (e + 1)) * (double)m->heads * (double)m->sequence;
    if (l->recompute == TRANSFORMER_OPERATORS) /* queries, values, and what attention gives */
        return e * (widths.output + widths.query + widths.value);
    double normalised = m->qk_norm ? e * (widths.query + widths.key) : 0;
    return e * (widths.query + widths.output + widths.key + widths.value) + normalised + scores;
}

static double ffn_divided(const struct transformer_model *m, const struct transformer_layout *l, double inner)
{
    if (l->recompute == TRANSFORMER_OPERATORS) /* one of the first products, see operators.c */
        return l->element_bytes * inner;
    return (m->gated ? 3 : 2) * l->element_bytes * inner;
}

/* Inputs of the normalisations (two, or as many as there are) and of the two blocks, which may be one; a mask after
 * each block. */
static double between_blocks(const struct transformer_model *m, const struct transformer_layout *l)
{
    struct transformer_norms norms = transformer_norms_of(m);
    if (l->recompute == TRANSFORMER_OPERATORS) /* the layer's input, and the second matrix's product */
        return 2 * l->element_bytes * (double)m->hidden / between(l);
    double inputs = 2 + 2 * norms.ffn + 2 * norms.behind;
    return (inputs * l->element_bytes + 2.0 * m->dropout) * (double)m->hidden / between(l);
}

/* All that full recomputation keeps of a layer. */
static double layer_input(const struct transformer_model *m, const struct transformer_layout *l)
{
    return l->element_bytes * rows(m, l) * (double)m->hidden / between(l);
}

/* Narrow widths of latent attention, before and behind their normalisation. */
static double latent_whole(const struct transformer_model *m, const struct transformer_layout *l)
{
    return m->kv_rank ? l->element_bytes * (double)(2 * (m->query_rank + m->kv_rank) + m->rope_size) : 0;
}

double transformer_layer_activation(const struct transformer_model *m, const struct transformer_layout *l)
{
    double n = rows(m, l), divided = attention_divided(m, l) + ffn_divided(m, l, (double)m->ffn);
    if (l->recompute == TRANSFORMER_FULL)
        return layer_input(m, l);
    return n * (between_blocks(m, l) + latent_whole(m, l) + divided / l->tensor);
}

double transformer_expert_layer_activation(const struct transformer_model *m, const struct transformer_layout *l)
{
    double n = rows(m, l), e = l->element_bytes, h = (double)m->hidden, inner = (double)m->expert_ffn;
    if (l->recompute == TRANSFORMER_FULL)
        return layer_input(m, l);
    double divided = attention_divided(m, l) + ffn_divided(m, l, (double)m->shared_experts * inner);
    double routed = (double)m->top_k * l->padding * (e * h + ffn_divided(m, l, inner) / l->expert_tensor) *
                    l->expert_tensor / l->tensor; /* input of the experts, and within */
    double own =
        (4 * (double)m->experts + e * (double)m->top_k * h) / between(l); /* the router's scores, what is summed */
    return n * (between_blocks(m, l) + latent_whole(m, l) + divided / l->tensor + routed + own);
}

double transformer_input_activation(const struct transformer_model *m, const struct transformer_layout *l)
{
    return m->dropout ? rows(m, l) * (double)m->hidden / between(l) : 0;
}

double transformer_output_activation(const struct transformer_model *m, const struct transformer_layout *l)
{
    double inputs = (m->final_norm ? 2 : 1) * l->element_bytes * (double)m->hidden / between(l);
    return rows(m, l) * (inputs + 4 * (double)m->vocabulary / l->tensor);
}

double transformer_logits_buffer(const struct transformer_model *m, const struct transformer_layout *l,
                                 double logits_bytes)
{
    return rows(m, l) * (logits_bytes - 4) * (double)m->vocabulary / l->tensor;
}

struct transformer_state transformer_state_of(enum transformer_optimizer optimizer, double element_bytes,
                                              double gradient_bytes)
{
    double moments = optimizer == OPTIMIZER_ADAM ? 8 : optimizer == OPTIMIZER_MOMENTUM ? 4 : 0;
    double master = element_bytes < 4 ? 4 : 0; /* a copy in fp32 of weights in 16 bits */
    return (struct transformer_state){
        .weight = element_bytes,
        .gradient = gradient_bytes,
        .optimizer = master + moments,
        /* Reads the gradient, reads and writes the state, writes (in fp32 also reads) the weight. */
        .update = gradient_bytes + 2 * (master + moments) + element_bytes * (master > 0 ? 1 : 2)};
}
