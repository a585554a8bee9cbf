/* SPDX-License-Identifier: Apache-2.0 */
/* The model that options of Megatron-LM describe. */
#include "base/arena.h"
#include "frameworks/import/parts.h"

#include <stdlib.h>
#include <string.h>

static void put_given(struct arguments *a, const char *name, const char *key, uint64_t value)
{
    settings_put_count(a->settings, key, value, argument_source(a, argument_find(a, name)));
}

/* The option where it is given, its default where that is known. */
static uint64_t put_count(struct arguments *a, const char *name, const char *key, uint64_t other)
{
    uint64_t value = argument_count(a, name, other);
    if (argument_find(a, name))
        put_given(a, name, key, value);
    else if (arguments_have_defaults(a))
        settings_put_count(a->settings, key, value, argument_absent(a, name));
    return value;
}

static double argument_number(const struct arguments *a, const char *name, double other)
{
    struct node value = {.kind = NODE_SCALAR, .text = argument_text(a, name, "")};
    double number = other;
    const struct argument *argument = argument_find(a, name);
    if (argument && argument->count && !argument->values[0].open && !node_number(&value, &number))
        diag_error(a->settings->diag, argument->at, "%s is '%s'; expected a number", argument->label, value.text);
    return number;
}

/* ---- attention ---- */

static void read_heads(struct arguments *a)
{
    const struct argument *groups = argument_find(a, "num-query-groups");
    if (argument_is_on(a, "group-query-attention"))
        put_count(a, "num-query-groups", "model.kv_heads", 1);
    else if (groups)
        settings_remark(a->settings, REMARK_CHOICE, groups->at, groups->label,
                        "does not count without --group-query-attention: each head has its own keys and values");
}

static void read_latent(struct arguments *a)
{
    put_count(a, "q-lora-rank", "model.query_rank", 512);
    put_count(a, "kv-lora-rank", "model.kv_rank", 512);
    put_count(a, "qk-head-dim", "model.head_size", 128);
    put_count(a, "qk-pos-emb-head-dim", "model.rope_size", 64);
    put_count(a, "v-head-dim", "model.value_size", 128);
}

/* "128,0" or "(128, 0)": tokens before and behind a token. */
static void read_window(struct arguments *a)
{
    const struct argument *argument = argument_find(a, "window-size"),
                          *skip = argument_find(a, "window-attn-skip-freq");
    const char *text = argument_text(a, "window-size", "");
    long before = strtol(text + strspn(text, "([ "), NULL, 10);
    if (!argument || before <= 0)
        return;
    settings_put_count(a->settings, "model.window", (uint64_t)before + 1, argument_source(a, argument));
    if (skip && strchr(argument_text(a, "window-attn-skip-freq", ""), '['))
        settings_remark(a->settings, REMARK_PARTIAL, skip->at, skip->label,
                        "a list of layers: all are taken to have the window");
    else if (skip)
        put_count(a, "window-attn-skip-freq", "model.window_period", 0);
}

static void read_attention(struct arguments *a)
{
    const struct argument *softmax = argument_find(a, "softmax-type");
    read_heads(a);
    if (argument_is_on(a, "multi-latent-attention"))
        read_latent(a);
    else if (argument_find(a, "kv-channels"))
        put_count(a, "kv-channels", "model.head_size", 0);
    read_window(a);
    if (softmax && !strcmp(argument_text(a, "softmax-type", ""), "learnable"))
        settings_put(a->settings, "model.sinks", "true", argument_source(a, softmax));
}

/* ---- input and output ---- */

static void read_vocabulary(struct arguments *a)
{
    const char *whole = argument_find(a, "padded-vocab-size") ? "padded-vocab-size" : "pad-vocab-size-to";
    const struct argument *padded = argument_find(a, whole), *size = argument_find(a, "vocab-size");
    if (padded)
        put_count(a, whole, "model.vocabulary", 0);
    else if (size)
        put_count(a, "vocab-size", "model.vocabulary", 0);
    if (!padded && arguments_have_defaults(a))
        put_count(a, "make-vocab-size-divisible-by", "@padding", 128);
}

static void read_positions(struct arguments *a)
{
    const struct argument *type = argument_find(a, "position-embedding-type"),
                          *rotary = argument_find(a, "use-rotary-position-embeddings"),
                          *none = argument_find(a, "no-position-embedding");
    bool learned = !strcmp(argument_text(a, "position-embedding-type", "learned_absolute"), "learned_absolute");
    const struct argument *why = none ? none : rotary ? rotary : type;
    if (none || rotary || !learned)
        settings_put(a->settings, "model.positions", "0", argument_source(a, why));
    else if (argument_find(a, "max-position-embeddings") && arguments_have_defaults(a))
        put_count(a, "max-position-embeddings", "model.positions", 0);
}

static void read_embedding_norm(struct arguments *a)
{
    const struct argument *argument = argument_find(a, "embed-layernorm");
    if (argument)
        settings_put(a->settings, "model.embedding_norm", "true", argument_source(a, argument));
}

static void read_dropout(struct arguments *a)
{
    const struct argument *attention = argument_find(a, "attention-dropout"),
                          *hidden = argument_find(a, "hidden-dropout");
    double scores = argument_number(a, "attention-dropout", 0.1), blocks = argument_number(a, "hidden-dropout", 0.1);
    const struct argument *told = scores > 0 ? attention : hidden;
    if (!told && (scores > 0 || blocks > 0)) {
        if (arguments_have_defaults(a))
            settings_put(a->settings, "model.dropout", "true",
                         argument_absent(a, scores > 0 ? "attention-dropout" : "hidden-dropout"));
        return;
    }
    settings_put_flag(a->settings, "model.dropout", scores > 0 || blocks > 0,
                      argument_source(a, told ? told : attention));
}

/* ---- feed-forward and experts ---- */

static void read_ffn(struct arguments *a)
{
    uint64_t hidden = argument_count(a, "hidden-size", 0);
    bool gated = argument_is_on(a, "swiglu");
    if (argument_find(a, "ffn-hidden-size"))
        put_count(a, "ffn-hidden-size", "model.ffn", 0);
    else if (hidden && arguments_have_defaults(a))
        settings_put_count(a->settings, "model.ffn", gated ? 8 * hidden / 3 / 64 * 64 : 4 * hidden,
                           source_default(gated
                                              ? "Megatron-LM without --ffn-hidden-size: 8 hidden / 3, a multiple of 64"
                                              : "Megatron-LM without --ffn-hidden-size: 4 hidden"));
}

/* One factor of a list expression: [0,1] or [0], perhaps times a count; appends to `layers`. NULL: it is none. */
static const char *read_term(const char *at, char *layers, size_t *count)
{
    size_t first = *count;
    char *end;
    at += strspn(at, " (");
    if (*at != '[')
        return NULL;
    for (at++; *at && *at != ']'; at += strspn(at, " ,")) {
        if ((*at != '0' && *at != '1') || *count == MEGATRON_LAYERS_MAX)
            return NULL;
        layers[(*count)++] = *at++;
    }
    size_t length = *count - first;
    if (*at++ != ']')
        return NULL;
    at += strspn(at, " )");
    unsigned long times = *at == '*' ? strtoul(at + 1, &end, 10) : 1;
    if (*at == '*')
        at = end + strspn(end, " )");
    if (!length || times > MEGATRON_LAYERS_MAX || *count - length + times * length > MEGATRON_LAYERS_MAX)
        return NULL;
    *count = first;
    for (unsigned long i = 0; i < times * length; i++)
        layers[(*count)++] = layers[first + i % length];
    return at;
}

bool megatron_read_list(const char *text, char *layers, size_t *count)
{
    *count = 0;
    for (text = read_term(text, layers, count); text && *text == '+';)
        text = read_term(text + 1, layers, count);
    return text && !*text && *count > 0;
}

/* Which layers have experts: none before the first, then every so-many-th. */
static void put_pattern(struct arguments *a, const struct argument *argument, const char *layers, size_t count)
{
    const char *first = memchr(layers, '1', count);
    size_t dense = first ? (size_t)(first - layers) : count, period = 1;
    const char *second = first && dense + 1 < count ? memchr(first + 1, '1', count - dense - 1) : NULL;
    if (second)
        period = (size_t)(second - first);
    bool regular = first;
    for (size_t i = dense; i < count && regular; i++)
        regular = (layers[i] == '1') == ((i - dense) % period == 0);
    if (!regular) {
        char *feeds = arena_alloc(a->settings->arena, count + 1);
        for (size_t i = 0; i < count; i++)
            feeds[i] = layers[i] == '1' ? 'E' : '-';
        feeds[count] = 0;
        settings_put(a->settings, "model.feeds", feeds, argument_source(a, argument));
        return;
    }
    settings_put_count(a->settings, "model.dense_layers", dense, argument_source(a, argument));
    if (period > 1)
        settings_put_count(a->settings, "model.expert_period", period, argument_source(a, argument));
}

static void read_frequency(struct arguments *a)
{
    const struct argument *argument = argument_find(a, "moe-layer-freq");
    const char *text = argument_text(a, "moe-layer-freq", "1");
    char *layers = arena_alloc(a->settings->arena, MEGATRON_LAYERS_MAX + 1);
    size_t count;
    if (!argument)
        return;
    if (megatron_read_list(text, layers, &count))
        put_pattern(a, argument, layers, count);
    else if (argument_count(a, "moe-layer-freq", 1) > 1)
        put_count(a, "moe-layer-freq", "model.expert_period", 1);
}

static void read_shared(struct arguments *a)
{
    const struct argument *argument = argument_find(a, "moe-shared-expert-intermediate-size");
    uint64_t width = argument_count(a, "moe-shared-expert-intermediate-size", 0);
    uint64_t inner = argument_count(a, "moe-ffn-hidden-size", argument_count(a, "ffn-hidden-size", 0));
    if (!width)
        return;
    if (inner && width % inner == 0)
        settings_put_count(a->settings, "model.shared_experts", width / inner, argument_source(a, argument));
    else {
        settings_put_count(a->settings, "model.shared_experts", 1, argument_source(a, argument));
        settings_put_count(a->settings, "model.shared_ffn", width, argument_source(a, argument));
    }
}

static void read_experts(struct arguments *a)
{
    const struct argument *capacity = argument_find(a, "moe-expert-capacity-factor");
    if (!argument_count(a, "num-experts", 0))
        return;
    put_count(a, "moe-router-topk", "model.top_k", 2);
    if (!argument_find(a, "moe-ffn-hidden-size") && settings_find(a->settings, "model.ffn"))
        settings_put(a->settings, "model.expert_ffn", settings_text(a->settings, "model.ffn", "0"),
                     argument_absent(a, "moe-ffn-hidden-size"));
    read_shared(a);
    read_frequency(a);
    if (capacity && argument_number(a, "moe-expert-capacity-factor", 0) > 0)
        settings_put(a->settings, "transformer.capacity_factor", argument_text(a, "moe-expert-capacity-factor", "0"),
                     argument_source(a, capacity));
}

void megatron_read_model(struct arguments *a)
{
    read_attention(a);
    read_ffn(a);
    read_vocabulary(a);
    read_positions(a);
    read_embedding_norm(a);
    read_dropout(a);
    read_experts(a);
}
