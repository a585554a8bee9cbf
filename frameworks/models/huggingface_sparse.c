/* SPDX-License-Identifier: Apache-2.0 */
/* Architectures with sparse, compressed, windowed or chunked attention beside the plain one. Keys and defaults are
 * those of transformers' configuration files: deepseek_v4 @ 015c0781, glm_moe_dsa @ 008e5743, minimax_m3_vl @ 0117d5f7,
 * gemma4 @ 0246b4f3, llama4; mimo_v2_flash. */
#include "base/arena.h"
#include "base/quantity.h"
#include "frameworks/models/huggingface_parts.h"

#include <string.h>

/* ---- DeepSeek-V3.2, GLM 5: an indexer in each layer or in some ---- */

static void read_indexer(struct config *c)
{
    config_put_count(c, "model.index_heads", "index_n_heads", 64, true);
    config_put_count(c, "model.index_size", "index_head_dim", 128, true);
    config_put_count(c, "model.index_top", "index_topk", 2048, true);
}

/* Layers that pick keys of their own: all, those of a list, or every so-many-th behind an offset. */
static void put_indexers(struct config *c)
{
    static const struct config_word words[] = {{"full", 'D'}, {"shared", 'S'}, {NULL, 0}};
    uint64_t every = config_count(c, "index_topk_freq", 1), offset = config_count(c, "index_skip_topk_offset", 0);
    const struct node *node = config_get(c, "index_topk_freq");
    if (config_get(c, "indexer_types")) {
        config_put_list(c, "model.mixers", "indexer_types", words, 'D');
        return;
    }
    char *letters = config_letters(c, 'D');
    for (uint64_t i = 0; every > 1 && letters[i]; i++)
        if ((i + 1 > offset ? i + 1 - offset : 0) % every)
            letters[i] = 'S';
    config_put_letters(c, "model.mixers", letters, node ? config_given(node) : config_default(c, "indexer_types"));
}

void config_read_sparse(struct config *c)
{
    config_read_deepseek(c);
    read_indexer(c);
    put_indexers(c);
    config_find(c, "layer_types num_experts"); /* the same as indexer_types and n_routed_experts */
    if (!config_get(c, "mlp_layer_types"))
        return;
    settings_remove(c->settings, "model.dense_layers");
    config_put_feeds(c, "mlp_layer_types");
}

/* ---- DeepSeek-V4 ---- */

static void put_compression(struct config *c)
{
    static const struct config_word ratios[] = {{"0", 'w'}, {"4", 'c'}, {"128", 'h'}, {NULL, 0}};
    static const struct config_word types[] = {{"sliding_attention", 'w'},
                                               {"compressed_sparse_attention", 'c'},
                                               {"heavily_compressed_attention", 'h'},
                                               {NULL, 0}};
    const struct node *list = config_get(c, "compress_ratios"), *further = list ? list->first : NULL;
    if (list) {
        for (uint64_t i = settings_count(c->settings, "model.layers", 0); further && i; i--)
            further = further->next;
        if (further && further->kind == NODE_SCALAR && !strcmp(further->text, "0"))
            settings_put(c->settings, "model.prediction_mixers", "w", config_given(list));
        config_put_list(c, "model.mixers", "compress_ratios", ratios, 'w');
        config_put_fixed(c, "model.compression", "4");
        config_put_fixed(c, "model.heavy_compression", "128");
        config_find(c, "layer_types compress_rates");
        return;
    }
    config_put_list(c, "model.mixers", "layer_types", types, 'w');
    const struct node *outer = config_enter(c, "compress_rates");
    if (outer != c->root) {
        config_put_count(c, "model.compression", "compressed_sparse_attention", 4, true);
        config_put_count(c, "model.heavy_compression", "heavily_compressed_attention", 128, true);
    }
    c->root = outer;
}

/* What no layer of the model has may not be said of it. */
static void drop_unused(struct config *c)
{
    static const struct {
        const char *key, *letters;
    } own[] = {{"model.compression", "c"},
               {"model.heavy_compression", "h"},
               {"model.index_heads", "c"},
               {"model.index_size", "c"},
               {"model.index_top", "c"}};
    const char *mixers = settings_text(c->settings, "model.mixers", "");
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!strpbrk(mixers, own[i].letters))
            settings_remove(c->settings, own[i].key);
}

void config_read_deepseek_v4(struct config *c)
{
    config_put_count(c, "model.query_rank", "q_lora_rank", 0, true);
    config_put_count(c, "model.output_groups", "o_groups", 8, true);
    config_put_count(c, "model.output_rank", "o_lora_rank", 0, true);
    config_put_count(c, "model.window", "sliding_window", 128, true);
    config_put_count(c, "model.streams", "hc_mult", 4, true);
    config_put_fixed(c, "model.sinks", "true");
    config_find(c, "qk_rope_head_dim");
    put_compression(c);
    read_indexer(c);
    drop_unused(c);
    config_put_experts(c, "n_routed_experts", "moe_intermediate_size");
    config_put_count(c, "model.shared_experts", "n_shared_experts", 0, false);
    config_put_count(c, "model.hash_layers", "num_hash_layers", 0, false);
    config_put_fixed(c, "model.router_bias", "true");
}

/* ---- MiniMax M3: blocks of keys that an indexer picks ---- */

static void put_blocks(struct config *c)
{
    static const struct config_word words[] = {{"0", '*'}, {"1", 'B'}, {NULL, 0}};
    const struct node *outer = config_enter(c, "sparse_attention_config");
    if (outer == c->root || !config_flag(c, "use_sparse_attention", true)) {
        c->root = outer;
        return;
    }
    config_put_list(c, "model.mixers", "sparse_attention_freq", words, 'B');
    config_put_count(c, "model.index_heads", "sparse_num_index_heads", 4, true);
    config_put_count(c, "model.index_size", "sparse_index_dim", 128, true);
    config_put_count(c, "model.index_top", "sparse_topk_blocks", 16, true);
    config_put_count(c, "model.index_block", "sparse_block_size", 128, true);
    c->root = outer;
}

void config_read_minimax_m3(struct config *c)
{
    put_blocks(c);
    config_put_qk_norm(c, true);
    config_put_flag(c, "model.output_gate", "attention_output_gate", false);
    config_put_count(c, "model.experts", "num_local_experts", 0, true);
    config_put_count(c, "model.top_k", "num_experts_per_tok", 0, true);
    config_put_count(c, "model.expert_ffn", "moe_intermediate_size intermediate_size", 0, true);
    config_find(c, "intermediate_size first_k_dense_replace");
    config_put_shared(c, "n_shared_experts", "shared_intermediate_size");
    config_put_flag(c, "model.router_bias", "use_routing_bias", true);
    config_put_feeds(c, "moe_layer_freq");
}

/* ---- MiMo-V2: windowed layers with heads of their own ---- */

void config_read_mimo_v2(struct config *c)
{
    static const struct config_word words[] = {{"0", '*'}, {"1", 'W'}, {NULL, 0}};
    config_put_list(c, "model.mixers", "hybrid_layer_pattern", words, '*');
    config_put_count(c, "model.value_size", "v_head_dim", 0, false);
    config_put_count(c, "model.window", "sliding_window_size sliding_window", 128, true);
    if (strchr(settings_text(c->settings, "model.mixers", ""), 'W')) {
        config_put_count(c, "model.local_heads", "swa_num_attention_heads", 0, false);
        config_put_count(c, "model.local_kv_heads", "swa_num_key_value_heads", 0, false);
        config_put_count(c, "model.local_head_size", "swa_head_dim", 0, false);
        config_put_count(c, "model.local_value_size", "swa_v_head_dim", 0, false);
        config_put_flag(c, "model.local_sinks", "add_swa_attention_sink_bias", false);
    }
    config_put_flag(c, "model.sinks", "add_full_attention_sink_bias", false);
    config_find(c, "attention_chunk_size attention_value_scale");
    config_put_experts(c, "n_routed_experts", "moe_intermediate_size");
    config_put_count(c, "model.shared_experts", "n_shared_experts", 0, false);
    config_put_fixed(c, "model.router_bias", "true");
    config_put_feeds(c, "moe_layer_freq");
    config_find(c, "n_group topk_group");
}

/* ---- Gemma 4 ---- */

void config_refuse(struct config *c, const char *key, const char *what)
{
    const struct node *node = config_get(c, key);
    uint64_t count = 0;
    bool flag = false;
    bool none = node && ((node_count(node, &count) && !count) || (node_flag(node, &flag) && !flag));
    if (node && !none)
        diag_error(c->settings->diag, node->at,
                   "%s: %s are no kind of layer that stagesim has; expected 0, or a model "
                   "described by hand (doc/layer-kinds.md)",
                   key, what);
}

/* Layers that see all tokens have heads of another width, and with attention_k_eq_v one matrix for keys and values. */
static void put_global(struct config *c)
{
    const struct node *size = config_get(c, "global_head_dim"), *heads = config_get(c, "num_global_key_value_heads");
    uint64_t local = settings_count(c->settings, "model.head_size", 256),
             kv = settings_count(c->settings, "model.kv_heads", 0);
    bool same = config_flag(c, "attention_k_eq_v", false);
    settings_put_count(c->settings, "model.local_head_size", local, config_default(c, "head_dim"));
    if (kv)
        settings_put_count(c->settings, "model.local_kv_heads", kv, config_default(c, "num_key_value_heads"));
    if (size)
        settings_replace(
            c->settings, "model.head_size",
            arena_print(c->settings->arena, "%llu", (unsigned long long)config_count(c, "global_head_dim", 512)),
            config_given(size));
    if (same && heads)
        settings_replace(c->settings, "model.kv_heads",
                         arena_print(c->settings->arena, "%llu",
                                     (unsigned long long)config_count(c, "num_global_key_value_heads", kv)),
                         config_given(heads));
    config_put_flag(c, "model.keys_are_values", "attention_k_eq_v", false);
}

void config_read_gemma4(struct config *c)
{
    static const struct config_word words[] = {{"sliding_attention", 'W'}, {"full_attention", '*'}, {NULL, 0}};
    char *letters = config_letters(c, 'W');
    for (size_t i = 0, length = strlen(letters); i < length; i++)
        letters[i] = (i + 1) % 6 == 0 || i + 1 == length ? '*' : 'W';
    const struct node *types = config_get(c, "layer_types");
    if (!types || config_list_letters(c, types, words, letters))
        config_put_letters(c, "model.mixers", letters, types ? config_given(types) : config_default(c, "layer_types"));
    config_put_count(c, "model.window", "sliding_window", 1024, true);
    put_global(c);
    config_refuse(c, "num_kv_shared_layers", "keys and values that several layers share");
    config_refuse(c, "hidden_size_per_layer_input", "embeddings of each layer");
    config_refuse(c, "use_double_wide_mlp", "feed-forward blocks of twice the width");
    config_find(c, "vocab_size_per_layer_input use_bidirectional_attention");
    if (!config_flag(c, "enable_moe_block", false))
        return;
    config_put_count(c, "model.experts", "num_experts", 0, true);
    config_put_count(c, "model.top_k", "top_k_experts num_experts_per_tok", 0, true);
    config_put_count(c, "model.expert_ffn", "moe_intermediate_size expert_intermediate_size", 0, true);
    config_put_count(c, "model.shared_ffn", "intermediate_size", 0, true);
    config_put_fixed(c, "model.router_scales", "true");
    settings_replace(c->settings, "model.norms", "7", config_given(config_get(c, "enable_moe_block")));
}

/* ---- Llama 4: chunks, experts in every so-many-th layer ---- */

/* Layers with experts as they are listed, counted from 0. */
static void mark_experts(struct config *c, char *feeds)
{
    const struct node *list = config_get(c, "moe_layers");
    uint64_t number, count = strlen(feeds);
    if (!list || list->kind != NODE_LIST || !list->count)
        return;
    memset(feeds, '-', count);
    for (const struct node *each = list->first; each; each = each->next)
        if (node_count(each, &number) && number < count)
            feeds[number] = 'E';
        else
            diag_error(c->settings->diag, each->at, "moe_layers has %s; expected layers from 0 to %llu",
                       node_describe(each, c->settings->arena), (unsigned long long)count - 1);
}

void config_read_llama4(struct config *c)
{
    static const struct config_word ropes[] = {{"1", 'W'}, {"0", '*'}, {NULL, 0}};
    static const struct config_word types[] = {{"chunked_attention", 'W'}, {"full_attention", '*'}, {NULL, 0}};
    uint64_t every = config_count(c, "no_rope_layer_interval", 4),
             step = config_count(c, "interleave_moe_layer_step", 1);
    const struct node *list = config_get(c, "no_rope_layers"), *kinds = config_get(c, "layer_types");
    char *letters = config_letters(c, 'W'), *feeds = config_letters(c, '-');
    for (uint64_t i = 0; letters[i]; i++)
        letters[i] = every && (i + 1) % every == 0 ? '*' : 'W';
    for (uint64_t i = 0; feeds[i]; i++)
        feeds[i] = step && (i + 1) % step == 0 ? 'E' : '-';
    bool listed = list && list->kind == NODE_LIST && list->count, fine = true;
    if (kinds)
        fine = config_list_letters(c, kinds, types, letters);
    else if (listed)
        fine = config_list_letters(c, list, ropes, letters);
    if (fine)
        config_put_letters(c, "model.mixers", letters,
                           kinds    ? config_given(kinds)
                           : listed ? config_given(list)
                                    : config_default(c, "no_rope_layers"));
    config_put_count(c, "model.window", "attention_chunk_size", 8192, true);
    config_put_fixed(c, "model.chunked", "true");
    config_put_flag(c, "model.qk_norm", "use_qk_norm", true);
    config_put_fixed(c, "model.qk_norm_free", "true");
    config_put_count(c, "model.experts", "num_local_experts", 16, true);
    config_put_count(c, "model.top_k", "num_experts_per_tok", 1, true);
    config_put_count(c, "model.expert_ffn", "intermediate_size", 8192, true);
    config_put_fixed(c, "model.shared_experts", "1");
    const struct node *moe = config_get(c, "interleave_moe_layer_step");
    mark_experts(c, feeds);
    config_put_letters(c, "model.feeds", feeds,
                       moe ? config_given(moe) : config_default(c, "interleave_moe_layer_step"));
}
