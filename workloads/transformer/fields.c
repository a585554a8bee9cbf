/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of the workload `transformer`, and what holds where none is given. */
#include "workloads/transformer/transformer.h"

#include "workloads/transformer/kinds/tower_fields.h"
#include "workloads/transformer/pipeline_layout.h"

#include <stddef.h>

static const char *const attentions[] = {"flash", "standard", NULL};
static const char *const granularities[] = {"stage", "layer", NULL};
static const char *const tower_places[] = {"first", "own", NULL};
static const char *const balances[] = {"even", "auto", NULL};
static const char *const optimizers[] = {"adam", "momentum", "sgd", "muon", NULL};
static const char *const parts_names[] = {"equal", "tensors", NULL};
static const char *const gradient_types[] = {"fp32", "same", "accumulated", NULL};
const char *const kernel_names[] = {"default", "transformer-engine", "measured", "auto", "auto-measured", NULL};

const struct transformer_parameters transformer_defaults = {
    .model = {.tied = true,
              .biases = true,
              .causal = true,
              .dropout = true,
              .final_norm = true,
              .towers = {{.key_biases = true, .projector_biases = true, .input_biases = true},
                         {.key_biases = true, .projector_biases = true}}},
    .precision = BF16,
    .scatter_gather = true,
    .reshard = true,
    .prefetch = 1,
    .overlap = true,
    .bucket = 25e6,
    .clock = 1,
    .dispatch = -1,
    .launch = -1,
    .step = -1,
    .cast_bytes = -1,
    .overlap_hidden = 1,
    .unfused = 1,
    .times = {1, 1, 1, 1, 1, 1},
    .optimizer_unfused = 1,
    .offload_rate = 25e9,
    .outer_period = 1,
    .outer_parts = 1,
    .outer_bytes = 4,
    .outer_momentum = true,
    .logits_bytes = 4,
    .tensor_overlap = OVERLAP_GATHER | OVERLAP_SCATTER | OVERLAP_INPUT | OVERLAP_DATA,
    .routing = {.context_balance = true, .expert_imbalance = 1, .expert_hidden = 1},
};

#define MODEL_COUNT(key, need, low, high, text)                                                                        \
    {                                                                                                                  \
        "model." #key, STAGESIM_FIELD_COUNT, offsetof(struct transformer_parameters, model.key), need, low, high,      \
            NULL, text                                                                                                 \
    }
#define MODEL_FLAG(key, text)                                                                                          \
    {                                                                                                                  \
        "model." #key, STAGESIM_FIELD_FLAG, offsetof(struct transformer_parameters, model.key), .doc = text            \
    }
#define MODEL_TEXT(key, text)                                                                                          \
    {                                                                                                                  \
        "model." #key, STAGESIM_FIELD_TEXT, offsetof(struct transformer_parameters, model.key), .doc = text            \
    }
#define WORD(key, field, words, text)                                                                                  \
    {                                                                                                                  \
        key, STAGESIM_FIELD_NAME, offsetof(struct transformer_parameters, field), .names = words, .doc = text          \
    }
#define RATIO(key, field, low, high, text)                                                                             \
    {                                                                                                                  \
        key, STAGESIM_FIELD_RATIO, offsetof(struct transformer_parameters, field), false, low, high, NULL, text        \
    }
#define FLAG(key, field, text)                                                                                         \
    {                                                                                                                  \
        key, STAGESIM_FIELD_FLAG, offsetof(struct transformer_parameters, field), .doc = text                          \
    }

const struct stagesim_field transformer_fields[] = {
    WORD("attention", attention, attentions,
         "flash: attention that stores no scores; standard: attention that stores them; default flash"),
    WORD("granularity", granularity, granularities,
         "stage: a forward or backward of a stage is one operation; layer: each block of a layer and each of its "
         "collectives is one; default stage"),
    {"layers_per_stage", STAGESIM_FIELD_COUNTS, offsetof(struct transformer_parameters, layers_per_stage), false, 0,
     10000, NULL, "number of layers of each stage, the first stage first; their sum is the model's number of layers"},
    {"pipeline_layout", STAGESIM_FIELD_TEXT, offsetof(struct transformer_parameters, pipeline_layout),
     .doc = "layers of each stage in the form of Megatron-LM's --pipeline-model-parallel-layout, such as Et|(tt|)*6tL"},
    WORD("balance", balance, balances,
         "even: every stage has the same number of layers; auto: layers are divided so that the busiest stage takes as "
         "little time as possible; default even"),
    FLAG("sequence_parallel", sequence_parallel,
         "whether normalisations and residuals are divided along the axis tensor, too; default false"),
    FLAG("stage_outputs", stage_outputs,
         "whether a stage keeps its outputs until their backward, as DeepSpeed's pipelines do; default false"),
    FLAG("scatter_gather", scatter_gather,
         "whether each tensor-parallel rank sends only its part of a message between stages, and the receivers gather "
         "the parts; default true"),
    FLAG("tensor_overlap", product_overlap,
         "with megatron-1d and sequence_parallel: whether what a linear layer gathers and scatters moves while its "
         "products run; default false"),
    RATIO("tensor_overlap_hidden", overlap_hidden, 0, 1,
          "with tensor_overlap: share of the gathered and scattered bytes that move while products run; the others "
          "move after them; default 1"),
    FLAG("tensor_copies", tensor_copies,
         "with sequence_parallel: whether gathered and scattered tensors are copied once more, because the sequence is "
         "not their outermost dimension; default false"),
    WORD("tensor_gathers", tensor_gathers, dispatch_precision_names,
         "with sequence_parallel: precision of gathered tensors: same, that of the computation, or fp8; default same"),
    FLAG("recompute_stops_early", recompute_stops_early,
         "with recompute: full, whether a layer is computed again only up to what its backward needs: the last product "
         "of a feed-forward block is not (PyTorch's non-reentrant checkpoints), unless a normalisation, dropout or "
         "several streams follow it; default false"),
    FLAG("shard_copies", shard_copies,
         "with zero: 3: whether gathered weights are copied out of the gathered buffer, and gradients into the buffer "
         "that is scattered; default false"),
    RATIO("optimizer_unfused", optimizer_unfused, 1, 100,
          "bytes that the optimizer's step moves, over those of one fused kernel; default 1"),
    RATIO("logits_bytes", logits_bytes, 4, 64,
          "bytes that each logit takes while the loss and its gradient are computed; default 4"),
    WORD("tower_place", tower_place, tower_places,
         "first: towers are on the first stage, before the embedding; own: that stage has nothing else, and the "
         "language model begins on the next one; default first"),
    {"tower_tensor", STAGESIM_FIELD_COUNT, offsetof(struct transformer_parameters, tower_tensor), false, 1, 1 << 16,
     NULL,
     "tensor-parallel ranks that share a tower's layers; others along tensor are further replicas of it, with images "
     "of their own; default: all along tensor"},
    {"extra_memory", STAGESIM_FIELD_BYTES, offsetof(struct transformer_parameters, extra_memory), false, 0, 1e15, NULL,
     "memory of a rank that no formula counts, such as the context of its GPU and buffers of communication; default 0"},
    {"adapter_rank", STAGESIM_FIELD_COUNT, offsetof(struct transformer_parameters, adapter_rank), false, 0, 1 << 16,
     NULL,
     "rank of the low-rank adapters (LoRA) that are trained beside every matrix of the layers; everything else is "
     "frozen: it has no gradients and no optimizer state; default 0: everything is trained"},
    RATIO("frozen_bytes", frozen_bytes, 0.1, 8,
          "with adapter_rank: bytes of a frozen weight, such as 0.5 for 4 bits (QLoRA); default: those of "
          "compute.precision"),
    WORD("optimizer", optimizer, optimizers,
         "the optimizer, which decides how large its state is and how long its step takes; default adam"),
    RATIO("optimizer_offload", optimizer_offload, 0, 1,
          "share of the optimizer whose state is in the host's memory, and whose step the host computes; default 0"),
    {"offload_rate", STAGESIM_FIELD_RATE, offsetof(struct transformer_parameters, offload_rate), false, 1e6, 1e13, NULL,
     "with optimizer_offload: how fast a GPU sends gradients to its host and gets weights back; default 25GBps"},
    {"host_bandwidth", STAGESIM_FIELD_RATE, offsetof(struct transformer_parameters, host_bandwidth), false, 1e6, 1e13,
     NULL, "with optimizer_offload: bandwidth of the host's memory for each of its GPUs"},
    RATIO("moment_bytes", moment_bytes, 0.25, 8,
          "bytes of each of the optimizer's moments, such as 1.02 for 8 bits with a scale for 256 of them; default 4"),
    RATIO("master_bytes", master_bytes, 1, 8,
          "bytes of the optimizer's own copy of a weight, where weights have 16 bits; default 4"),
    WORD("gradients", gradients, gradient_types,
         "precision in which gradients are accumulated and reduced: fp32; same: that of the computation; accumulated: "
         "that of the computation for each micro-batch, added to a copy in fp32; default fp32"),
    FLAG("distributed_optimizer", distributed_optimizer,
         "whether replicas share the optimizer's state and work, as with zero: 1; default false"),
    {"zero", STAGESIM_FIELD_COUNT, offsetof(struct transformer_parameters, zero), false, 0, 3, NULL,
     "what replicas shard: 1 the optimizer state, 2 also gradients, 3 also parameters; default 0: nothing"},
    WORD(
        "zero_parts", zero_parts, parts_names,
        "with zero: 1: what a rank updates: equal, the same number of elements each, which are gathered at once; "
        "tensors, whole tensors, the largest first to the rank with least, and each rank broadcasts its own; gradients "
        "are then all-reduced; default equal"),
    {"shard_ranks", STAGESIM_FIELD_COUNT, offsetof(struct transformer_parameters, shard_ranks), false, 2, 1 << 20, NULL,
     "hybrid sharding: how many neighbours along the axis data shard what zero says; other groups hold copies; "
     "default: all ranks of the axis"},
    FLAG("reshard", reshard, "with zero: 3: whether weights are gathered again for the backward; default true"),
    {"prefetch", STAGESIM_FIELD_COUNT, offsetof(struct transformer_parameters, prefetch), false, 0, STAGESIM_AHEAD_MAX,
     NULL, "with zero: 3: how many layers ahead weights are gathered; default 1"},
    {"prefetch_bucket", STAGESIM_FIELD_BYTES, offsetof(struct transformer_parameters, prefetch_bucket), false, 1, 1e15,
     NULL, "with zero: 3, in place of prefetch: weights are gathered ahead up to this size"},
    {"gather_bucket", STAGESIM_FIELD_BYTES, offsetof(struct transformer_parameters, gather_bucket), false, 1, 1e15,
     NULL,
     "with zero: 3: a layer's weights are gathered in equal pieces of at most this size, one after the other; default: "
     "no limit"},
    {"gather_pieces", STAGESIM_FIELD_COUNT, offsetof(struct transformer_parameters, gather_pieces), false, 1, 1000,
     NULL, "with zero: 3: a layer's weights are gathered in at least so many pieces; default 1"},
    {"bucket", STAGESIM_FIELD_BYTES, offsetof(struct transformer_parameters, bucket), false, 0, 1e15, NULL,
     "size of a bucket: gradients that are synchronised together; default 25MB"},
    WORD("context_method", routing.context_method, context_method_names,
         "how keys and values reach the ranks that share a sequence: all-gather; ring: block by block from rank to "
         "rank; or all-to-all: ranks exchange tokens for heads; default all-gather"),
    FLAG("context_balance", routing.context_balance,
         "whether each of the c ranks of a causal sequence gets two of 2 c chunks, one from the beginning and one from "
         "the end; default true"),
    RATIO("capacity_factor", routing.capacity_factor, 0, 1000,
          "every expert receives and computes so many times its mean number of tokens; others are dropped, missing "
          "ones padded; default 0: as many as are routed to it"),
    RATIO("expert_imbalance", routing.expert_imbalance, 1, 1 << 20,
          "tokens of the busiest expert-parallel rank, over the mean of all; default 1"),
    {"expert_tokens", STAGESIM_FIELD_COUNTS, offsetof(struct transformer_parameters, routing.expert_tokens), false, 1,
     1e12, NULL,
     "in place of expert_imbalance: a list of the tokens of each expert-parallel rank of a group, in any unit"},
    RATIO("expert_skew", routing.expert_skew, 0, 10,
          "in place of expert_imbalance: an exponent; the expert with the k-th most tokens gets a number proportional "
          "to 1/k to this power; default 0"),
    {"expert_seed", STAGESIM_FIELD_COUNT, offsetof(struct transformer_parameters, routing.expert_seed), false, 0, 1e15,
     NULL, "with expert_skew: seed by which experts are put into the order of their tokens; default 0"},
    FLAG("expert_overlap", routing.expert_overlap, "whether tokens travel while shared experts compute; default false"),
    RATIO("expert_hidden", routing.expert_hidden, 0, 1,
          "with schedules that run a forward and a backward as one block: share of tokens' bytes that travel while the "
          "block computes; the others travel behind it; default 1"),
    {"expert_node", STAGESIM_FIELD_COUNT, offsetof(struct transformer_parameters, routing.expert_node), false, 1,
     1 << 16, NULL,
     "number of expert-parallel ranks in a node; a token then travels once to each node; default: once to each of its "
     "experts"},
    WORD("expert_exchange", routing.exchange, expert_exchange_names,
         "how tokens reach experts: all-to-all, once for each expert, between nodes and then within them; deepep, as "
         "DeepEP and Hybrid-EP: once for each rank with some of a token's experts, in both at once; default "
         "all-to-all"),
    WORD("dispatch", routing.dispatch, dispatch_precision_names,
         "precision of tokens on their way to experts: same, that of the computation, or fp8; default same"),
    {"islands", STAGESIM_FIELD_COUNT, offsetof(struct transformer_parameters, islands), false, 1, 1 << 20, NULL,
     "groups of data-parallel replicas that train by themselves and agree now and then (DiLoCo, local SGD); the "
     "innermost ranks of the axis data are one; default 1: all synchronise their gradients"},
    {"outer_period", STAGESIM_FIELD_COUNT, offsetof(struct transformer_parameters, outer_period), false, 1, 1000, NULL,
     "iterations after which islands agree on all weights; default 1"},
    {"outer_parts", STAGESIM_FIELD_COUNT, offsetof(struct transformer_parameters, outer_parts), false, 1, 1000, NULL,
     "parts of the weights that islands agree on one after the other, at equal intervals of the period (streaming "
     "DiLoCo); default 1"},
    {"outer_delay", STAGESIM_FIELD_COUNT, offsetof(struct transformer_parameters, outer_delay), false, 0, 1000, NULL,
     "iterations that begin before what islands have exchanged is applied; default 0: none does"},
    RATIO("outer_bytes", outer_bytes, 0.0625, 8,
          "bytes of an element that islands exchange: 0.5 for 4 bits; default 4"),
    FLAG("outer_momentum", outer_momentum, "whether the outer optimizer has a moment (Nesterov's); default true"),
    FLAG("outer_offload", outer_offload,
         "whether the host holds the weights as agreed last and the outer moment; default false"),
    {"tokens", STAGESIM_FIELD_RATIO, offsetof(struct transformer_parameters, tokens), false, 0, 1e18, NULL,
     "tokens of the whole training; stagesim then says how long it takes; default: none"},
    {"price", STAGESIM_FIELD_RATIO, offsetof(struct transformer_parameters, price), false, 0, 1e9, NULL,
     "price of a GPU for an hour, in any currency; stagesim then says what tokens cost; default: none"},
    {"currency", STAGESIM_FIELD_TEXT, offsetof(struct transformer_parameters, currency), false, 0, 0, NULL,
     "currency of the price, as outputs write it: USD, EUR; default: none"},

    MODEL_COUNT(layers, true, 1, 10000, "transformer layers (L)"),
    MODEL_COUNT(hidden, true, 1, 1 << 20, "width (h)"),
    MODEL_COUNT(heads, true, 1, 1 << 16, "attention heads (a)"),
    MODEL_COUNT(kv_heads, false, 1, 1 << 16,
                "heads of keys and values; several heads of queries share one; default heads"),
    MODEL_COUNT(head_size, false, 1, 1 << 16, "width of a head; default hidden / heads"),
    MODEL_COUNT(ffn, false, 1, 1 << 24, "inner width of the feed-forward block; default 4 x hidden"),
    MODEL_FLAG(gated, "the feed-forward block has a third matrix (SwiGLU); default false"),
    MODEL_COUNT(sequence, true, 1, 1 << 26, "tokens of a sample (s)"),
    {"model.documents", STAGESIM_FIELD_COUNTS, offsetof(struct transformer_parameters, model.documents), false, 1,
     1 << 26, NULL,
     "tokens of the documents that are packed into each sequence, as a list; a token attends only to its own document; "
     "default: one document"},
    {"model.document_lengths", STAGESIM_FIELD_FACTORS, offsetof(struct transformer_parameters, model.document_lengths),
     .doc = "in place of documents: tokens of a document, drawn for each one; sequences are filled with them in their "
            "order"},
    {"model.documents_whole", STAGESIM_FIELD_FLAG, offsetof(struct transformer_parameters, model.documents_whole),
     .doc = "with document_lengths: whether a document that does not fit begins the next sequence, and padding fills "
            "this one; otherwise it is cut; default false"},
    {"model.document_seed", STAGESIM_FIELD_COUNT, offsetof(struct transformer_parameters, model.document_seed), false,
     0, 1e15, NULL, "with document_lengths: seed by which they are drawn; default 0"},
    MODEL_COUNT(vocabulary, true, 1, 1 << 26, "entries of the vocabulary (V), with any padding"),
    MODEL_COUNT(positions, false, 0, 1 << 26, "number of learned positions; default 0: there are none, or rotary ones"),
    MODEL_COUNT(token_types, false, 0, 1 << 16, "number of learned token types (BERT has 2); default 0"),
    MODEL_FLAG(tied, "whether the output projection uses the matrix of the token embedding; default true"),
    MODEL_FLAG(biases, "matrices of the layers have biases; default true"),
    MODEL_FLAG(causal, "whether a token attends only to tokens before it; default true"),
    MODEL_FLAG(dropout, "whether the model is trained with dropout, whose masks are kept; default true"),
    WORD("model.norm", model.norm, transformer_norm_names,
         "normalisation: layer (weight and bias) or rms (weight); default layer"),
    MODEL_FLAG(embedding_norm, "whether a normalisation follows the embedding; default false"),
    MODEL_FLAG(final_norm, "a normalisation before the output; default true"),
    MODEL_FLAG(pooler, "BERT's pooler, h x h; default false"),
    MODEL_FLAG(head_transform, "BERT's transform before the output, h x h and a normalisation; default false"),
    MODEL_FLAG(head_bias, "the output projection has a bias; default false"),
    MODEL_FLAG(next_sentence, "BERT's next-sentence head, h x 2; default false"),
    MODEL_FLAG(qkv_biases,
               "the matrices of queries, keys and values have biases, where biases is false; default false"),
    MODEL_FLAG(qk_norm, "a normalisation of each head's queries and one of its keys; default false"),
    MODEL_FLAG(sinks, "a learned score for each head beside those of the keys; default false"),
    MODEL_COUNT(norms, false, 1, 7,
                "normalisations of a layer: 1 where both blocks have the same input, 2, 4 where one follows each "
                "block, or 7 with three more around experts; default 2"),
    MODEL_COUNT(window, false, 1, 1 << 26,
                "window of a causal model: how many tokens a token attends to; default: all before it"),
    MODEL_COUNT(window_period, false, 0, 10000, "every so-many-th layer has no window; default 0: all layers have one"),
    MODEL_COUNT(experts, false, 0, 1 << 16, "experts of a layer in place of its feed-forward block; default 0: none"),
    MODEL_COUNT(top_k, false, 1, 1 << 16, "experts that a token goes to; default 1"),
    MODEL_COUNT(expert_ffn, false, 1, 1 << 24, "inner width of an expert; default ffn"),
    MODEL_COUNT(shared_experts, false, 0, 1 << 16,
                "number of shared experts, which all tokens go to in addition; default 0"),
    MODEL_COUNT(dense_layers, false, 0, 10000, "number of layers at the beginning that have no experts; default 0"),
    MODEL_COUNT(expert_period, false, 1, 10000,
                "after dense_layers, the first layer and every so-many-th one have experts; default 1: all of them"),
    MODEL_FLAG(shared_gate, "shared experts are weighted by a gate of h parameters; default false"),
    MODEL_COUNT(expert_groups, false, 1, 1 << 16,
                "number of groups of experts; the experts of a token lie in top_groups of them; default 1"),
    MODEL_COUNT(top_groups, false, 1, 1 << 16,
                "number of groups in which the experts of a token lie; default expert_groups"),
    MODEL_FLAG(router_bias, "the router has a bias for each expert; default false"),
    MODEL_COUNT(kv_rank, false, 0, 1 << 20,
                "width that keys and values are compressed to (latent attention); default 0: they are not compressed"),
    MODEL_COUNT(query_rank, false, 0, 1 << 20, "width that queries are compressed to; default 0: they are not"),
    MODEL_COUNT(rope_size, false, 0, 1 << 16,
                "further width of queries and keys, for positions (latent attention); default 0"),
    MODEL_COUNT(value_size, false, 1, 1 << 16, "width of a head's values (latent attention); default head_size"),
    MODEL_TEXT(
        mixers,
        "what mixes tokens in each layer, a letter for each: * attention, W attention in the window, M Mamba-2, G "
        "gated delta net, K Kimi delta attention, L lightning, D and S sparse, B block-sparse, w, c and h "
        "compressed attention; from the start again where they are fewer; default by window and window_period"),
    MODEL_TEXT(feeds, "what follows in each layer, a letter for each: - feed-forward, E experts, . nothing; from the "
                      "start again where they are fewer; default by experts"),
    MODEL_TEXT(pattern, "in place of mixers and feeds: layers of one block each, in the form of Megatron-LM's "
                        "--hybrid-layer-pattern: a letter of mixers, or - or E"),
    {"model.layer_kv_heads", STAGESIM_FIELD_COUNTS, offsetof(struct transformer_parameters, model.layer_kv_heads),
     false, 0, 1 << 16, NULL, "heads of keys and values of each layer, as a list; 0: no attention"},
    {"model.layer_ffn", STAGESIM_FIELD_COUNTS, offsetof(struct transformer_parameters, model.layer_ffn), false, 0,
     1 << 24, NULL, "inner width of each layer's feed-forward block, as a list; 0: none"},
    MODEL_FLAG(
        chunked,
        "whether the window is a chunk of the sequence, in which a token attends to those before it; default false"),
    MODEL_COUNT(local_heads, false, 1, 1 << 16, "heads of layers with a window; default heads"),
    MODEL_COUNT(local_kv_heads, false, 1, 1 << 16,
                "heads of keys and values of layers with a window; default kv_heads"),
    MODEL_COUNT(local_head_size, false, 1, 1 << 16, "width of a head of layers with a window; default head_size"),
    MODEL_COUNT(
        local_value_size, false, 1, 1 << 16,
        "width of a head's values of layers with a window; default value_size, or local_head_size where that is given"),
    MODEL_FLAG(local_sinks, "whether layers with a window have sinks (see sinks); default false"),
    MODEL_FLAG(output_gate, "whether a gate of as many columns weights the output of attention; default false"),
    MODEL_FLAG(keys_are_values, "whether attention without a window has one matrix for keys and values; default false"),
    MODEL_FLAG(qk_norm_whole, "whether qk_norm normalises all heads of a token together; default false"),
    MODEL_COUNT(activation_parameters, false, 0, 1 << 20,
                "learned numbers of the activation in each feed-forward block; default 0"),
    MODEL_FLAG(qk_norm_free, "whether qk_norm has no weights; default false"),
    MODEL_COUNT(mamba_heads, false, 1, 1 << 16, "number of heads of Mamba-2; default 2 hidden / mamba_head_size"),
    MODEL_COUNT(mamba_head_size, false, 1, 1 << 16, "width of a head of Mamba-2; default 64"),
    MODEL_COUNT(mamba_groups, false, 1, 1 << 16, "groups of heads of Mamba-2 that share B and C; default 8"),
    MODEL_COUNT(mamba_state, false, 1, 1 << 16, "columns of a state of Mamba-2; default 128"),
    MODEL_COUNT(linear_key_heads, false, 1, 1 << 16,
                "heads of queries and keys of linear attention; default linear_value_heads"),
    MODEL_COUNT(linear_value_heads, false, 1, 1 << 16, "heads of values of linear attention; default heads"),
    MODEL_COUNT(linear_key_size, false, 1, 1 << 16,
                "width of a head's queries and keys in linear attention; default head_size"),
    MODEL_COUNT(linear_value_size, false, 1, 1 << 16,
                "width of a head's values in linear attention; default linear_key_size"),
    MODEL_FLAG(linear_full_gate,
               "whether the output gate of Kimi delta attention is one matrix, not two narrow ones; default false"),
    MODEL_COUNT(convolution, false, 1, 64,
                "taps of the convolution of Mamba-2, linear attention and gated short convolutions; default 4"),
    MODEL_COUNT(chunk, false, 1, 1 << 16, "tokens of a chunk in the scans of Mamba-2 and linear attention; default 64"),
    MODEL_COUNT(index_heads, false, 1, 1 << 16, "heads of the indexer of sparse attention; default 64"),
    MODEL_COUNT(index_size, false, 1, 1 << 16, "width of a head of the indexer; default 128"),
    MODEL_COUNT(index_top, false, 1, 1 << 26,
                "how many keys, blocks or entries the indexer picks for a token; default 2048"),
    MODEL_COUNT(index_block, false, 1, 1 << 26, "keys of a block in block-sparse attention"),
    MODEL_FLAG(index_trained, "whether the indexer is trained, by the scores of the attention itself; default false"),
    MODEL_COUNT(compression, false, 1, 1 << 20,
                "tokens of an entry of compressed attention from which the indexer picks; default 4"),
    MODEL_COUNT(heavy_compression, false, 1, 1 << 20,
                "tokens of an entry of compressed attention where a token attends to all entries; default 128"),
    MODEL_COUNT(output_groups, false, 1, 1 << 16, "groups of heads with a narrow output each; default 1"),
    MODEL_COUNT(output_rank, false, 1, 1 << 20, "width of the narrow output of each group of heads; default hidden"),
    MODEL_COUNT(streams, false, 1, 64, "residual streams (hyper-connections); default 1"),
    MODEL_COUNT(
        residual_blocks, false, 0, 10000,
        "every so many layers, the residual is kept; later layers attend to all that were kept; default 0: none is"),
    MODEL_COUNT(
        expert_width, false, 1, 1 << 20,
        "width of the tokens that routed experts get; a matrix before and one after them change it; default hidden"),
    MODEL_FLAG(expert_width_norm, "whether these narrower tokens are normalised; default false"),
    MODEL_COUNT(shared_ffn, false, 0, 1 << 24,
                "inner width of all shared experts together; default shared_experts x expert_ffn"),
    MODEL_FLAG(router_scales, "whether the router scales its inputs and the outputs of experts; default false"),
    MODEL_COUNT(
        hash_layers, false, 0, 10000,
        "number of layers at the beginning whose experts are chosen by a table; their routers have no bias; default 0"),
    MODEL_COUNT(predictions, false, 0, 64,
                "layers after the last one, on its stage, that each predict a further token; `parameters` does not "
                "count them; default 0"),
    MODEL_TEXT(
        prediction_mixers,
        "what mixes tokens in the layers of predictions, a letter of mixers for each; default: as in the last layer"),
    MODEL_TEXT(prediction_feeds,
               "what follows in the layers of predictions, a letter of feeds for each; default: as in the last layer"),
    TOWER_FIELDS("tower_", TOWER_IMAGES, "images", "an image", "the width of what is merged", "4"),
    TOWER_IMAGE_FIELDS,
    TOWER_FIELDS("audio_", TOWER_AUDIO, "sound", "a clip", "one matrix", "1"),
    TOWER_AUDIO_FIELDS,
    MODEL_COUNT(further_parameters, false, 1, 1e15,
                "published number of parameters of predictions; default: not checked"),
    MODEL_COUNT(active_parameters, false, 1, 1e15,
                "published number of parameters that are active for a token; default: not checked"),
    MODEL_COUNT(parameters, false, 1, 1e15,
                "published number of parameters; stagesim checks that the other keys give it; default: not checked"),

    WORD("compute.precision", precision, device_precisions, "precision of matrix products; default bf16"),
    {"compute.efficiency", STAGESIM_FIELD_RATIO, offsetof(struct transformer_parameters, efficiency), false, 1e-6, 1,
     NULL, "one share of the peak for all matrix products, in place of a table; other operators then take no time"},
    {"compute.table", STAGESIM_FIELD_PATH, offsetof(struct transformer_parameters, table),
     .doc = "efficiency table of the GPU; default: the installed table of the platform's GPU"},
    WORD("compute.kernels", kernels, kernel_names,
         "whose kernels for matrix products and attention the GPU runs: transformer-engine, if the GPU has such a "
         "table; measured: the time of each by its shape (`stagesim kernel`); auto, auto-measured: "
         "transformer-engine's or measured ones if the GPU has them; default: those of the GPU's own table"),
    {"compute.source", STAGESIM_FIELD_TEXT, offsetof(struct transformer_parameters, source), false, 0, 0, NULL,
     "with kernels: measured: which source counts if several have measured a kernel; default: the first of the table"},
    RATIO("compute.clock", clock, 0.1, 2,
          "clock of the GPU during training, over the clock at which the table or the kernels were measured: products "
          "and attention take 1 / clock times as long, operators that only move memory as long as before; default 1"),
    {"compute.dispatch", STAGESIM_FIELD_TIME, offsetof(struct transformer_parameters, dispatch), false, 0, 1, NULL,
     "time that the host takes to issue an operator; default: that of the table, with measured kernels 0"},
    {"compute.launch", STAGESIM_FIELD_TIME, offsetof(struct transformer_parameters, launch), false, 0, 1, NULL,
     "time that every operator takes in addition to its work, which nothing hides, for example if the host waits for "
     "each one (CUDA_LAUNCH_BLOCKING=1); default: that of the table"},
    {"compute.expert_dispatch", STAGESIM_FIELD_TIME, offsetof(struct transformer_parameters, expert_dispatch), false, 0,
     1, NULL,
     "time that the host takes for each expert of a rank, in a forward and in each half of a backward, less what it "
     "hides; default 0"},
    {"compute.expert_dispatch_most", STAGESIM_FIELD_COUNT, offsetof(struct transformer_parameters, dispatched_most),
     false, 1, 1e6, NULL, "experts of a rank that take the host such a time at most; default: all of them"},
    RATIO("compute.flash", flash, 0.01, 1,
          "share of the peak that flash attention reaches; it replaces that of the table or of the measured kernels"),
    RATIO("compute.unfused", unfused, 0.1, 100,
          "bytes that operators which only move memory move, over those of fused ones; default 1"),
    RATIO("compute.matrix_time", times[CLASS_MATRIX], 0.01, 100,
          "time of matrix products with weights, over that of the table or of the measured kernels; default 1"),
    RATIO("compute.grouped_time", times[CLASS_GROUPED], 0.01, 100,
          "the same of grouped products: all experts of a rank, if it has more than one; default 1"),
    RATIO("compute.attention_time", times[CLASS_ATTENTION], 0.01, 100,
          "the same of all that computes with scores: flash attention, or products, softmax and dropout; default 1"),
    RATIO("compute.scan_time", times[CLASS_SCAN], 0.01, 100,
          "the same of state-space scans and linear attention, with their short convolution; default 1"),
    RATIO("compute.norm_time", times[CLASS_NORM], 0.01, 100, "the same of normalisations; default 1"),
    RATIO("compute.elementwise_time", times[CLASS_ELEMENT], 0.01, 100,
          "the same of all other operators that only move memory; default 1"),
    WORD(
        "compute.scaling", scaling, transformer_scaling_names,
        "in fp8, what has a scale: tensor, and each operand is read once; delayed, current: a tensor, as "
        "TransformerEngine finds it; row; block: 1 x 128 or 128 x 128 elements; mxfp8: 32 elements; nvfp4: 16 elements "
        "of 4 bits; default tensor"),
    RATIO("compute.cast_bytes", cast_bytes, 0, 1000,
          "with kernels: measured, in fp8: bytes that casts and scaling move for each element of an operand; default: "
          "that of compute.scaling, with tensor 3: it is read in 16 bits and written in 8"),
    {"compute.step", STAGESIM_FIELD_TIME, offsetof(struct transformer_parameters, step), false, 0, 100, NULL,
     "time that the host takes at the end of an iteration; default: that of the table, with measured kernels 0"},
    {"compute.profile", STAGESIM_FIELD_PATH, offsetof(struct transformer_parameters, profile),
     .doc = "file with measured times of layers, in place of a table"},
    WORD("tensor_parallel.algorithm", algorithm, tensor_algorithm_names,
         "how ranks share matrices: megatron-1d along the axis tensor, the others along x, y, z; default megatron-1d"),
    {"tensor_parallel.overlap", STAGESIM_FIELD_NAMES, offsetof(struct transformer_parameters, tensor_overlap),
     .names = tensor_overlap_names,
     .doc = "with axonn-3d: which communication runs while something is computed; default all"},
    FLAG("communication.overlap", overlap, "whether gradients are synchronised while the backward runs; default true"),
    {0},
};
