/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer/kinds/memory.h"

#include "workloads/transformer/kinds/kinds.h"

static double rows(const struct transformer_model *m, const struct transformer_layout *l)
{
    return l->samples * (double)m->sequence / l->context;
}

/* By what activations between blocks are divided. */
static double between(const struct transformer_layout *l)
{
    return l->sequence_parallel ? l->tensor : l->width;
}

/* Attention that is not one operator stores its scores; sparse kinds have no other. */
static bool stores_scores(const struct transformer_model *m)
{
    return m->mixer == MIXER_ATTENTION || m->mixer == MIXER_LOCAL;
}

/* Of a token: query, key, value, the projection's input; around the activation function. Divided among tensor-parallel
 * ranks. */
static double attention_divided(const struct transformer_model *m, const struct transformer_layout *l)
{
    const struct transformer_kind *kind = transformer_kind_of(m);
    struct transformer_widths widths = transformer_widths_of(m);
    double e = l->element_bytes, mask = m->dropout,
           scores = 0; /* softmax, and where there is dropout its mask and what is left */
    if (!l->flash && l->recompute == TRANSFORMER_KEEP && stores_scores(m))
        scores = (e + mask * (e + 1)) * (double)m->heads * (double)m->sequence;
    if (l->recompute == TRANSFORMER_OPERATORS) /* queries, values, and what attention gives */
        return e * (widths.output + widths.query + widths.value);
    double more = kind->kept_divided ? kind->kept_divided(m, l) : 0;
    return e * (widths.query + widths.output + widths.key + widths.value) + more + scores;
}

static double ffn_divided(const struct transformer_model *m, const struct transformer_layout *l, double inner)
{
    if (l->recompute == TRANSFORMER_OPERATORS) /* one of the first products, see operators.c */
        return l->element_bytes * inner;
    return (m->gated ? 3 : 2) * l->element_bytes * inner;
}

/* Elements of a token that residual streams keep beside what one stream does: each block's streams; a share of what
 * every so-many-th layer leaves, in fp32. */
static double streams_kept(const struct transformer_model *m, double blocks)
{
    double streams = m->streams > 1 ? blocks * (double)(m->streams * m->hidden) : 0;
    return streams + (m->residual_blocks ? 2 * (double)m->hidden / (double)m->residual_blocks : 0);
}

/* A layer of one block alone: its normalisation's input, its own, and what follows a normalisation behind it. */
static double around_block(const struct transformer_model *m, const struct transformer_layout *l)
{
    double inputs = l->recompute == TRANSFORMER_OPERATORS ? 1 : 2 + transformer_norms_of(m).behind;
    double elements = inputs * (double)m->hidden + streams_kept(m, 1);
    return (l->element_bytes * elements + (double)m->dropout * (double)m->hidden) / between(l);
}

/* Inputs of the normalisations (two, or as many as there are) and of the two blocks, which may be one; a mask after
 * each block. */
static double between_both(const struct transformer_model *m, const struct transformer_layout *l)
{
    struct transformer_norms norms = transformer_norms_of(m);
    if (l->recompute == TRANSFORMER_OPERATORS) /* the layer's input, and the second matrix's product */
        return 2 * l->element_bytes * (double)m->hidden / between(l);
    double inputs = 2 + 2 * norms.ffn + 2 * norms.behind;
    return (inputs * l->element_bytes + 2.0 * m->dropout) * (double)m->hidden / between(l);
}

static double between_blocks(const struct transformer_model *m, const struct transformer_layout *l)
{
    double streams = m->streams > 1 || m->residual_blocks ? l->element_bytes * streams_kept(m, 2) / between(l) : 0;
    return between_both(m, l) + streams;
}

/* All that full recomputation keeps of a layer. */
static double layer_input(const struct transformer_model *m, const struct transformer_layout *l)
{
    double input = l->element_bytes * rows(m, l) * (double)m->hidden / between(l);
    double block = m->residual_blocks ? 2 * input / (double)m->residual_blocks : 0;
    return (m->streams > 1 ? (double)m->streams : 1) * input + block;
}

/* Of a token, the same on all tensor ranks. */
static double kept_whole(const struct transformer_model *m, const struct transformer_layout *l)
{
    const struct transformer_kind *kind = transformer_kind_of(m);
    return kind->kept_whole ? kind->kept_whole(m, l) : 0;
}

double transformer_layer_activation(const struct transformer_model *m, const struct transformer_layout *l)
{
    double n = rows(m, l), divided = attention_divided(m, l) + ffn_divided(m, l, (double)m->ffn);
    if (l->recompute == TRANSFORMER_FULL)
        return layer_input(m, l);
    return n * (between_blocks(m, l) + kept_whole(m, l) + divided / l->tensor);
}

/* Of a token: what experts on this rank compute with, and what the router and the sum keep. */
struct routed {
    double experts, own;
};

static struct routed routed_of(const struct transformer_model *m, const struct transformer_layout *l)
{
    double e = l->element_bytes, width = transformer_expert_width(m), k = (double)m->top_k;
    double routed = k * l->padding * (e * width + ffn_divided(m, l, (double)m->expert_ffn) / l->expert_tensor) *
                    l->expert_tensor / l->tensor;                       /* input of the experts, and within */
    double own = (4 * (double)m->experts + e * k * width) / between(l); /* the router's scores, what is summed */
    double narrow = transformer_narrow_experts(m) ? 2 * e * width / between(l) : 0;
    return (struct routed){routed, own + narrow};
}

double transformer_expert_layer_activation(const struct transformer_model *m, const struct transformer_layout *l)
{
    double n = rows(m, l);
    if (l->recompute == TRANSFORMER_FULL)
        return layer_input(m, l);
    double divided = attention_divided(m, l) + ffn_divided(m, l, transformer_shared_width(m));
    struct routed routed = routed_of(m, l);
    return n * (between_blocks(m, l) + kept_whole(m, l) + divided / l->tensor + routed.experts + routed.own);
}

/* A layer of one block alone. */
static double block_activation(const struct transformer_model *m, const struct transformer_layout *l)
{
    struct routed routed = {0, 0};
    double divided = 0, whole = 0;
    if (m->feed == FEED_NONE) {
        divided = attention_divided(m, l);
        whole = kept_whole(m, l);
    } else if (m->feed == FEED_EXPERTS) {
        divided = ffn_divided(m, l, transformer_shared_width(m));
        routed = routed_of(m, l);
    } else {
        divided = ffn_divided(m, l, (double)m->ffn);
    }
    return rows(m, l) * (around_block(m, l) + whole + divided / l->tensor + routed.experts + routed.own);
}

double transformer_own_layer_activation(const struct transformer_model *own, const struct transformer_layout *l)
{
    if (own->mixer == MIXER_NONE && own->feed == FEED_NONE)
        return 0;
    if (own->mixer == MIXER_NONE || own->feed == FEED_NONE)
        return l->recompute == TRANSFORMER_FULL ? layer_input(own, l) : block_activation(own, l);
    return own->feed == FEED_EXPERTS ? transformer_expert_layer_activation(own, l)
                                     : transformer_layer_activation(own, l);
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
    double moments = optimizer == OPTIMIZER_ADAM ? 8 : optimizer == OPTIMIZER_SGD ? 0 : 4;
    double master = element_bytes < 4 ? 4 : 0; /* a copy in fp32 of weights in 16 bits */
    return (struct transformer_state){
        .weight = element_bytes,
        .gradient = gradient_bytes,
        .optimizer = master + moments,
        .products = optimizer == OPTIMIZER_MUON ? 5 : 0,
        .further = optimizer == OPTIMIZER_MUON ? 4 : 0,
        /* Reads the gradient, reads and writes the state, writes (in fp32 also reads) the weight. */
        .update = gradient_bytes + 2 * (master + moments) + element_bytes * (master > 0 ? 1 : 2)};
}
