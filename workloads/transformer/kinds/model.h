/* SPDX-License-Identifier: Apache-2.0 */
/* Shape and parameter counts of a transformer: the section `model`, documented in doc/model.md. */
#ifndef STAGESIM_TRANSFORMER_MODEL_H
#define STAGESIM_TRANSFORMER_MODEL_H

#include "abi/workload.h"

struct fields_distribution;

enum transformer_norm { NORM_LAYER, NORM_RMS }; /* 2 h parameters (weight and bias), h parameters (weight) */

/* What mixes the tokens of a layer; kinds.h has the table. */
enum transformer_mixer {
    MIXER_ATTENTION,
    MIXER_LOCAL,
    MIXER_MAMBA,
    MIXER_GATED_DELTA,
    MIXER_KIMI_DELTA,
    MIXER_LIGHTNING,
    MIXER_SHORT,
    MIXER_SPARSE,
    MIXER_SPARSE_SHARED,
    MIXER_BLOCK_SPARSE,
    MIXER_NEAR,
    MIXER_COMPRESSED,
    MIXER_HEAVILY_COMPRESSED,
    MIXER_NONE,
    TRANSFORMER_MIXERS
};

/* What follows it. */
enum transformer_feed { FEED_DENSE, FEED_EXPERTS, FEED_NONE, TRANSFORMER_FEEDS };

/* Towers before the language model: of images, and of sound. */
enum transformer_tower_kind { TOWER_IMAGES, TOWER_AUDIO, TRANSFORMER_TOWERS };

/* Layers of full attention over the positions of an item, which is an image or a clip of sound, what makes positions of
 * it, and a projector that makes tokens of them. tower.h has what follows. */
struct transformer_tower {
    enum transformer_tower_kind kind;               /* set by transformer_model_complete */
    uint64_t layers, hidden, heads, ffn, positions; /* layers 0: there is none; positions: learned ones */
    uint64_t inputs;                                /* numbers of a patch, or of a frame of sound */
    uint64_t patches;                               /* of an image */
    uint64_t merge, pool;                           /* positions that become one token together, or their mean */
    uint64_t mergers, projector; /* projectors (one, and one for each layer whose features later layers add); inner
                                    width of each, 0: one matrix */
    uint64_t vectors;            /* learned vectors of the language model's width */
    bool key_biases, projector_biases, input_biases;
    bool gated, rms;     /* as of a model: gated feed-forward blocks, normalisations without biases */
    uint64_t norms;      /* beside its layers */
    uint64_t extra;      /* learned vectors beside an image's patches, which attend with them and make no tokens */
    bool one_matrix;     /* makes tokens of positions, in place of two */
    bool projector_norm; /* normalises what that reads, without biases */
    bool frozen;
    uint64_t parameters; /* the published count; 0: not known */
    /* Of sound: frames of a second; strides of convolutions, with a kernel of so many taps; channels of convolutions
     * over frames and their numbers, 0: over frames alone; frames that they see together, 0: a clip; seconds of a clip,
     * in which positions attend to each other, and whether a shorter one is as long. */
    double rate, clip;
    struct stagesim_list strides;
    uint64_t kernel, channels, chunk;
    bool padded, padding_passed; /* the latter: the language model gets its tokens, too */
    /* Images of a sample, or seconds of sound: of each, drawn for each, or of one after the other. */
    double amount;
    const struct fields_distribution *amounts;
    struct stagesim_list listed;
    uint64_t seed;
    /* Of a sample, the mean over those of an iteration: what the tower computes, and of that what the language model
     * gets tokens of; set by transformer_model_complete. */
    double items, passed;
};

/* As the scenario gives it; transformer_model_complete fills what may be left out. */
struct transformer_model {
    /* Of the layer that transformer_model_of_layer was asked for. */
    enum transformer_mixer mixer;
    enum transformer_feed feed;
    /* Layers as a sequence of kinds: a letter for each mixer and each feed-forward block, again from the start where
     * they are fewer than the layers; or each letter of `pattern` a layer of one of both. NULL: as the other keys say.
     */
    const char *mixers, *feeds, *pattern;
    struct stagesim_list layer_kv_heads, layer_ffn; /* [layer]: 0, no such block; count 0: all the same */
    uint64_t repeated;                              /* heads of keys and values are at least so many: tensor ranks */
    /* Of layers with MIXER_LOCAL, where they differ; 0: as others. */
    uint64_t local_heads, local_kv_heads, local_head_size, local_value_size;
    bool local_sinks, chunked; /* chunked: a window is a chunk of the sequence, whose tokens see those before in it */
    bool qk_norm_free;         /* without weights (Llama 4) */
    bool qk_norm_whole;        /* normalises all heads of a token together (MiniMax M2) */
    uint64_t activation_parameters; /* learned numbers of a feed-forward block's activation */
    bool output_gate;               /* what the attention gives is weighted by a gate of as many columns */
    bool keys_are_values;           /* one matrix for both (Gemma 4) */
    /* Mamba-2 (arXiv 2405.21060): heads of a size, groups that share B and C, the state's size. */
    uint64_t mamba_heads, mamba_head_size, mamba_groups, mamba_state;
    /* Linear attention: heads of keys and of values and their sizes. */
    uint64_t linear_key_heads, linear_value_heads, linear_key_size, linear_value_size;
    bool linear_full_gate;       /* Kimi delta attention: the output's gate is one matrix, not two narrow ones */
    uint64_t convolution, chunk; /* taps of the short convolution; tokens of a chunk of the scan */
    /* Sparse attention (DeepSeek-V3.2): an indexer of so many heads picks index_top keys; with index_block as many
     * blocks of so many keys (MiniMax M3). */
    uint64_t index_heads, index_size, index_top, index_block;
    bool index_trained;
    /* Compressed attention (DeepSeek-V4): tokens of an entry, and an output through narrow groups. */
    uint64_t compression, heavy_compression, output_groups, output_rank;
    uint64_t streams;         /* residual streams (hyper-connections); 0: one */
    uint64_t residual_blocks; /* attention over what every so-many-th layer left (Kimi K3); 0: none */
    uint64_t expert_width;    /* columns of the tokens that routed experts get; 0: hidden */
    bool expert_width_norm;
    uint64_t shared_ffn;  /* inner width of all shared experts together; 0: that of as many routed ones */
    bool router_scales;   /* a scale for each column that comes in, and one for each expert (Gemma 4) */
    uint64_t hash_layers; /* first layers that a table routes for: without the router's bias */
    uint64_t predictions; /* layers behind the last that predict further tokens */
    const char *prediction_mixers, *prediction_feeds; /* of each of them; NULL: as the last layer */
    struct transformer_tower towers[TRANSFORMER_TOWERS];
    uint64_t layers, hidden, heads, kv_heads, head_size, ffn;
    uint64_t sequence, vocabulary, positions, token_types;
    /* Documents of packed sequences, each of which attends to itself alone: their lengths (pieces that lie in different
     * sequences count apart), how often each occurs (NULL: once), and in how many sequences all of them lie. count 0: a
     * sequence is one document. */
    struct stagesim_list documents;
    const double *document_counts;
    double packed;
    const struct fields_distribution *document_lengths; /* what they are drawn from; NULL: nothing */
    bool documents_whole;                               /* none is cut at the end of a sequence */
    uint64_t document_seed;
    bool gated, tied, biases, causal, dropout;
    bool embedding_norm, final_norm, pooler, head_transform, head_bias, next_sentence;
    bool qkv_biases; /* of the matrices of queries, keys and values alone (Qwen 2) */
    bool qk_norm;    /* a normalisation of each head's queries and one of its keys (Qwen 3, Gemma 3) */
    bool sinks;      /* a learned score for each head beside those of the keys (gpt-oss) */
    /* Normalisations of a layer: 1 (both blocks have the same input), 2, 4 (also behind each block), 7 (three more
     * around routed experts and what stands beside them: Gemma 4). */
    uint64_t norms;
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
    uint64_t further_parameters;            /* the published count of those of `predictions`; 0: not known */
    uint64_t parameters, active_parameters; /* the published counts, which the shape has to give; 0: not known */
};

extern const char *const transformer_norm_names[];

/* Fills kv_heads, head_size, ffn, norms, top_k, expert_ffn, expert_period, value_size and expert groups where they are
 * 0: heads, hidden / heads, 4 hidden, 2, 1, ffn, 1, head_size, one of one. */
void transformer_model_complete(struct transformer_model *model);

/* Of the first `layers` layers, those that have experts. */
uint64_t transformer_expert_layers(const struct transformer_model *model, uint64_t layers);

/* The model as a layer sees it: its mixer and what follows it, its heads, its width, without a window where it sees all
 * tokens. Layers from `layers` on are those that predict further tokens. */
struct transformer_model transformer_model_of_layer(const struct transformer_model *model, uint64_t layer);
/* After so many layers the kinds of layers behind the first `dense_layers` come again. */
uint64_t transformer_layers_period(const struct transformer_model *model);
/* Whether two layers' models, of the same model, cost the same. */
bool transformer_layers_alike(const struct transformer_model *one, const struct transformer_model *other);
/* Whether there is a tower. */
bool transformer_has_tower(const struct transformer_model *model);
/* Whether layers are a sequence of kinds: other than what the keys of attention and experts alone can say. */
bool transformer_has_kinds(const struct transformer_model *model);
/* Of the pairs of a token and one before it that a causal mask leaves, the share that lies in the window and in one
 * document, the mean over sequences; 1: neither. */
double transformer_met_share(const struct transformer_model *model);
/* Pairs of a token and one before it in its document, of at most `most` for each token; the mean over sequences. */
double transformer_met_pairs(const struct transformer_model *model, double most);
/* Tokens of equal documents that have as many pairs as those of all sequences: sum of squares over sum. */
double transformer_document_length(const struct transformer_model *model);
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
/* Columns of the tokens that routed experts get, whether that is less than `hidden` and so has matrices before and
 * behind; inner width of all shared experts together. */
double transformer_expert_width(const struct transformer_model *model);
bool transformer_narrow_experts(const struct transformer_model *model);
double transformer_shared_width(const struct transformer_model *model);
/* Of a layer by its own model, before any of it is divided; `active`: of routed experts only top_k. */
double transformer_layer_parameters(const struct transformer_model *own, bool active);
/* Of a layer that predicts a further token, what joins its two inputs (DeepSeek-V3, arXiv 2412.19437, section 2.2). */
double transformer_prediction_whole(const struct transformer_model *model);
/* Of all of them: published totals leave these out. */
double transformer_further_parameters(const struct transformer_model *model);
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
/* One by its own model. */
double transformer_own_layer_flops(const struct transformer_model *own);
/* All layers. */
double transformer_layers_flops(const struct transformer_model *model);
/* Of a layer the two products of scores and values, 4 s^2 h; with a window the share of it that the window leaves. */
double transformer_attention_flops(const struct transformer_model *model);
/* Of all layers, each with or without its window. */
double transformer_all_attention_flops(const struct transformer_model *model);
/* The projection on the vocabulary, 2 s h V, and a head's transform. */
double transformer_head_flops(const struct transformer_model *model);
/* Of these the gradients of weights, those of `predictions` apart: what a model whose weights are frozen is spared. */
double transformer_weight_flops(const struct transformer_model *model);
/* Of a sample's images, or sound, the forward through a tower, which none of the others count. */
double transformer_tower_flops(const struct transformer_model *model, enum transformer_tower_kind kind);
/* Forward and backward of the whole model: three times the forward. Classic GPT: 72 L s h^2 (1 + s/(6h) + V/(12 h L)).
 */
double transformer_flops(const struct transformer_model *model);

#endif
