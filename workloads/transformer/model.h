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
    unsigned norm; /* enum transformer_norm */
    /* Experts in place of the feed-forward block, in all layers but the first `dense_layers`; experts 0: in none. */
    uint64_t experts, top_k, shared_experts, expert_ffn, dense_layers;
    uint64_t expert_groups, top_groups; /* a token's experts lie in top_groups of as many groups of them */
    bool router_bias;
    /* Latent attention (DeepSeek-V2, arXiv 2405.04434): widths that queries and that keys and values go through;
     * kv_rank 0: none. A head's queries and keys are head_size + rope_size wide, its values value_size. */
    uint64_t query_rank, kv_rank, rope_size, value_size;
    uint64_t parameters, active_parameters; /* the published counts, which the shape has to give; 0: not known */
};

extern const char *const transformer_norm_names[];

/* Fills kv_heads, head_size, ffn, top_k, expert_ffn, value_size and expert groups where they are 0: heads, hidden /
 * heads, 4 hidden, 1, ffn, head_size, one of one. */
void transformer_model_complete(struct transformer_model *model);

/* Whether a layer has experts. */
bool transformer_has_experts(const struct transformer_model *model, uint64_t layer);
/* Of the first `layers` layers, those that do. */
uint64_t transformer_expert_layers(const struct transformer_model *model, uint64_t layers);

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

/* One layer without experts; classic GPT: 24 s h^2 + 4 s^2 h. */
double transformer_layer_flops(const struct transformer_model *model);
/* One with experts: those that a token goes to and the shared ones, and the router. */
double transformer_expert_layer_flops(const struct transformer_model *model);
/* All layers. */
double transformer_layers_flops(const struct transformer_model *model);
/* Of a layer the two products of scores and values, 4 s^2 h. */
double transformer_attention_flops(const struct transformer_model *model);
/* What selective recomputation adds to a layer by the definition of hardware flop in Korthikanti et al. 2022, appendix
 * A: the products of scores and values count twice, 12 s^2 h more (computed again are only their forwards, 4 s^2 h). */
double transformer_selective_flops(const struct transformer_model *model);
/* The projection on the vocabulary, 2 s h V, and a head's transform. */
double transformer_head_flops(const struct transformer_model *model);
/* Forward and backward of the whole model: three times the forward. Classic GPT: 72 L s h^2 (1 + s/(6h) + V/(12 h L)).
 */
double transformer_flops(const struct transformer_model *model);

#endif
