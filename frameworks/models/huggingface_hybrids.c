/* SPDX-License-Identifier: Apache-2.0 */
/* Architectures with Mamba-2 or linear attention, and those whose layers have unequal shapes. Keys and defaults are
 * those of transformers' configuration files: nemotron_h @ 13923c63, qwen3_5, kimi_k3 @ aa83b548, minimax;
 * nemotron-nas. */
#include "base/arena.h"
#include "base/quantity.h"
#include "frameworks/models/huggingface_parts.h"
#include "frameworks/models/unequal.h"

#include <string.h>

/* ---- Qwen3-Next, Qwen3.5: gated delta net, every fourth layer attention ---- */

static void put_period(struct config *c, char letter)
{
    uint64_t interval = config_count(c, "full_attention_interval", 4);
    const struct node *node = config_get(c, "full_attention_interval");
    char *letters = config_letters(c, letter);
    for (uint64_t i = 0; letters[i]; i++)
        if (interval && (i + 1) % interval == 0)
            letters[i] = '*';
    config_put_letters(c, "model.mixers", letters,
                       node ? config_given(node) : config_default(c, "full_attention_interval"));
}

static void read_linear_shape(struct config *c)
{
    config_put_count(c, "model.linear_key_heads", "linear_num_key_heads", 16, true);
    config_put_count(c, "model.linear_value_heads", "linear_num_value_heads", 32, true);
    config_put_count(c, "model.linear_key_size", "linear_key_head_dim", 128, true);
    config_put_count(c, "model.linear_value_size", "linear_value_head_dim", 128, true);
    config_put_count(c, "model.convolution", "linear_conv_kernel_dim", 4, true);
}

void config_read_qwen_hybrid(struct config *c)
{
    static const struct config_word words[] = {{"linear_attention", 'G'}, {"full_attention", '*'}, {NULL, 0}};
    if (config_get(c, "layer_types")) {
        config_find(c, "full_attention_interval");
        config_put_list(c, "model.mixers", "layer_types", words, 'G');
    } else {
        put_period(c, 'G');
    }
    read_linear_shape(c);
    config_put_flag(c, "model.output_gate", "attn_output_gate", true);
    config_find(c, "mlp_only_layers");
    if (config_get(c, "num_experts"))
        config_read_qwen_experts(c);
}

/* ---- Nemotron-H and 3: a letter for each layer, one block each ---- */

/* How many layers there are, where the file does not say but in its list. */
static void put_layers(struct config *c, const struct node *list)
{
    if (settings_find(c->settings, "model.layers") || !list)
        return;
    uint64_t count = list->kind == NODE_LIST ? list->count : list->kind == NODE_SCALAR ? strlen(list->text) : 0;
    settings_put_count(c->settings, "model.layers", count, config_given(list));
}

/* Experts, and Mamba-2, where a layer has them. */
static void read_nemotron_blocks(struct config *c, const char *pattern)
{
    if (strchr(pattern, 'M')) {
        config_put_count(c, "model.mamba_heads", "mamba_num_heads", 128, true);
        config_put_count(c, "model.mamba_head_size", "mamba_head_dim", 64, true);
        config_put_count(c, "model.mamba_groups", "n_groups mamba_n_groups", 8, true);
        config_put_count(c, "model.mamba_state", "ssm_state_size", 128, true);
        config_put_count(c, "model.convolution", "conv_kernel", 4, true);
        config_put_count(c, "model.chunk", "chunk_size", 128, true);
        if (!config_flag(c, "use_conv_bias", true))
            settings_remark(c->settings, REMARK_PARTIAL, config_get(c, "use_conv_bias")->key_at, "use_conv_bias",
                            "the convolution's bias is counted all the same");
    }
    if (!strchr(pattern, 'E'))
        return;
    config_put_experts(c, "n_routed_experts", "moe_intermediate_size");
    config_put_count(c, "model.expert_width", "moe_latent_size", 0, false);
    config_put_shared(c, "n_shared_experts", "moe_shared_expert_intermediate_size");
    config_put_fixed(c, "model.router_bias", "true");
}

void config_read_nemotron(struct config *c)
{
    static const struct config_word words[] = {{"mamba", 'M'},     {"linear_attention", 'M'},
                                               {"attention", '*'}, {"full_attention", '*'},
                                               {"moe", 'E'},       {"mlp", '-'},
                                               {NULL, 0}};
    const struct node *list = config_get(c, "layers_block_type"), *text = config_get(c, "hybrid_override_pattern");
    put_layers(c, list ? list : text);
    if (!list && !text) {
        diag_error(c->settings->diag, c->root->at,
                   "the file has no 'hybrid_override_pattern' and no 'layers_block_type', of which a model of type %s "
                   "needs one",
                   c->family->type);
        return;
    }
    char *letters = config_letters(c, '.');
    if (list && !config_list_letters(c, list, words, letters))
        return;
    if (!list && text->kind == NODE_SCALAR && strlen(text->text) == strlen(letters))
        memcpy(letters, text->text, strlen(letters));
    else if (!list) {
        diag_error(c->settings->diag, text->at, "%s is %s; expected a letter for each of %zu layers", text->key,
                   node_describe(text, c->settings->arena), strlen(letters));
        return;
    }
    config_find(c, "n_group topk_group sliding_window");
    read_nemotron_blocks(c, letters);
    settings_put(c->settings, "model.pattern", letters, config_given(list ? list : text));
}

/* ---- Kimi Linear and K3: delta attention and latent attention ---- */

/* Lists of layers, counted from 1. */
static void mark_layers(struct config *c, const char *key, char letter, char *letters)
{
    const struct node *list = config_get(c, key);
    uint64_t number, count = strlen(letters);
    for (const struct node *each = list ? list->first : NULL; each; each = each->next)
        if (node_count(each, &number) && number >= 1 && number <= count)
            letters[number - 1] = letter;
        else
            diag_error(c->settings->diag, each->at, "%s has %s; expected layers from 1 to %llu", key,
                       node_describe(each, c->settings->arena), (unsigned long long)count);
}

static void read_linear_config(struct config *c)
{
    const struct node *map = config_get(c, "linear_attn_config"), *outer = config_enter(c, "linear_attn_config");
    char *letters = config_letters(c, map ? 'K' : '*');
    if (!map)
        return;
    mark_layers(c, "kda_layers", 'K', letters);
    mark_layers(c, "full_attn_layers", '*', letters);
    config_put_count(c, "model.linear_value_heads", "num_heads", 0, true);
    config_put_count(c, "model.linear_key_size", "head_dim", 128, true);
    config_put_count(c, "model.convolution", "short_conv_kernel_size", 4, true);
    config_put_flag(c, "model.linear_full_gate", "use_full_rank_gate", false);
    c->root = outer;
    config_put_letters(c, "model.mixers", letters, config_given(map));
}

void config_read_kimi_linear(struct config *c)
{
    config_read_latent(c);
    read_linear_config(c);
    config_put_flag(c, "model.output_gate", "mla_use_output_gate", false);
    config_put_count(c, "model.residual_blocks", "attn_res_block_size", 0, false);
    if (!config_get(c, "num_experts"))
        return;
    config_put_count(c, "model.experts", "num_experts", 0, true);
    config_put_count(c, "model.top_k", "num_experts_per_token num_experts_per_tok", 0, true);
    config_put_count(c, "model.expert_ffn", "moe_intermediate_size", 0, true);
    config_put_count(c, "model.shared_experts", "num_shared_experts", 0, false);
    config_put_count(c, "model.dense_layers", "first_k_dense_replace", 0, false);
    config_put_count(c, "model.expert_width", "routed_expert_hidden_size", 0, false);
    if (settings_find(c->settings, "model.expert_width"))
        config_put_flag(c, "model.expert_width_norm", "latent_moe_use_norm", false);
    config_put_fixed(c, "model.router_bias", "true");
    config_find(c, "num_expert_group topk_group moe_layer_freq");
}

/* ---- MiniMax-Text-01 and M1: lightning attention; M2: attention alone ---- */

static void put_minimax_experts(struct config *c)
{
    config_put_experts(c, "num_local_experts", "intermediate_size");
    config_put_shared(c, "n_shared_experts", "shared_intermediate_size");
    config_put_flag(c, "model.router_bias", "use_routing_bias", false);
}

void config_read_minimax(struct config *c)
{
    static const struct config_word words[] = {
        {"0", 'L'}, {"1", '*'}, {"linear_attention", 'L'}, {"full_attention", '*'}, {NULL, 0}};
    bool lightning = strcmp(c->family->type, "minimax_m2") != 0;
    put_minimax_experts(c);
    config_find(c, "attn_type_list layer_types sliding_window");
    if (!lightning) {
        config_put_qk_norm(c, true);
        return;
    }
    config_put_list(c, "model.mixers", "attn_type_list layer_types", words, 'L');
    config_put_count(c, "model.linear_value_heads", "num_attention_heads", 0, true);
    config_put_count(c, "model.linear_key_size", "head_dim", 128, true);
    config_put_count(c, "model.chunk", "block_size", 256, true);
}

/* ---- Nemotron NAS: blocks of unequal size ---- */

void config_read_nas(struct config *c)
{
    const struct node *list = config_get(c, "block_configs");
    config_find(c, "num_key_value_heads intermediate_size");
    unequal_read(list, list ? list->at : c->root->at, list ? config_given(list) : (struct source){0}, c->settings);
}
