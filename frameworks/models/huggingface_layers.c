/* SPDX-License-Identifier: Apache-2.0 */
/* Layers that differ from one another, experts, latent attention. */
#include "base/arena.h"
#include "frameworks/models/huggingface_parts.h"

#include <math.h>
#include <string.h>

/* ---- windows ---- */

/* Of a list of "sliding_attention" and "full_attention" the period of the full ones: 1, all are; 0, none is. */
static bool period_of(struct config *c, const struct node *types, uint64_t *period)
{
    uint64_t index = 0, full = 0, first = 0;
    bool regular = true;
    for (const struct node *each = types->first; each; each = each->next, index++) {
        bool all = each->kind == NODE_SCALAR && !strcmp(each->text, "full_attention");
        if (!all && (each->kind != NODE_SCALAR || strcmp(each->text, "sliding_attention") != 0)) {
            diag_error(c->settings->diag, each->at, "a layer of type %s; expected sliding_attention or full_attention",
                       node_describe(each, c->settings->arena));
            return false;
        }
        if (all && !full++)
            first = index + 1;
        regular &= all == (first && (index + 1) % first == 0);
    }
    *period = first;
    if (!regular) {
        *period = (uint64_t)fmax(2, round((double)index / (double)full));
        settings_remark(c->settings, REMARK_PARTIAL, types->key_at, types->key,
                        "%llu of %llu layers see all tokens, at no period: every %lluth is taken to",
                        (unsigned long long)full, (unsigned long long)index, (unsigned long long)*period);
    }
    return true;
}

static void put_window(struct config *c, uint64_t period, struct source from)
{
    config_put_count(c, "model.window", "sliding_window", c->family->window, false);
    if (period)
        settings_put_count(c->settings, "model.window_period", period, from);
}

void config_read_window(struct config *c)
{
    const struct node *window = config_find(c, "sliding_window"), *types = config_get(c, "layer_types");
    const struct node *pattern = config_get(c, "sliding_window_pattern _sliding_window_pattern");
    uint64_t period = config_count(c, "sliding_window_pattern _sliding_window_pattern", c->family->window_period);
    if (window && !node_given(window))
        return;
    if (!window && !c->family->window)
        return;
    if (types && types->kind == NODE_LIST && !period_of(c, types, &period))
        return;
    if (types && period == 1)
        return;
    put_window(c, period,
               types     ? config_given(types)
               : pattern ? config_given(pattern)
                         : config_default(c, "layer_types"));
}

void config_read_qwen_window(struct config *c)
{
    const struct node *slides = config_get(c, "use_sliding_window"), *types = config_get(c, "layer_types");
    uint64_t layers = settings_count(c->settings, "model.layers", 0),
             first = config_count(c, "max_window_layers", layers);
    config_find(c, "sliding_window");
    if (!config_flag(c, "use_sliding_window", false))
        return;
    if (types)
        config_read_window(c);
    else if (!first)
        put_window(c, 0, config_given(slides));
    else if (first < layers)
        settings_remark(c->settings, REMARK_PARTIAL, slides->key_at, slides->key,
                        "layers from the %lluth on have a window: all are taken to see all tokens",
                        (unsigned long long)first + 1);
}

/* ---- experts ---- */

void config_put_experts(struct config *c, const char *count, const char *inner)
{
    config_put_count(c, "model.experts", count, 0, true);
    config_put_count(c, "model.top_k", "num_experts_per_tok", 0, true);
    config_put_count(c, "model.expert_ffn", inner, 0, true);
}

void config_read_mixtral(struct config *c)
{
    config_put_experts(c, "num_local_experts", "intermediate_size");
    config_read_window(c);
}

void config_read_gpt_oss(struct config *c)
{
    config_put_count(c, "model.experts", "num_local_experts num_experts", 128, true);
    config_put_count(c, "model.top_k", "num_experts_per_tok experts_per_token", 4, true);
    config_put_count(c, "model.expert_ffn", "intermediate_size", 0, true);
    config_put_fixed(c, "model.router_bias", "true");
    config_put_fixed(c, "model.sinks", "true");
    config_find(c, "attention_bias");
    config_read_window(c);
}

/* Layers without experts: stagesim has them before all others, or at a period. */
static void read_dense_layers(struct config *c)
{
    const struct node *step = config_get(c, "decoder_sparse_step"), *dense = config_get(c, "mlp_only_layers");
    uint64_t every = config_count(c, "decoder_sparse_step", 1), index = 0, number;
    for (const struct node *each = dense ? dense->first : NULL; each; each = each->next, index++)
        if (!node_count(each, &number) || number != index || every != 1) {
            diag_error(c->settings->diag, each->at,
                       "layers without experts are %s; expected the first ones: stagesim cannot say others",
                       every != 1 ? "listed, and decoder_sparse_step says others" : "not the first");
            return;
        }
    if (step && every > 1) {
        settings_put_count(c->settings, "model.dense_layers", every - 1, config_given(step));
        settings_put_count(c->settings, "model.expert_period", every, config_given(step));
    } else if (index)
        settings_put_count(c->settings, "model.dense_layers", index, config_given(dense));
}

/* Shared experts of another width are as many of the routed ones' width as give it. */
static void read_shared(struct config *c)
{
    const struct node *node = config_get(c, "shared_expert_intermediate_size");
    uint64_t inner = settings_count(c->settings, "model.expert_ffn", 0),
             shared = config_count(c, "shared_expert_intermediate_size", 0);
    if (!node || !inner || !shared)
        return;
    if (shared % inner)
        diag_error(c->settings->diag, node->at,
                   "%llu is no multiple of moe_intermediate_size %llu; expected one: shared "
                   "experts are as wide as routed ones",
                   (unsigned long long)shared, (unsigned long long)inner);
    else
        settings_put_count(c->settings, "model.shared_experts", shared / inner,
                           source_given(node->key_at, "shared_expert_intermediate_size / moe_intermediate_size"));
}

void config_read_qwen_moe(struct config *c)
{
    config_put_experts(c, "num_experts", "moe_intermediate_size");
    read_dense_layers(c);
    read_shared(c);
    if (settings_find(c->settings, "model.shared_experts"))
        config_put_fixed(c, "model.shared_gate", "true");
    config_find(c, "qkv_bias use_qk_norm"); /* the architecture has none of the former, all of the latter */
    config_read_qwen_window(c);
}

/* Shared experts together are as wide as the file says, whatever routed ones are. */
void config_read_qwen_experts(struct config *c)
{
    config_put_experts(c, "num_experts", "moe_intermediate_size");
    read_dense_layers(c);
    config_put_shared(c, "n_shared_experts", "shared_expert_intermediate_size");
    if (settings_find(c->settings, "model.shared_ffn"))
        config_put_fixed(c, "model.shared_gate", "true");
}

/* ---- DeepSeek: latent attention, groups of experts ---- */

void config_read_latent(struct config *c)
{
    const struct node *query = config_find(c, "q_lora_rank");
    if (query && !node_given(query))
        settings_put(c->settings, "model.query_rank", "0", config_given(query));
    else
        config_put_count(c, "model.query_rank", "q_lora_rank", 1536, false);
    config_put_count(c, "model.kv_rank", "kv_lora_rank", 512, true);
    config_put_count(c, "model.head_size", "qk_nope_head_dim", 128, true);
    config_put_count(c, "model.rope_size", "qk_rope_head_dim", 64, true);
    config_put_count(c, "model.value_size", "v_head_dim", 128, true);
    config_find(c, "head_dim qk_head_dim");
}

void config_read_groups(struct config *c, bool third)
{
    uint64_t groups = config_count(c, "n_group", third ? 8 : 1);
    config_find(c, "topk_group");
    if (groups <= 1)
        return;
    config_put_count(c, "model.expert_groups", "n_group", third ? 8 : 0, false);
    config_put_count(c, "model.top_groups", "topk_group", third ? 4 : 0, true);
}

/* moe_layer_freq counts from the first layer, stagesim from the first with experts. */
static void read_frequency(struct config *c, uint64_t dense)
{
    const struct node *node = config_get(c, "moe_layer_freq");
    uint64_t every = config_count(c, "moe_layer_freq", 1);
    if (every <= 1)
        return;
    settings_put_count(c->settings, "model.expert_period", every, config_given(node));
    uint64_t first = (dense + every - 1) / every * every;
    settings_replace(c->settings, "model.dense_layers",
                     arena_print(c->settings->arena, "%llu", (unsigned long long)first),
                     source_given(node->key_at, "first_k_dense_replace, moe_layer_freq"));
}

void config_read_deepseek(struct config *c)
{
    bool third = strcmp(c->family->type, "deepseek_v2") != 0;
    config_read_latent(c);
    if (!config_get(c, "n_routed_experts"))
        return;
    config_put_experts(c, "n_routed_experts", "moe_intermediate_size");
    config_put_count(c, "model.shared_experts", "n_shared_experts", 0, false);
    uint64_t dense = config_put_count(c, "model.dense_layers", "first_k_dense_replace", third ? 3 : 0, false);
    read_frequency(c, dense);
    config_read_groups(c, third);
    if (third)
        config_put_fixed(c, "model.router_bias", "true");
}

/* GLM 4.5: experts as DeepSeek's, attention as Llama's. */
void config_read_glm_experts(struct config *c)
{
    config_put_experts(c, "n_routed_experts", "moe_intermediate_size");
    config_put_count(c, "model.shared_experts", "n_shared_experts", 0, false);
    uint64_t dense = config_put_count(c, "model.dense_layers", "first_k_dense_replace", 1, false);
    read_frequency(c, dense);
    config_read_groups(c, false);
    config_put_fixed(c, "model.router_bias", "true");
    config_put_qk_norm(c, false);
}

/* As those of GLM 4.5, but all queries and keys are normalised. */
void config_read_dots(struct config *c)
{
    config_read_qwen_window(c);
    config_put_experts(c, "n_routed_experts", "moe_intermediate_size");
    config_put_count(c, "model.shared_experts", "n_shared_experts", 0, false);
    read_frequency(c, config_put_count(c, "model.dense_layers", "first_k_dense_replace", 1, false));
    config_read_groups(c, false);
    config_put_fixed(c, "model.router_bias", "true");
}
