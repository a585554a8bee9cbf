/* SPDX-License-Identifier: Apache-2.0 */
#include "frameworks/models/huggingface.h"

#include "base/arena.h"
#include "frameworks/models/huggingface_parts.h"

#include <math.h>
#include <string.h>

/* ---- parts that only some architectures have ---- */

static void read_bert(struct config *c)
{
    config_put_count(c, "model.token_types", "type_vocab_size", 0, true);
    config_put_fixed(c, "model.embedding_norm", "true");
    config_put_fixed(c, "model.final_norm", "false");
    config_put_fixed(c, "model.pooler", "true");
    if (!config_flag(c, "is_decoder", false))
        config_put_fixed(c, "model.causal", "false");
    settings_remark(c->settings, REMARK_CHOICE, c->root->at, "model",
                    "the head of pre-training is not counted, as in published totals: --set model.head_transform=true, "
                    "head_bias and next_sentence add it");
}

static void read_phi(struct config *c)
{
    config_put_fixed(c, "model.head_bias", "true");
    config_put_flag(c, "model.qk_norm", "qk_layernorm", false);
}

static void read_opt(struct config *c)
{
    const struct node *before = config_get(c, "do_layer_norm_before"), *size = config_get(c, "word_embed_proj_dim");
    uint64_t width = config_count(c, "word_embed_proj_dim", 0), hidden = settings_count(c->settings, "model.hidden", 0);
    if (before && !config_flag(c, "do_layer_norm_before", true))
        settings_put(c->settings, "model.final_norm", "false", source_given(before->key_at, before->key));
    if (size && width && hidden && width != hidden)
        diag_error(
            c->settings->diag, size->at,
            "the embedding is %llu wide and the layers %llu; expected the same width: stagesim has no projection "
            "between them",
            (unsigned long long)width, (unsigned long long)hidden);
}

/* Heads of keys and values, and normalisations: one before both blocks in 7B, one for each in 40B and 180B. */
static void read_falcon(struct config *c)
{
    uint64_t heads = settings_count(c->settings, "model.heads", 1);
    bool decoder = config_flag(c, "new_decoder_architecture", false), shared = config_flag(c, "multi_query", true);
    bool parallel = config_flag(c, "parallel_attn", true);
    const struct node *kv = config_get(c, "num_kv_heads n_head_kv");
    struct source from = config_default(c, "new_decoder_architecture");
    uint64_t norms = config_count(c, "num_ln_in_parallel_attn", decoder || !parallel ? 2 : 1);
    if (decoder && kv)
        config_put_count(c, "model.kv_heads", "num_kv_heads n_head_kv", 0, true);
    else
        settings_put_count(c->settings, "model.kv_heads", decoder || !shared ? heads : 1, from);
    settings_put_count(c->settings, "model.norms", norms, from);
}

/* Queries and keys of all heads of a token are normalised together. Each block has one normalisation as others do, but
 * behind it: as many parameters and bytes. */
static void read_olmo(struct config *c)
{
    config_put_fixed(c, "model.qk_norm", "true");
    config_put_fixed(c, "model.qk_norm_whole", "true");
    config_read_window(c);
}

/* ---- architectures ---- */

static const struct huggingface_family families[] = {
    {"apertus", .rms = true, .biases = "attention_bias", .qk_norm = true, .read = config_read_apertus},
    {"bailing_moe", .rms = true, .gated = true, .biases = "false", .read = config_read_ling},
    {"bailing_moe_v2", .rms = true, .gated = true, .biases = "false", .read = config_read_ling},
    {"bert", .tied = true, .dropout = true, .biases = "true", .position_key = "max_position_embeddings",
     .read = read_bert},
    {"deepseek_v2", .rms = true, .gated = true, .biases = "attention_bias", .read = config_read_deepseek},
    {"deepseek_v3", .rms = true, .gated = true, .biases = "attention_bias", .read = config_read_deepseek},
    {"deepseek_v32", .rms = true, .gated = true, .biases = "attention_bias", .read = config_read_sparse},
    {"deepseek_v4", .rms = true, .gated = true, .biases = "attention_bias", .head_size = 512, .no_ffn = true,
     .read = config_read_deepseek_v4},
    {"dots1", .rms = true, .gated = true, .biases = "attention_bias of qkv", .qk_norm = true, .read = config_read_dots},
    {"ernie4_5", .rms = true, .gated = true, .tied = true, .biases = "use_bias", .head_size = 128},
    {"falcon", .tied = true, .biases = "bias", .read = read_falcon},
    {"gemma", .rms = true, .gated = true, .tied = true, .biases = "attention_bias", .head_size = 256},
    {"gemma2", .rms = true, .gated = true, .tied = true, .biases = "attention_bias", .head_size = 256, .norms = 4,
     .window = 4096, .window_period = 2, .read = config_read_window},
    {"gemma3_text", .rms = true, .gated = true, .tied = true, .biases = "attention_bias", .head_size = 256, .norms = 4,
     .qk_norm = true, .window = 4096, .window_period = 6, .read = config_read_window},
    {"gemma4_text", .rms = true, .gated = true, .tied = true, .biases = "attention_bias", .head_size = 256, .norms = 4,
     .qk_norm = true, .read = config_read_gemma4},
    {"glm4_moe", .rms = true, .gated = true, .biases = "attention_bias of qkv", .head_size = 128,
     .read = config_read_glm_experts},
    {"glm_moe_dsa", .rms = true, .gated = true, .biases = "attention_bias", .read = config_read_sparse},
    {"gpt2", .tied = true, .dropout = true, .biases = "true", .position_key = "n_positions n_ctx"},
    {"gpt_oss", .rms = true, .gated = true, .biases = "true", .head_size = 64, .window = 128, .window_period = 2,
     .read = config_read_gpt_oss},
    {"granitemoehybrid", .rms = true, .gated = true, .biases = "attention_bias", .no_ffn = true,
     .read = config_read_granite},
    {"hunyuan_v1_dense", .rms = true, .gated = true, .biases = "attention_bias", .qk_norm = true,
     .read = config_read_hunyuan},
    {"hunyuan_v1_moe", .rms = true, .gated = true, .biases = "attention_bias", .qk_norm = true,
     .read = config_read_hunyuan_experts},
    {"kimi_k2", .rms = true, .gated = true, .biases = "attention_bias", .read = config_read_deepseek},
    {"kimi_linear", .rms = true, .gated = true, .biases = "false", .read = config_read_kimi_linear},
    {"lfm2", .rms = true, .gated = true, .tied = true, .biases = "false", .kv_heads = 8, .qk_norm = true,
     .ffn_key = "block_ff_dim intermediate_size", .read = config_read_lfm2},
    {"llama", .rms = true, .gated = true, .biases = "attention_bias"},
    {"llama4_text", .rms = true, .gated = true, .biases = "attention_bias", .head_size = 128,
     .ffn_key = "intermediate_size_mlp", .read = config_read_llama4},
    {"mimo", .rms = true, .gated = true, .biases = "qkv", .read = config_read_qwen_window},
    {"mimo_v2_flash", .rms = true, .gated = true, .biases = "attention_bias", .read = config_read_mimo_v2},
    {"minimax", .rms = true, .gated = true, .biases = "false", .read = config_read_minimax},
    {"minimax_m2", .rms = true, .gated = true, .biases = "false", .read = config_read_minimax},
    {"minimax_m3", .rms = true, .gated = true, .biases = "false", .ffn_key = "dense_intermediate_size",
     .read = config_read_minimax_m3},
    {"minimax_text_01", .rms = true, .gated = true, .biases = "false", .read = config_read_minimax},
    {"mistral", .rms = true, .gated = true, .biases = "false", .kv_heads = 8, .window = 4096,
     .read = config_read_window},
    {"mixtral", .rms = true, .gated = true, .biases = "false", .read = config_read_mixtral},
    {"nemotron-nas", .rms = true, .gated = true, .biases = "attention_bias", .no_ffn = true, .read = config_read_nas},
    {"nemotron_h", .rms = true, .biases = "attention_bias", .counts_layers = true, .read = config_read_nemotron},
    {"olmo2", .rms = true, .gated = true, .biases = "attention_bias", .read = read_olmo},
    {"olmo3", .rms = true, .gated = true, .biases = "attention_bias", .window = 4096, .window_period = 4,
     .read = read_olmo},
    {"opt", .tied = true, .dropout = true, .biases = "enable_bias", .position_key = "max_position_embeddings",
     .positions_more = 2, .read = read_opt},
    {"phi", .biases = "true", .norms = 1, .read = read_phi},
    {"phi3", .rms = true, .gated = true, .biases = "attention_bias", .read = config_read_window},
    {"qwen2", .rms = true, .gated = true, .biases = "qkv", .read = config_read_qwen_window},
    {"qwen2_5_omni_text", .rms = true, .gated = true, .biases = "qkv", .read = config_read_qwen_window},
    {"qwen2_5_vl", .rms = true, .gated = true, .biases = "qkv", .read = config_read_qwen_window},
    {"qwen2_5_vl_text", .rms = true, .gated = true, .biases = "qkv", .read = config_read_qwen_window},
    {"qwen2_moe", .rms = true, .gated = true, .biases = "qkv", .read = config_read_qwen_moe},
    {"qwen3", .rms = true, .gated = true, .biases = "attention_bias", .qk_norm = true, .read = config_read_qwen_window},
    {"qwen3_5_moe_text", .rms = true, .gated = true, .biases = "attention_bias", .qk_norm = true, .head_size = 256,
     .no_ffn = true, .read = config_read_qwen_hybrid},
    {"qwen3_5_text", .rms = true, .gated = true, .biases = "attention_bias", .qk_norm = true, .head_size = 256,
     .read = config_read_qwen_hybrid},
    {"qwen3_moe", .rms = true, .gated = true, .biases = "attention_bias", .qk_norm = true,
     .read = config_read_qwen_moe},
    {"qwen3_next", .rms = true, .gated = true, .biases = "attention_bias", .qk_norm = true, .head_size = 256,
     .no_ffn = true, .read = config_read_qwen_hybrid},
    {"qwen3_omni_moe_text", .rms = true, .gated = true, .biases = "attention_bias", .qk_norm = true,
     .read = config_read_qwen_moe},
    {"qwen3_vl_moe_text", .rms = true, .gated = true, .biases = "attention_bias", .qk_norm = true,
     .read = config_read_qwen_moe},
    {"qwen3_vl_text", .rms = true, .gated = true, .biases = "attention_bias", .qk_norm = true,
     .read = config_read_qwen_window},
    {"seed_oss", .rms = true, .gated = true, .biases = "attention_bias of qkv", .head_size = 128},
    {"smollm3", .rms = true, .gated = true, .tied = true, .biases = "attention_bias", .read = config_read_qwen_window},
};

enum { FAMILIES = sizeof families / sizeof *families };

/* Change time or memory, and no key says so. */
static const struct {
    const char *key, *text;
} partial[] = {
    {"num_nextn_predict_layers", "layers that predict further tokens are left out, as in published totals: --set "
                                 "model.predictions=1 adds one"},
    {"mtp_num_hidden_layers", "layers that predict further tokens are left out, as in published totals: --set "
                              "model.predictions=1 adds one"},
    {"num_mtp_modules", "layers that predict further tokens are left out, as in published totals: --set "
                        "model.predictions=1 adds one"},
    {"mamba_proj_bias", "biases of Mamba's matrices are left out"},
    {"use_bias", "biases of Mamba's matrices are left out"},
    {"clip_qkv", "one operator more on queries, keys and values: left out"},
    {"norm_head", "the output's weights are normalised before each product: left out"},
    {"embedding_dropout", "masks of dropout outside of the layers are left out"},
    {"output_dropout", "masks of dropout outside of the layers are left out"},
    {"attn_logit_softcapping", "one operator more on every score: left out"},
    {"final_logit_softcapping", "one operator more on the logits: left out"},
    {"attention_out_bias", "the biases of the projection behind attention are left out"},
    {"dropout", "masks of dropout outside of the language model are left out"},
    {"attention_dropout", "masks of dropout outside of the language model are left out"},
    {"vision_config", "towers of other inputs are left out: this is the language model alone"},
    {"talker_config", "what speaks is left out: this is the part that understands"},
    {"code2wav_config", "what speaks is left out: this is the part that understands"},
    {"token2wav_config", "what speaks is left out: this is the part that understands"},
};

static const char families_page[] = HUGGINGFACE_PAGE;

static const struct huggingface_family *find_family(struct config *c, const struct node *type)
{
    const char *names[FAMILIES];
    for (size_t i = 0; i < FAMILIES; i++) {
        names[i] = families[i].type;
        if (type->kind == NODE_SCALAR && !strcmp(type->text, names[i]))
            return &families[i];
    }
    config_report_unknown(c, type, names, FAMILIES);
    return NULL;
}

/* ---- what all have ---- */

/* Masks are kept where anything is dropped out. */
static void read_dropout(struct config *c)
{
    const struct node *told = NULL;
    double most = -1, value;
    static const char *const keys[] = {"attention_dropout",
                                       "attn_pdrop",
                                       "resid_pdrop",
                                       "hidden_dropout",
                                       "hidden_dropout_prob",
                                       "attention_probs_dropout_prob",
                                       "dropout",
                                       NULL};
    for (const char *const *key = keys; *key; key++) {
        const struct node *node = config_get(c, *key);
        if (node && !node_number(node, &value))
            diag_error(c->settings->diag, node->at, "%s is %s; expected a ratio", *key,
                       node_describe(node, c->settings->arena));
        else if (node && value > most) {
            most = value;
            told = node;
        }
    }
    if (told)
        settings_put_flag(c->settings, "model.dropout", most > 0, source_given(told->key_at, told->key));
    else
        settings_put_flag(c->settings, "model.dropout", c->family->dropout, config_default(c, "dropout"));
}

/* Of the attention alone, or also of the feed-forward block. */
static void read_attention_biases(struct config *c)
{
    const struct node *node = config_get(c, "attention_bias");
    bool attention = config_flag(c, "attention_bias", false), mlp = config_flag(c, "mlp_bias", false);
    struct source from = node ? config_given(node) : config_default(c, "attention_bias");
    settings_put_flag(c->settings, "model.biases", attention && mlp, from);
    if (!attention || mlp)
        return;
    settings_put(c->settings, "model.qkv_biases", "true", from);
    settings_remark(c->settings, REMARK_PARTIAL, node->key_at, node->key,
                    "biases of the attention's output, hidden parameters a layer, are left out");
}

static void read_biases(struct config *c)
{
    const char *biases = c->family->biases;
    if (!strcmp(biases, "qkv")) {
        config_put_fixed(c, "model.biases", "false");
        config_put_fixed(c, "model.qkv_biases", "true");
    } else if (!strcmp(biases, "attention_bias"))
        read_attention_biases(c);
    else if (!strcmp(biases, "attention_bias of qkv")) {
        config_put_fixed(c, "model.biases", "false");
        config_put_flag(c, "model.qkv_biases", "attention_bias", false);
    } else if (!strcmp(biases, "true") || !strcmp(biases, "false"))
        config_put_fixed(c, "model.biases", biases);
    else
        config_put_flag(c, "model.biases", biases, !strcmp(biases, "enable_bias"));
}

/* `own`, `own_kv`: where a file does not say it. */
static void read_heads(struct config *c, uint64_t own, uint64_t own_kv)
{
    uint64_t hidden = settings_count(c->settings, "model.hidden", 0);
    uint64_t heads = config_put_count(c, "model.heads", "num_attention_heads n_head", own, true);
    bool says_heads = node_given(node_get(c->root, "num_attention_heads"));
    uint64_t kv_heads = c->family->kv_heads || says_heads ? c->family->kv_heads : own_kv;
    const struct node *size = config_find(c, "head_dim");
    if (node_given(node_get(c->root, "kv_lora_rank")))
        config_find(c, "num_key_value_heads"); /* latent attention has one for each head */
    else if (strcmp(c->family->type, "falcon") != 0)
        config_put_count(c, "model.kv_heads", "num_key_value_heads", kv_heads, false);
    if (node_given(node_get(c->root, "kv_lora_rank")))
        return;
    if (node_given(size) || c->family->head_size)
        config_put_count(c, "model.head_size", "head_dim", c->family->head_size, true);
    else if (heads && hidden % heads)
        diag_error(c->settings->diag, c->root->at,
                   "hidden size %llu cannot be divided over %llu heads, and there is no head_dim",
                   (unsigned long long)hidden, (unsigned long long)heads);
}

/* Language models within files of several parts, which leave out what their configuration class says by itself. */
static const struct class_shape {
    const char *type;
    uint64_t layers, hidden, heads, kv_heads, ffn, vocabulary;
} class_shapes[] = {
    {"llama", 32, 4096, 32, 32, 11008, 32000},
    {"mistral", 32, 4096, 32, 8, 14336, 32000},
    {"qwen2", 32, 4096, 32, 32, 22016, 151936},
};

/* 0: the file has to say it. */
static const struct class_shape *class_shape_of(const struct config *c)
{
    static const struct class_shape none = {0};
    for (size_t i = 0; c->root != c->top && i < sizeof class_shapes / sizeof *class_shapes; i++)
        if (!strcmp(c->family->type, class_shapes[i].type))
            return &class_shapes[i];
    return &none;
}

/* Files of several parts say it of the language model or of the whole. */
static void read_tied(struct config *c)
{
    const struct node *inner = c->root, *own = config_get(c, "tie_word_embeddings");
    c->root = c->top;
    config_find(c, "tie_word_embeddings");
    c->root = own ? inner : c->top;
    config_put_flag(c, "model.tied", "tie_word_embeddings", c->family->tied);
    c->root = inner;
}

static void read_shape(struct config *c)
{
    const struct huggingface_family *family = c->family;
    const struct class_shape *own = class_shape_of(c);
    config_put_count(c, "model.layers", "num_hidden_layers n_layer", own->layers, !family->counts_layers);
    uint64_t hidden = config_put_count(c, "model.hidden", "hidden_size n_embd n_embed d_model", own->hidden, true);
    read_heads(c, own->heads, own->kv_heads);
    bool four = !strcmp(family->type, "gpt2") || !strcmp(family->type, "falcon");
    config_put_count(c, "model.ffn",
                     family->ffn_key ? family->ffn_key : "intermediate_size n_inner ffn_dim ffn_hidden_size",
                     four ? 4 * hidden : own->ffn, !family->no_ffn);
    config_put_count(c, "model.vocabulary", "vocab_size", own->vocabulary, true);
    config_put_fixed(c, "model.gated", family->gated ? "true" : "false");
    config_put_fixed(c, "model.norm", family->rms ? "rms" : "layer");
    read_tied(c);
    if (family->position_key) {
        const struct node *node = config_get(c, family->position_key);
        uint64_t count = config_put_count(c, "model.positions", family->position_key, 0, true);
        if (family->positions_more && node)
            settings_replace(
                c->settings, "model.positions",
                arena_print(c->settings->arena, "%llu", (unsigned long long)(count + family->positions_more)),
                source_given(node->key_at, arena_print(c->settings->arena, "%s + %llu", node->key,
                                                       (unsigned long long)family->positions_more)));
    }
    if (!strcmp(family->biases, "qkv"))
        config_find(c, "attention_bias");
    if (family->norms)
        settings_put_count(c->settings, "model.norms", family->norms, config_fixed(c));
    if (family->qk_norm)
        config_put_fixed(c, "model.qk_norm", "true");
}

/* ---- keys that nobody asked for ---- */

static bool matches(const char *pattern, const char *key)
{
    size_t length = strlen(pattern);
    return pattern[length - 1] == '*' ? !strncmp(pattern, key, length - 1) : !strcmp(pattern, key);
}

static bool is_ignored(const char *key)
{
    for (const char *const *each = huggingface_ignored; *each; each++)
        if (matches(*each, key))
            return true;
    return false;
}

/* 0 or false: what the key names is not there. */
static bool is_nothing(const struct node *node)
{
    double number;
    bool flag;
    return (node_number(node, &number) && fpclassify(number) == FP_ZERO) || (node_flag(node, &flag) && !flag);
}

/* `of`: what the map describes. */
static void account(struct config *c, const struct node *map, const char *of)
{
    for (const struct node *node = map->first; node; node = node->next) {
        bool known = !strcmp(node->key, "model_type") || !strcmp(node->key, "text_config") ||
                     !strcmp(node->key, "thinker_config");
        for (size_t i = 0; i < c->used_count; i++)
            known |= c->used[i] == node;
        for (size_t i = 0; i < sizeof partial / sizeof *partial; i++)
            if (!known && !strcmp(node->key, partial[i].key)) {
                known = true;
                if (node_given(node) && !is_nothing(node))
                    settings_remark(c->settings, REMARK_PARTIAL, node->key_at, node->key, "%s", partial[i].text);
            }
        if (!known && is_ignored(node->key))
            c->settings->ignored++;
        else if (!known)
            settings_remark(c->settings, REMARK_UNKNOWN, node->key_at, node->key, "no key of %s that stagesim knows",
                            of);
    }
}

static void account_tower(struct config *c, const struct node *map)
{
    const struct node *type = node_get(map, "model_type");
    if (map)
        account(c, map, type && type->kind == NODE_SCALAR ? type->text : map->key);
}

/* Of a file with several models (Qwen's Omni), the map of the one that understands; otherwise the whole. */
static const struct node *understanding(const struct node *root)
{
    const struct node *thinker = node_get(root, "thinker_config");
    return thinker && thinker->kind == NODE_MAP ? thinker : root;
}

bool huggingface_is_config(const struct node *root)
{
    const struct node *text = node_get(root, "text_config");
    return node_get(root, "model_type") || (text && text->kind == NODE_MAP);
}

bool huggingface_read(const struct node *root, struct settings *settings)
{
    const struct node *whole = understanding(root), *text = node_get(whole, "text_config");
    unsigned errors = settings->diag->errors;
    struct config config = {.root = text && text->kind == NODE_MAP ? text : whole, .top = whole, .settings = settings};
    const struct node *type = node_get(config.root, "model_type");
    if (!type) {
        diag_error(settings->diag, config.root->at, "there is no model_type; expected one such as %s (all: %s)",
                   families[0].type, families_page);
        return false;
    }
    config.used = arena_array(settings->arena, DOCUMENT_KEYS_MAX, sizeof *config.used);
    config.family = find_family(&config, type);
    if (!config.family)
        return false;
    read_shape(&config);
    read_biases(&config);
    read_dropout(&config);
    if (config.family->read)
        config.family->read(&config);
    account_tower(&config, config_read_image_tower(&config));
    account_tower(&config, config_read_audio_tower(&config));
    account(&config, config.root, config.family->type);
    if (config.root != config.top)
        account(&config, config.top, config.family->type);
    if (config.top != root)
        account(&config, root, config.family->type);
    return settings->diag->errors == errors;
}
