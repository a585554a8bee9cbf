/* SPDX-License-Identifier: Apache-2.0 */
/* Architectures whose feed-forward blocks or experts have keys of their own, beside attention and Mamba-2 as others
 * have them. Keys, defaults and shapes are those of transformers' code: apertus @ 008e5743, hunyuan_v1_dense @
 * 05cd1ec1, hunyuan_v1_moe @ 05bf8f64, granitemoehybrid @ 023633dd, lfm2 @ 02f41779; of Ling, the code beside its
 * weights (bailing_moe).
 */
#include "base/arena.h"
#include "frameworks/models/huggingface_parts.h"

#include <math.h>
#include <string.h>

/* ---- Apertus ---- */

/* Each block's activation learns two numbers (xIELU, arXiv 2411.13010). */
void config_read_apertus(struct config *c)
{
    const struct node *activation = config_get(c, "hidden_act");
    if (!activation || (activation->kind == NODE_SCALAR && !strcmp(activation->text, "xielu")))
        settings_put(c->settings, "model.activation_parameters", "2",
                     activation ? config_given(activation) : config_default(c, "hidden_act"));
}

/* ---- Ling ---- */

void config_read_ling(struct config *c)
{
    const struct node *bias = config_get(c, "use_bias");
    config_put_flag(c, "model.qkv_biases", "use_qkv_bias", false);
    if (bias && config_flag(c, "use_bias", false))
        settings_remark(c->settings, REMARK_PARTIAL, bias->key_at, bias->key,
                        "the bias of the attention's output, hidden parameters a layer, is left out");
    config_put_flag(c, "model.qk_norm", "use_qk_norm", false);
    config_read_qwen_window(c);
    config_put_experts(c, "num_experts", "moe_intermediate_size");
    config_put_count(c, "model.shared_experts", "num_shared_experts", 0, false);
    config_put_count(c, "model.dense_layers", "first_k_dense_replace", 0, false);
    config_read_groups(c, false);
    config_put_flag(c, "model.router_bias", "moe_router_enable_expert_bias", false);
}

/* ---- Hunyuan ---- */

/* A count, or a list that has the same one for each layer. */
static uint64_t put_even(struct config *c, const char *key, const char *name, uint64_t other)
{
    const struct node *node = config_get(c, name);
    uint64_t first = other, count, layers = settings_count(c->settings, "model.layers", 0);
    if (!node || node->kind != NODE_LIST)
        return config_put_count(c, key, name, other, !other);
    if (node->count < layers || !node->count) {
        diag_error(c->settings->diag, node->at, "%s has %zu values, the model %llu layers; expected one value for each",
                   node->key, node->count, (unsigned long long)layers);
        return other;
    }
    for (const struct node *each = node->first; each; each = each->next) {
        if (!node_count(each, &count) || (each != node->first && count != first)) {
            diag_error(c->settings->diag, each->at, "%s has %s; expected the same count for all layers", node->key,
                       node_describe(each, c->settings->arena));
            return other;
        }
        first = count;
    }
    settings_put_count(c->settings, key, first, config_given(node));
    return first;
}

void config_read_hunyuan(struct config *c)
{
    config_find(c, "use_qk_norm"); /* all have it */
    config_refuse(c, "use_cla", "keys and values that several layers share");
    config_refuse(c, "use_mla", "this form of latent attention");
}

void config_read_hunyuan_experts(struct config *c)
{
    config_read_hunyuan(c);
    config_find(c, "sliding_window use_mixed_mlp_moe moe_drop_tokens moe_random_routing_dropped_token");
    put_even(c, "model.experts", "num_experts", 0);
    put_even(c, "model.top_k", "moe_topk", 1);
    put_even(c, "model.expert_ffn",
             config_get(c, "moe_intermediate_size") ? "moe_intermediate_size" : "intermediate_size", 0);
    put_even(c, "model.shared_experts", "num_shared_expert", 1);
}

/* ---- Granite 4: Mamba-2 and attention, each with a feed-forward block, some with experts beside it ---- */

static void read_granite_mamba(struct config *c)
{
    const struct node *size = config_get(c, "mamba_d_head"), *expand = config_get(c, "mamba_expand");
    uint64_t hidden = settings_count(c->settings, "model.hidden", 0), times = config_count(c, "mamba_expand", 2);
    uint64_t heads = config_put_count(c, "model.mamba_heads", "mamba_n_heads", 128, true);
    if (size && (size->kind != NODE_SCALAR || strcmp(size->text, "auto") != 0))
        config_put_count(c, "model.mamba_head_size", "mamba_d_head", 0, true);
    else if (heads && settings_product(times, hidden) % heads == 0)
        settings_put_count(c->settings, "model.mamba_head_size", settings_product(times, hidden) / heads,
                           expand ? config_given(expand) : config_default(c, "mamba_d_head"));
    else
        diag_error(c->settings->diag, c->root->at,
                   "mamba_expand x hidden_size cannot be divided over %llu heads, and there is no mamba_d_head",
                   (unsigned long long)heads);
    config_put_count(c, "model.mamba_groups", "mamba_n_groups", 1, true);
    config_put_count(c, "model.mamba_state", "mamba_d_state", 256, true);
    config_put_count(c, "model.convolution", "mamba_d_conv", 4, true);
    config_put_count(c, "model.chunk", "mamba_chunk_size", 256, true);
    if (!config_flag(c, "mamba_conv_bias", true))
        settings_remark(c->settings, REMARK_PARTIAL, config_get(c, "mamba_conv_bias")->key_at, "mamba_conv_bias",
                        "the convolution's bias is counted all the same");
}

void config_read_granite(struct config *c)
{
    static const struct config_word words[] = {{"mamba", 'M'}, {"attention", '*'}, {NULL, 0}};
    const struct node *types = config_get(c, "layer_types layers_block_type");
    const struct node *width = config_get(c, "shared_intermediate_size");
    uint64_t inner = config_count(c, "shared_intermediate_size", 1024);
    config_put_list(c, "model.mixers", "layer_types layers_block_type", words, 'M');
    if (!types || strchr(settings_text(c->settings, "model.mixers", ""), 'M'))
        read_granite_mamba(c);
    else
        config_find(c, "mamba_n_heads mamba_d_head mamba_n_groups mamba_d_state mamba_d_conv mamba_chunk_size "
                       "mamba_conv_bias mamba_proj_bias mamba_expand");
    if (!config_count(c, "num_local_experts", 8)) {
        config_find(c, "num_experts_per_tok intermediate_size");
        settings_remove(c->settings, "model.ffn");
        config_put_count(c, "model.ffn", "shared_intermediate_size", 1024, true);
        return;
    }
    config_put_count(c, "model.experts", "num_local_experts", 8, true);
    config_put_count(c, "model.top_k", "num_experts_per_tok", 2, true);
    config_put_count(c, "model.expert_ffn", "intermediate_size", 0, true);
    config_put_fixed(c, "model.shared_experts", "1");
    settings_put_count(c->settings, "model.shared_ffn", inner,
                       width ? config_given(width) : config_default(c, "shared_intermediate_size"));
}

/* ---- LFM2: short convolutions, in some layers attention ---- */

/* Two thirds of what the file says, times a factor, up to a multiple; null in place of the factor leaves two thirds. */
static void put_adjusted(struct config *c)
{
    static const char *const width = "block_ff_dim intermediate_size";
    enum { COLUMNS_MAX = 1 << 24 }; /* as of model.ffn */
    const struct node *given = config_get(c, width), *factor = config_find(c, "block_ffn_dim_multiplier");
    uint64_t inner = config_count(c, width, 0), multiple = config_positive(c, "block_multiple_of", 256);
    double times = 1;
    if (!config_flag(c, "block_auto_adjust_ff_dim", true) || !inner || !multiple)
        return;
    bool is_factor = !node_given(factor) || node_number(factor, &times);
    double columns = floor(times * floor(2 * (double)inner / 3));
    if (!is_factor || !(columns >= 1 && columns <= COLUMNS_MAX)) {
        const struct node *wrong = node_given(factor) && inner <= COLUMNS_MAX ? factor : given;
        diag_error(c->settings->diag, wrong->at, "%s is %s; expected a value with which blocks have 1 to %d columns",
                   wrong->key, node_describe(wrong, c->settings->arena), COLUMNS_MAX);
        return;
    }
    uint64_t whole = (uint64_t)columns;
    if (!factor || node_given(factor))
        whole = settings_product((whole + multiple - 1) / multiple, multiple);
    settings_replace(c->settings, "model.ffn", arena_print(c->settings->arena, "%llu", (unsigned long long)whole),
                     config_given(given));
}

/* Layers with attention: as they are listed, or all. */
static void mark_attention(struct config *c, const struct node *list, char *letters)
{
    uint64_t number, count = strlen(letters);
    memset(letters, 'C', count);
    if (list->kind != NODE_LIST)
        diag_error(c->settings->diag, list->at, "full_attn_idxs is %s; expected a list of layers",
                   node_describe(list, c->settings->arena));
    for (const struct node *each = list->kind == NODE_LIST && count ? list->first : NULL; each; each = each->next)
        if (node_count(each, &number) && number < count)
            letters[number] = '*';
        else
            diag_error(c->settings->diag, each->at, "full_attn_idxs has %s; expected layers from 0 to %llu",
                       node_describe(each, c->settings->arena), (unsigned long long)count - 1);
}

void config_read_lfm2(struct config *c)
{
    static const struct config_word words[] = {{"conv", 'C'}, {"full_attention", '*'}, {NULL, 0}};
    const struct node *types = config_get(c, "layer_types"), *list = config_get(c, "full_attn_idxs"),
                      *tied = config_get(c, "tie_embedding");
    char *letters = config_letters(c, '*');
    if (!types && list)
        mark_attention(c, list, letters);
    if (types)
        config_put_list(c, "model.mixers", "layer_types", words, 'C');
    else
        config_put_letters(c, "model.mixers", letters, list ? config_given(list) : config_default(c, "layer_types"));
    if (strchr(settings_text(c->settings, "model.mixers", ""), 'C'))
        config_put_count(c, "model.convolution", "conv_L_cache", 3, true);
    if (tied)
        settings_replace(c->settings, "model.tied", config_flag(c, "tie_embedding", true) ? "true" : "false",
                         config_given(tied));
    config_find(c,
                "conv_L_cache conv_dim conv_dim_out conv_use_xavier_init block_dim block_norm_eps block_mlp_init_scale "
                "block_out_init_scale block_use_swiglu block_use_xavier_init use_pos_enc num_heads theta");
    config_refuse(c, "conv_bias", "short convolutions with biases");
    put_adjusted(c);
}
