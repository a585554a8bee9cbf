/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/text/names.h"
#include "frameworks/models/huggingface_parts.h"

#include <string.h>

/* Words that files of some architecture have for a layer that stagesim has a letter for. */
static const char *const known_words[] = {"attention",
                                          "full_attention",
                                          "sliding_attention",
                                          "chunked_attention",
                                          "linear_attention",
                                          "mamba",
                                          "mamba2",
                                          "moe",
                                          "mlp",
                                          "dense",
                                          "sparse",
                                          "compressed_sparse_attention",
                                          "heavily_compressed_attention",
                                          "gated_deltanet",
                                          "kda",
                                          "conv",
                                          NULL};

static bool is_known(const char *word)
{
    for (const char *const *each = known_words; *each; each++)
        if (!strcmp(*each, word))
            return true;
    return false;
}

/* Layers of a list that have no letter, each named once; NULL: none. */
static const char *unknown_layers(struct config *c, const struct node *list)
{
    const char *text = NULL;
    for (const struct node *each = list && list->kind == NODE_LIST ? list->first : NULL; each; each = each->next) {
        if (each->kind != NODE_SCALAR || is_known(each->text))
            continue;
        const char *quoted = arena_print(c->settings->arena, "'%s'", each->text);
        if (!text)
            text = quoted;
        else if (!strstr(text, quoted))
            text = arena_print(c->settings->arena, "%s, %s", text, quoted);
    }
    return text;
}

/* Keys by which files tell of layers that are not plain attention. */
static const char *kinds_by_keys(const struct config *c)
{
    static const struct {
        const char *key, *kind;
    } tells[] = {{"ssm_state_size", "M (Mamba-2)"},
                 {"mamba_d_state", "M (Mamba-2)"},
                 {"linear_num_value_heads", "G (gated delta net)"},
                 {"linear_attn_config", "K (Kimi delta attention)"},
                 {"conv_L_cache", "C (gated short convolution)"},
                 {"index_topk", "D (an indexer)"},
                 {"compress_ratios", "w, c and h (compressed attention)"},
                 {"block_configs", "unequal blocks (layer_kv_heads, layer_ffn)"},
                 {"kv_lora_rank", "latent attention (kv_rank)"},
                 {"sliding_window", "W (a window)"}};
    for (size_t i = 0; i < sizeof tells / sizeof *tells; i++)
        if (node_given(node_get(c->root, tells[i].key)))
            return tells[i].kind;
    return NULL;
}

/* Architectures of which something is known: what stagesim lacks for them. */
static const char *lacking_of(const char *type)
{
    static const struct {
        const char *type, *what;
    } known[] = {{"ernie4_5_moe_vl", "experts of each modality"},
                 {"ernie4_5_vl_moe", "experts of each modality"},
                 {"falcon_h1", "Mamba-2 and attention beside each other in one layer"},
                 {"gemma3n", "embeddings of each layer, several predictions of the residual, and shared keys"},
                 {"gemma3n_text", "embeddings of each layer, several predictions of the residual, and shared keys"},
                 {"jamba", "Mamba-1"},
                 {"phi4_multimodal", "adapters of each modality within all layers"},
                 {"phi4mm", "adapters of each modality within all layers"}};
    for (size_t i = 0; type && i < sizeof known / sizeof *known; i++)
        if (!strcmp(type, known[i].type))
            return known[i].what;
    return NULL;
}

void config_report_unknown(struct config *c, const struct node *type, const char *const names[], size_t count)
{
    struct names_text list;
    const char *word = type->kind == NODE_SCALAR ? type->text : NULL;
    const char *near = word ? diag_nearest(word, names, count) : NULL;
    const char *known = names_list(&list, word, names, count, HUGGINGFACE_PAGE);
    const struct node *types = node_get(c->root, "layer_types"), *blocks = node_get(c->root, "layers_block_type");
    const char *lacking = unknown_layers(c, types ? types : blocks), *told = kinds_by_keys(c);
    struct arena *arena = c->settings->arena;
    const char *own = lacking_of(word);
    const char *layers = own       ? arena_print(arena, "; it has %s, no kind of layer that stagesim has", own)
                         : lacking ? arena_print(arena, "; its layers %s are no kind that stagesim has", lacking)
                         : told    ? arena_print(arena, "; its keys tell of layers of the kind %s", told)
                                   : "";
    diag_error(c->settings->diag, type->at, "model_type is %s, whose shape is not known; expected %s%s%s%s%s%s",
               node_describe(type, arena), known, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "",
               layers, near ? "" : "; a model can be described by hand, by mixers and feeds (doc/layer-kinds.md)");
}
