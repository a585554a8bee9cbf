/* SPDX-License-Identifier: Apache-2.0 */
/* Shape and parameter counts of a transformer: the section `model`, documented in doc/model.md. */
#ifndef STAGESIM_TRANSFORMER_MODEL_H
#define STAGESIM_TRANSFORMER_MODEL_H

#include "abi/workload.h"

enum transformer_norm { NORM_LAYER, NORM_RMS }; /* 2 h parameters (weight and bias), h parameters (weight) */

/* As the scenario gives it; transformer_model_complete fills what may be left out. */
struct transformer_model {
    uint64_t layers, hidden, heads, kv_heads, head_size, ffn;
    uint64_t sequence, vocabulary, positions, token_types;
    bool gated, tied, biases, causal, dropout;
    bool embedding_norm, final_norm, pooler, head_transform, head_bias, next_sentence;
    bool qkv_biases; /* of the matrices of queries, keys and values alone (Qwen 2) */
    bool qk_norm;    /* a normalisation of each head's queries and one of its keys (Qwen 3, Gemma 3) */
    bool sinks;      /* a learned score for each head beside those of the keys (gpt-oss) */
    uint64_t norms;  /* normalisations of a layer: 1 (both blocks have the same input), 2, 4 (also behind each block) */
    /* Tokens that a token of a causal model sees; 0: all before it. Every window_period-th layer sees all; 0: none. */
    uint64_t window, window_period;
    unsigned norm; /* enum transformer_norm */
    /* Experts in place of the feed-forward block: in layer `dense_layers` (from 0) and in every expert_period-th behind
     * it; experts 0: in none. */
    uint64_t experts, top_k, shared_experts, expert_ffn, dense_layers, expert_period;
    bool shared_gate;                   /* shared experts are weighted by a gate of h parameters (Qwen 2) */
    uint64_t expert_groups, top_groups; /* a token's experts lie in top_groups of as many groups of them */
    bool router_bias;
    /* Latent attention (DeepSeek-V2, arXiv 2405.04434): widths that queries and that keys and values go through;
     * kv_rank 0: none. A head's queries and keys are head_size + rope_size wide, its values value_size. */
    uint64_t query_rank, kv_rank, rope_size, value_size;
    uint64_t parameters, active_parameters; /* the published counts, which the shape has to give; 0: not known */
};

extern const char *const transformer_norm_names[];

/* Fills kv_heads, head_size, ffn, norms, top_k, expert_ffn, expert_period, value_size and expert groups where they are
 * 0: heads, hidden / heads, 4 hidden, 2, 1, ffn, 1, head_size, one of one. */
void transformer_model_complete(struct transformer_model *model);

/* Whether a layer has experts. */
bool transformer_has_experts(const struct transformer_model *model, uint64_t layer);
/* Of the first `layers` layers, those that do. */
uint64_t transformer_expert_layers(const struct transformer_model *model, uint64_t layers);

/* The model as a layer sees it: without a window where the layer sees all tokens. */
struct transformer_model transformer_model_of_layer(const struct transformer_model *model, uint64_t layer);
/* After so many layers the kinds of layers behind the first `dense_layers` come again. */
uint64_t transformer_layers_period(const struct transformer_model *model);
/* Of the pairs of a token and one before it that a causal mask leaves, the share that lies in the window; 1: no window.
 */
double transformer_window_share(const struct transformer_model *model);
/* Bytes of memory and work of the normalisations: how many stand before and behind each of the two blocks. */
struct transformer_norms {
    double attention, ffn, behind; /* before each of the blocks, and behind each */
};
struct transformer_norms transformer_norms_of(const struct transformer_model *model);

/* Columns of all heads' queries, keys and values, as the attention uses them. */
struct transformer_widths {
    double query, key, value;
    double output; /* of what the attention gives: as wide as a value for each query head */
};
struct transformer_widths transformer_widths_of(const struct transformer_model *model);

/* ---- parameters, all of a part, before any of it is divided among ranks ---- */

/* Of one layer's attention and of its feed-forward block, normalisations included: the matrices (and biases of their
 * columns), which tensor parallelism divides, and the rest, which it does not (with latent attention also the matrices
 * into the narrow widths). */
double transformer_attention_divided(const struct transformer_model *model);
double transformer_attention_whole(const struct transformer_model *model);
double transformer_ffn_divided(const struct transformer_model *model);
double transformer_ffn_whole(const struct transformer_model *model);
/* Of a layer with experts in place of the latter: one routed expert, and what every rank has: the shared ones
 * (divided), normalisation and router (not divided). */
double transformer_expert(const struct transformer_model *model);
double transformer_shared_divided(const struct transformer_model *model);
double transformer_router_whole(const struct transformer_model *model);
/* Of the token embedding's matrix alone (V h). */
double transformer_vocabulary_matrix(const struct transformer_model *model);
/* Of the input beside that matrix: positions, token types, normalisation. */
double transformer_input_rest(const struct transformer_model *model);
/* Of the output beside the vocabulary matrix: final normalisation, transform, bias, pooler, next-sentence head. */
double transformer_output_rest(const struct transformer_model *model);
/* Of the whole model; a tied vocabulary matrix counts once. Classic GPT: 12 L h^2 (1 + 13/(12 h) + (V + s)/(12 L h))
 * and the final normalisation's 2 h (Narayanan et al. 2021, equation 2, which leaves the latter out). */
double transformer_parameters(const struct transformer_model *model);
/* Of them those that a token meets: of the routed experts top_k. */
double transformer_active_parameters(const struct transformer_model *model);

/* ---- flop of the matrix products of one sample's forward, a multiply-add being 2 ---- */

/* One layer without experts, with its window where the model has one; classic GPT: 24 s h^2 + 4 s^2 h. */
double transformer_layer_flops(const struct transformer_model *model);
/* One with experts: those that a token goes to and the shared ones, and the router. */
double transformer_expert_layer_flops(const struct transformer_model *model);
/* All layers. */
double transformer_layers_flops(const struct transformer_model *model);
/* Of a layer the two products of scores and values, 4 s^2 h; with a window the share of it that the window leaves. */
double transformer_attention_flops(const struct transformer_model *model);
/* Of all layers, each with or without its window. */
double transformer_all_attention_flops(const struct transformer_model *model);
/* The projection on the vocabulary, 2 s h V, and a head's transform. */
double transformer_head_flops(const struct transformer_model *model);
/* Forward and backward of the whole model: three times the forward. Classic GPT: 72 L s h^2 (1 + s/(6h) + V/(12 h L)).
 */
double transformer_flops(const struct transformer_model *model);

#endif
