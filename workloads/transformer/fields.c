/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of the workload `transformer`, and what holds where none is given. */
#include "workloads/transformer/transformer.h"

#include "workloads/transformer/pipeline_layout.h"

#include <stddef.h>

static const char *const attentions[] = {"flash", "standard", NULL};
static const char *const granularities[] = {"stage", "layer", NULL};
static const char *const balances[] = {"even", "auto", NULL};
static const char *const optimizers[] = {"adam", "momentum", "sgd", "muon", NULL};
static const char *const gradient_types[] = {"fp32", "same", "accumulated", NULL};
const char *const kernel_names[] = {"default", "transformer-engine", "measured", "auto", "auto-measured", NULL};

const struct transformer_parameters transformer_defaults = {
    .model = {.tied = true, .biases = true, .causal = true, .dropout = true, .final_norm = true},
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
    .cast_bytes = 3,
    .overlap_hidden = 1,
    .unfused = 1,
    .optimizer_unfused = 1,
    .logits_bytes = 4,
    .tensor_overlap = OVERLAP_GATHER | OVERLAP_SCATTER | OVERLAP_INPUT | OVERLAP_DATA,
    .routing = {.context_balance = true, .expert_imbalance = 1},
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
    WORD("attention", attention, attentions, "flash (never stores scores) or standard; default flash"),
    WORD("granularity", granularity, granularities,
         "stage: one operation per forward and backward of a stage; layer: every layer's blocks and collectives; "
         "default stage"),
    {"layers_per_stage", STAGESIM_FIELD_COUNTS, offsetof(struct transformer_parameters, layers_per_stage), false, 0,
     10000, NULL, "layers of each stage, the first stage first; their sum is the model's"},
    {"pipeline_layout", STAGESIM_FIELD_TEXT, offsetof(struct transformer_parameters, pipeline_layout),
     .doc = "the same as Megatron-LM's --pipeline-model-parallel-layout writes it, such as Et|(tt|)*6tL"},
    WORD("balance", balance, balances,
         "even: as many layers for every stage; auto: so that the busiest stage has least to do; default even"),
    FLAG("sequence_parallel", sequence_parallel,
         "normalisations and residuals are divided along the tensor axis, too; default false"),
    FLAG("stage_outputs", stage_outputs,
         "what a stage hands on stays with it until its backward, as DeepSpeed's pipelines have it; default false"),
    FLAG("scatter_gather", scatter_gather,
         "tensor-parallel ranks each send their part of a message between stages, and gather the parts behind it; "
         "default true"),
    FLAG("tensor_overlap", product_overlap,
         "megatron-1d with sequence_parallel: what a linear map gathers and scatters moves while its products run; "
         "default false"),
    RATIO("tensor_overlap_hidden", overlap_hidden, 0, 1,
          "tensor_overlap: the share of what is gathered and scattered that moves beside products; the rest follows "
          "them; default 1"),
    FLAG("tensor_copies", tensor_copies,
         "sequence_parallel: what is gathered or scattered is copied once more, for sequences are not its outermost "
         "dimension; default false"),
    WORD("tensor_gathers", tensor_gathers, dispatch_precision_names,
         "sequence_parallel: precision of what is gathered: same as computed with, or fp8; default same"),
    FLAG("shard_copies", shard_copies,
         "zero: 3: gathered weights of layers are copied to their places, gradients once more before they are "
         "scattered; default false"),
    RATIO("optimizer_unfused", optimizer_unfused, 1, 100,
          "what the optimizer's step moves over what one fused kernel would; default 1"),
    RATIO("logits_bytes", logits_bytes, 4, 64,
          "bytes of each logit that are held while the loss and its gradient are computed; default 4"),
    {"extra_memory", STAGESIM_FIELD_BYTES, offsetof(struct transformer_parameters, extra_memory), false, 0, 1e15, NULL,
     "what a rank holds that no formula counts, such as the context of its GPU and buffers of communication; default "
     "0"},
    {"adapter_rank", STAGESIM_FIELD_COUNT, offsetof(struct transformer_parameters, adapter_rank), false, 0, 1 << 16,
     NULL,
     "fine-tuning of low-rank adapters (LoRA) of this rank beside every matrix of the layers; all else is frozen: no "
     "gradients, no optimizer state; default 0: all is trained"},
    RATIO("frozen_bytes", frozen_bytes, 0.1, 8,
          "adapter_rank: bytes of a frozen weight, such as 0.5 of 4-bit ones (QLoRA); default as computed with"),
    WORD("optimizer", optimizer, optimizers, "what is updated with: its state and its time; default adam"),
    WORD("gradients", gradients, gradient_types,
         "precision in which gradients are accumulated and reduced: fp32, the same as computed with, or accumulated: "
         "each micro-batch's in that of computing, added to a copy in fp32; default fp32"),
    FLAG("distributed_optimizer", distributed_optimizer,
         "replicas share the optimizer's state and work, as with zero: 1; default false"),
    {"zero", STAGESIM_FIELD_COUNT, offsetof(struct transformer_parameters, zero), false, 0, 3, NULL,
     "what replicas share among each other: 1 optimizer state, 2 also gradients, 3 also parameters; default 0"},
    {"shard_ranks", STAGESIM_FIELD_COUNT, offsetof(struct transformer_parameters, shard_ranks), false, 2, 1 << 20, NULL,
     "hybrid sharding: so many neighbours along the axis data share what zero says, groups of them hold copies; "
     "default all"},
    FLAG("reshard", reshard, "zero: 3 gathers weights again for the backward; default true"),
    {"prefetch", STAGESIM_FIELD_COUNT, offsetof(struct transformer_parameters, prefetch), false, 0, STAGESIM_AHEAD_MAX,
     NULL, "zero: 3: how many layers before it is needed a layer's weights are asked for; default 1"},
    {"prefetch_bucket", STAGESIM_FIELD_BYTES, offsetof(struct transformer_parameters, prefetch_bucket), false, 1, 1e15,
     NULL, "zero: 3, in place of prefetch: layers are asked for ahead until their weights are so much"},
    {"gather_bucket", STAGESIM_FIELD_BYTES, offsetof(struct transformer_parameters, gather_bucket), false, 1, 1e15,
     NULL,
     "zero: 3: a layer's weights are gathered in equal pieces of at most this size, one after the other; default: any"},
    {"gather_pieces", STAGESIM_FIELD_COUNT, offsetof(struct transformer_parameters, gather_pieces), false, 1, 1000,
     NULL, "zero: 3: as so many pieces at the least; default 1"},
    {"bucket", STAGESIM_FIELD_BYTES, offsetof(struct transformer_parameters, bucket), false, 0, 1e15, NULL,
     "gradients that are synchronised together; default 25MB"},
    WORD("context_method", routing.context_method, context_method_names,
         "how keys and values reach the ranks that share a sequence: all-gather, block by block around a ring, or "
         "all-to-all, by which ranks exchange tokens for heads; default all-gather"),
    FLAG("context_balance", routing.context_balance,
         "of 2 c chunks of a causal sequence each of the c ranks has one of the beginning and one of the end; default "
         "true"),
    RATIO("capacity_factor", routing.capacity_factor, 0, 1000,
          "every expert computes and receives so many times its mean tokens, padded or dropped; default 0: what comes"),
    RATIO("expert_imbalance", routing.expert_imbalance, 1, 1 << 20,
          "tokens of the busiest expert-parallel rank over the mean; default 1"),
    {"expert_tokens", STAGESIM_FIELD_COUNTS, offsetof(struct transformer_parameters, routing.expert_tokens), false, 1,
     1e12, NULL, "in its place tokens of each expert-parallel rank of a group, in any unit, as a list"},
    RATIO("expert_skew", routing.expert_skew, 0, 10,
          "in its place: from the expert with most tokens on, the k-th has 1/k to this power; default 0"),
    {"expert_seed", STAGESIM_FIELD_COUNT, offsetof(struct transformer_parameters, routing.expert_seed), false, 0, 1e15,
     NULL, "expert_skew: draws which expert is the k-th; default 0"},
    FLAG("expert_overlap", routing.expert_overlap, "tokens travel while shared experts compute; default false"),
    {"expert_node", STAGESIM_FIELD_COUNT, offsetof(struct transformer_parameters, routing.expert_node), false, 1,
     1 << 16, NULL,
     "expert-parallel ranks of a node, between which a token travels once for each node; default: to each expert on "
     "its own"},
    WORD("dispatch", routing.dispatch, dispatch_precision_names,
         "precision of tokens on their way to experts: same as computed with, or fp8; default same"),
    {"tokens", STAGESIM_FIELD_RATIO, offsetof(struct transformer_parameters, tokens), false, 0, 1e18, NULL,
     "tokens of the whole training, for its time; default: not asked for"},
    {"price", STAGESIM_FIELD_RATIO, offsetof(struct transformer_parameters, price), false, 0, 1e9, NULL,
     "of a GPU for an hour, in any currency: what tokens cost; default: not asked for"},
    {"currency", STAGESIM_FIELD_TEXT, offsetof(struct transformer_parameters, currency), false, 0, 0, NULL,
     "of the price, as outputs write it: USD, EUR; default: none is named"},

    MODEL_COUNT(layers, true, 1, 10000, "transformer layers (L)"),
    MODEL_COUNT(hidden, true, 1, 1 << 20, "width (h)"),
    MODEL_COUNT(heads, true, 1, 1 << 16, "attention heads (a)"),
    MODEL_COUNT(kv_heads, false, 1, 1 << 16,
                "heads of keys and values, of which several queries share one; default heads"),
    MODEL_COUNT(head_size, false, 1, 1 << 16, "width of a head; default hidden / heads"),
    MODEL_COUNT(ffn, false, 1, 1 << 24, "inner width of the feed-forward block; default 4 x hidden"),
    MODEL_FLAG(gated, "the feed-forward block has a third matrix (SwiGLU); default false"),
    MODEL_COUNT(sequence, true, 1, 1 << 26, "tokens of a sample (s)"),
    MODEL_COUNT(vocabulary, true, 1, 1 << 26, "entries of the vocabulary as computed with (V)"),
    MODEL_COUNT(positions, false, 0, 1 << 26, "learned positions; default 0: none, or rotary ones"),
    MODEL_COUNT(token_types, false, 0, 1 << 16, "learned kinds of tokens (BERT has 2); default 0"),
    MODEL_FLAG(tied, "the output projection is the token embedding; default true"),
    MODEL_FLAG(biases, "matrices of the layers have biases; default true"),
    MODEL_FLAG(causal, "a token sees only those before it; default true"),
    MODEL_FLAG(dropout, "trained with dropout, whose masks are kept; default true"),
    WORD("model.norm", model.norm, transformer_norm_names,
         "normalisation: layer (weight and bias) or rms (weight); default layer"),
    MODEL_FLAG(embedding_norm, "a normalisation behind the embedding; default false"),
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
    MODEL_COUNT(window, false, 1, 1 << 26, "tokens that a token of a causal model sees; default: all before it"),
    MODEL_COUNT(window_period, false, 0, 10000,
                "every so-many-th layer sees all tokens in spite of the window; default 0: none does"),
    MODEL_COUNT(experts, false, 0, 1 << 16, "experts of a layer in place of its feed-forward block; default 0: none"),
    MODEL_COUNT(top_k, false, 1, 1 << 16, "experts that a token goes to; default 1"),
    MODEL_COUNT(expert_ffn, false, 1, 1 << 24, "inner width of an expert; default ffn"),
    MODEL_COUNT(shared_experts, false, 0, 1 << 16, "experts that all tokens go to beside; default 0"),
    MODEL_COUNT(dense_layers, false, 0, 10000, "first layers, which have no experts; default 0"),
    MODEL_COUNT(expert_period, false, 1, 10000,
                "of the layers behind them the first has experts, and every so-many-th; default 1: all"),
    MODEL_FLAG(shared_gate, "shared experts are weighted by a gate of h parameters; default false"),
    MODEL_COUNT(expert_groups, false, 1, 1 << 16, "groups of experts, of which a token's lie in top_groups; default 1"),
    MODEL_COUNT(top_groups, false, 1, 1 << 16, "default expert_groups"),
    MODEL_FLAG(router_bias, "the router has a bias for each expert; default false"),
    MODEL_COUNT(kv_rank, false, 0, 1 << 20,
                "width that keys and values are compressed to (latent attention); default 0: they are not"),
    MODEL_COUNT(query_rank, false, 0, 1 << 20, "the same of queries; default 0: they are not"),
    MODEL_COUNT(rope_size, false, 0, 1 << 16,
                "further width of queries and keys, for positions (latent attention); default 0"),
    MODEL_COUNT(value_size, false, 1, 1 << 16, "width of a head's values (latent attention); default head_size"),
    MODEL_TEXT(
        mixers,
        "what mixes tokens in each layer, a letter for each: * attention, W attention in the window, M Mamba-2, G "
        "gated delta net, K Kimi delta attention, L lightning, D and S sparse, B block-sparse, w, c and h "
        "compressed attention; from the start again where they are fewer; default by window and window_period"),
    MODEL_TEXT(feeds, "the same of what follows: - feed-forward, E experts, . nothing; default by experts"),
    MODEL_TEXT(pattern,
               "in place of both, layers of one block each, as Megatron-LM's --hybrid-layer-pattern has them: a letter "
               "of mixers, or - or E"),
    {"model.layer_kv_heads", STAGESIM_FIELD_COUNTS, offsetof(struct transformer_parameters, model.layer_kv_heads),
     false, 0, 1 << 16, NULL, "heads of keys and values of each layer, as a list; 0: no attention"},
    {"model.layer_ffn", STAGESIM_FIELD_COUNTS, offsetof(struct transformer_parameters, model.layer_ffn), false, 0,
     1 << 24, NULL, "inner width of each layer's feed-forward block, as a list; 0: none"},
    MODEL_FLAG(chunked, "the window is a chunk of the sequence, whose tokens see those before them in it; default "
                        "false"),
    MODEL_COUNT(local_heads, false, 1, 1 << 16, "heads of layers with a window; default heads"),
    MODEL_COUNT(local_kv_heads, false, 1, 1 << 16, "their heads of keys and values; default kv_heads"),
    MODEL_COUNT(local_head_size, false, 1, 1 << 16, "width of their heads; default head_size"),
    MODEL_COUNT(local_value_size, false, 1, 1 << 16,
                "width of their heads' values; default value_size, or local_head_size where that is given"),
    MODEL_FLAG(local_sinks, "they have sinks, others need not; default false"),
    MODEL_FLAG(output_gate, "what attention gives is weighted by a gate of as many columns; default false"),
    MODEL_FLAG(keys_are_values, "attention without a window has one matrix for keys and values; default false"),
    MODEL_FLAG(qk_norm_whole, "qk_norm normalises all heads of a token together; default false"),
    MODEL_FLAG(qk_norm_free, "qk_norm has no weights; default false"),
    MODEL_COUNT(mamba_heads, false, 1, 1 << 16, "Mamba-2: heads; default 2 hidden / mamba_head_size"),
    MODEL_COUNT(mamba_head_size, false, 1, 1 << 16, "their width; default 64"),
    MODEL_COUNT(mamba_groups, false, 1, 1 << 16, "groups of heads that share B and C; default 8"),
    MODEL_COUNT(mamba_state, false, 1, 1 << 16, "columns of a state; default 128"),
    MODEL_COUNT(linear_key_heads, false, 1, 1 << 16,
                "linear attention: heads of queries and keys; default linear_value_heads"),
    MODEL_COUNT(linear_value_heads, false, 1, 1 << 16, "heads of values; default heads"),
    MODEL_COUNT(linear_key_size, false, 1, 1 << 16, "width of a head's queries and keys; default head_size"),
    MODEL_COUNT(linear_value_size, false, 1, 1 << 16, "width of a head's values; default linear_key_size"),
    MODEL_FLAG(linear_full_gate, "Kimi delta attention: the output's gate is one matrix, not two narrow ones; default "
                                 "false"),
    MODEL_COUNT(convolution, false, 1, 64, "taps of the short convolution of Mamba-2 and linear attention; default 4"),
    MODEL_COUNT(chunk, false, 1, 1 << 16, "tokens of a chunk of their scans; default 64"),
    MODEL_COUNT(index_heads, false, 1, 1 << 16, "sparse attention: heads of the indexer; default 64"),
    MODEL_COUNT(index_size, false, 1, 1 << 16, "their width; default 128"),
    MODEL_COUNT(index_top, false, 1, 1 << 26, "keys, blocks or entries that it picks for a token; default 2048"),
    MODEL_COUNT(index_block, false, 1, 1 << 26, "block-sparse attention: keys of a block"),
    MODEL_FLAG(index_trained, "the indexer is trained, by the scores of the attention itself; default false"),
    MODEL_COUNT(compression, false, 1, 1 << 20, "compressed attention: tokens of an entry that is picked; default 4"),
    MODEL_COUNT(heavy_compression, false, 1, 1 << 20, "tokens of an entry where all are met; default 128"),
    MODEL_COUNT(output_groups, false, 1, 1 << 16, "groups of heads with a narrow output each; default 1"),
    MODEL_COUNT(output_rank, false, 1, 1 << 20, "its width; default hidden"),
    MODEL_COUNT(streams, false, 1, 64, "residual streams (hyper-connections); default 1"),
    MODEL_COUNT(residual_blocks, false, 0, 10000,
                "layers after which the residual is kept for attention over all that were; default 0: none is"),
    MODEL_COUNT(expert_width, false, 1, 1 << 20,
                "columns of tokens as routed experts get them, through a matrix before and one behind; default hidden"),
    MODEL_FLAG(expert_width_norm, "they are normalised; default false"),
    MODEL_COUNT(shared_ffn, false, 0, 1 << 24,
                "inner width of all shared experts together; default shared_experts x expert_ffn"),
    MODEL_FLAG(router_scales, "the router scales what comes in and what experts give; default false"),
    MODEL_COUNT(hash_layers, false, 0, 10000,
                "first layers whose experts a table chooses: their routers have no bias; default 0"),
    MODEL_COUNT(predictions, false, 0, 64,
                "layers behind the last, on its stage, that each predict a further token; parameters leaves them out; "
                "default 0"),
    MODEL_TEXT(prediction_mixers, "a letter for each of them; default as the last layer"),
    MODEL_TEXT(prediction_feeds, "the same of what follows; default as the last layer"),
    MODEL_COUNT(tower_layers, false, 0, 10000,
                "layers of full attention before the language model, on its first stage, for images; default 0: none"),
    MODEL_COUNT(tower_hidden, false, 1, 1 << 20, "width of the tower"),
    MODEL_COUNT(tower_heads, false, 1, 1 << 16, "heads of the tower"),
    MODEL_COUNT(tower_ffn, false, 1, 1 << 24, "inner width of its feed-forward blocks; default 4 x tower_hidden"),
    MODEL_COUNT(tower_positions, false, 0, 1 << 26, "learned positions of patches; default 0"),
    MODEL_COUNT(tower_inputs, false, 1, 1 << 24, "numbers of a patch that go in: channels x frames x height x width"),
    MODEL_COUNT(tower_patches, false, 1, 1 << 26, "patches of an image, which attend to each other"),
    MODEL_COUNT(tower_images, false, 0, 1 << 20, "images of a sample; default 0: the tower has its weights alone"),
    MODEL_COUNT(tower_merge, false, 1, 1 << 16, "patches that become one token; default 4"),
    MODEL_COUNT(tower_mergers, false, 1, 1000,
                "mergers: one, and one for each layer whose features are added further on; default 1"),
    MODEL_FLAG(tower_frozen, "the tower is not trained: it has a forward alone; default false"),
    MODEL_COUNT(tower_parameters, false, 1, 1e15, "published number of its parameters; default: not checked"),
    MODEL_COUNT(further_parameters, false, 1, 1e15,
                "published number of parameters of predictions; default: not checked"),
    MODEL_COUNT(active_parameters, false, 1, 1e15,
                "published number of parameters that a token meets; default: not checked"),
    MODEL_COUNT(parameters, false, 1, 1e15,
                "published number of parameters, which the other keys have to give; default: not checked"),

    WORD("compute.precision", precision, device_precisions, "of matrix products; default bf16"),
    {"compute.efficiency", STAGESIM_FIELD_RATIO, offsetof(struct transformer_parameters, efficiency), false, 1e-6, 1,
     NULL, "one share of the peak for all matrix products, in place of a table; other operators then take no time"},
    {"compute.table", STAGESIM_FIELD_PATH, offsetof(struct transformer_parameters, table),
     .doc = "efficiency table of the GPU; default: the installed one of the platform's GPU model"},
    WORD("compute.kernels", kernels, kernel_names,
         "whose matrix products and attention the GPU runs, where tables are installed for several, or measured: each "
         "by its shape (`stagesim kernel`), or auto and auto-measured: transformer-engine's or measured ones where the "
         "GPU has them; default the table's without a name"),
    {"compute.source", STAGESIM_FIELD_TEXT, offsetof(struct transformer_parameters, source), false, 0, 0, NULL,
     "kernels: measured: the source that is taken where several measured a kernel; default the first of the table"},
    RATIO(
        "compute.clock", clock, 0.1, 2,
        "clock that the GPU holds while it trains, over that of the table's or the kernels' measurements: products and "
        "attention take 1 / clock times as long, what moves memory as long as before; default 1"),
    {"compute.dispatch", STAGESIM_FIELD_TIME, offsetof(struct transformer_parameters, dispatch), false, 0, 1, NULL,
     "seconds of the host to issue an operator; default the table's, with measured kernels 0"},
    {"compute.launch", STAGESIM_FIELD_TIME, offsetof(struct transformer_parameters, launch), false, 0, 1, NULL,
     "what every operator takes beside its work and nothing hides, as where the host waits for each "
     "(CUDA_LAUNCH_BLOCKING=1); default the table's"},
    {"compute.expert_dispatch", STAGESIM_FIELD_TIME, offsetof(struct transformer_parameters, expert_dispatch), false, 0,
     1, NULL, "seconds of the host for each expert of a rank, in a forward and in each half of a backward; default 0"},
    RATIO("compute.flash", flash, 0.01, 1,
          "share of the peak that flash attention reaches, in place of the table's or the measured one"),
    RATIO("compute.unfused", unfused, 0.1, 100,
          "operators that only move memory move so many times the bytes of fused ones; default 1"),
    RATIO("compute.cast_bytes", cast_bytes, 0, 1000,
          "kernels: measured, in fp8: bytes that casts and scaling move for each element of an operand; default 3: it "
          "is read in 16 bits and written in 8"),
    {"compute.step", STAGESIM_FIELD_TIME, offsetof(struct transformer_parameters, step), false, 0, 100, NULL,
     "seconds of the host at the end of an iteration; default the table's, with measured kernels 0"},
    {"compute.profile", STAGESIM_FIELD_PATH, offsetof(struct transformer_parameters, profile),
     .doc = "measured times of layers, in place of a table"},
    WORD("tensor_parallel.algorithm", algorithm, tensor_algorithm_names,
         "how ranks share matrices: megatron-1d along the axis tensor, the others along x, y, z; default megatron-1d"),
    {"tensor_parallel.overlap", STAGESIM_FIELD_NAMES, offsetof(struct transformer_parameters, tensor_overlap),
     .names = tensor_overlap_names,
     .doc = "axonn-3d: communication that runs while something is computed; default all"},
    FLAG("communication.overlap", overlap, "gradients are synchronised while the backward goes on; default true"),
    {0},
};
