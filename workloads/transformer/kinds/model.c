/* SPDX-License-Identifier: Apache-2.0 */
/* What a model is where keys are left out, and what each of its layers is. */
#include "workloads/transformer/kinds/model.h"

#include "workloads/transformer/kinds/letters.h"

#include <math.h>
#include <string.h>

const char *const transformer_norm_names[] = {"layer", "rms", NULL};

static void put_default(uint64_t *value, uint64_t other)
{
    if (!*value)
        *value = other;
}

/* A clip of sound that is not whole counts as its share, or where it is padded as a whole one. */
static double items_of(const struct transformer_tower *t, bool whole)
{
    double items = t->kind == TOWER_AUDIO ? t->amount / t->clip : t->amount;
    return whole ? ceil(items) : items;
}

static void complete_tower(struct transformer_tower *t, enum transformer_tower_kind kind)
{
    static const double halves[] = {1, 2}; /* Whisper's two convolutions */
    t->kind = kind;
    put_default(&t->merge, kind == TOWER_IMAGES ? 4 : 1);
    put_default(&t->projector, kind == TOWER_IMAGES && !t->one_matrix ? t->merge * t->hidden : 0);
    put_default(&t->norms, 1);
    put_default(&t->pool, 1);
    put_default(&t->mergers, 1);
    put_default(&t->ffn, 4 * t->hidden);
    put_default(&t->kernel, 3);
    t->rate = t->rate > 0 ? t->rate : 100;
    t->clip = t->clip > 0 ? t->clip : 30;
    if (!t->strides.count)
        t->strides = (struct stagesim_list){2, halves};
    t->passed = t->items > 0 ? t->passed : items_of(t, t->padding_passed);
    t->items = t->items > 0 ? t->items : items_of(t, t->padded);
}

static void complete_kinds(struct transformer_model *m)
{
    put_default(&m->local_heads, m->heads);
    put_default(&m->local_kv_heads, m->kv_heads);
    put_default(&m->local_head_size, m->head_size);
    put_default(&m->local_value_size, m->local_head_size == m->head_size ? m->value_size : m->local_head_size);
    put_default(&m->mamba_head_size, 64);
    put_default(&m->mamba_groups, 8);
    put_default(&m->mamba_state, 128);
    put_default(&m->mamba_heads, 2 * m->hidden / m->mamba_head_size);
    put_default(&m->linear_key_size, m->head_size);
    put_default(&m->linear_value_size, m->linear_key_size);
    put_default(&m->linear_value_heads, m->heads);
    put_default(&m->linear_key_heads, m->linear_value_heads);
    put_default(&m->convolution, 4);
    put_default(&m->chunk, 64);
    put_default(&m->index_heads, 64);
    put_default(&m->index_size, 128);
    put_default(&m->index_top, 2048);
    put_default(&m->compression, 4);
    put_default(&m->heavy_compression, 128);
    put_default(&m->output_groups, 1);
    put_default(&m->output_rank, m->hidden);
    put_default(&m->streams, 1);
    put_default(&m->expert_width, m->hidden);
    put_default(&m->shared_ffn, m->shared_experts * m->expert_ffn);
    for (enum transformer_tower_kind kind = TOWER_IMAGES; kind < TRANSFORMER_TOWERS; kind++)
        complete_tower(&m->towers[kind], kind);
}

void transformer_model_complete(struct transformer_model *model)
{
    put_default(&model->kv_heads, model->heads);
    put_default(&model->head_size, model->hidden / model->heads);
    put_default(&model->ffn, 4 * model->hidden);
    put_default(&model->norms, 2);
    put_default(&model->expert_period, 1);
    put_default(&model->top_k, 1);
    put_default(&model->expert_ffn, model->ffn);
    put_default(&model->value_size, model->head_size);
    if (!model->expert_groups)
        model->expert_groups = model->top_groups = 1;
    put_default(&model->top_groups, model->expert_groups);
    if (model->documents.count && !(model->packed > 0))
        model->packed = 1;
    complete_kinds(model);
}

/* ---- which layers have what ---- */

/* The letter of a layer in a text that begins again where it ends; 0: there is no text. */
static char letter_of(const char *text, uint64_t layer)
{
    size_t length = text ? strlen(text) : 0;
    return length ? text[layer % length] : 0;
}

static bool sees_all(const struct transformer_model *m, uint64_t layer)
{
    return !m->window || (m->window_period && (layer + 1) % m->window_period == 0);
}

/* As the keys of experts say: in layer dense_layers, and in every expert_period-th behind it. */
static bool counts_experts(const struct transformer_model *m, uint64_t layer)
{
    return m->experts > 0 && layer >= m->dense_layers && (layer - m->dense_layers) % m->expert_period == 0;
}

static enum transformer_feed feed_of(const struct transformer_model *m, uint64_t layer)
{
    char letter = letter_of(m->pattern ? m->pattern : m->feeds, layer);
    const struct transformer_letter *found = letter ? transformer_feed_of(letter) : NULL;
    if (found)
        return (enum transformer_feed)found->kind;
    return m->pattern ? FEED_NONE : counts_experts(m, layer) ? FEED_EXPERTS : FEED_DENSE;
}

static enum transformer_mixer mixer_of(const struct transformer_model *m, uint64_t layer)
{
    char letter = letter_of(m->pattern ? m->pattern : m->mixers, layer);
    const struct transformer_letter *found = letter ? transformer_mixer_of(letter) : NULL;
    if (found)
        return (enum transformer_mixer)found->kind;
    if (m->pattern)
        return MIXER_NONE;
    return sees_all(m, layer) ? MIXER_ATTENTION : MIXER_LOCAL;
}

uint64_t transformer_expert_layers(const struct transformer_model *m, uint64_t layers)
{
    uint64_t count = 0;
    if (!m->experts)
        return 0;
    if (!m->pattern && !m->feeds)
        return layers <= m->dense_layers ? 0 : (layers - m->dense_layers + m->expert_period - 1) / m->expert_period;
    for (uint64_t layer = 0; layer < layers; layer++)
        count += feed_of(m, layer) == FEED_EXPERTS;
    return count;
}

/* ---- a layer's own model ---- */

/* Lists of layers that are not alike: 0 means that there is no such block. */
static void use_lists(struct transformer_model *own, uint64_t layer)
{
    if (layer < own->layer_kv_heads.count) {
        own->kv_heads = (uint64_t)own->layer_kv_heads.values[layer];
        own->mixer = own->kv_heads ? own->mixer : MIXER_NONE;
    }
    if (layer < own->layer_ffn.count) {
        own->ffn = (uint64_t)own->layer_ffn.values[layer];
        own->feed = own->ffn ? own->feed : FEED_NONE;
    }
}

static void use_local(struct transformer_model *own)
{
    if (!own->local_heads) /* a model that was not completed */
        return;
    own->heads = own->local_heads;
    own->kv_heads = own->local_kv_heads;
    own->head_size = own->local_head_size;
    own->value_size = own->local_value_size;
    own->sinks = own->local_sinks || own->sinks;
    own->keys_are_values = false;
}

/* A layer that predicts a further token. */
static void use_prediction(struct transformer_model *own, uint64_t number)
{
    const char mixer = letter_of(own->prediction_mixers, number), feed = letter_of(own->prediction_feeds, number);
    const struct transformer_letter *found = mixer ? transformer_mixer_of(mixer) : NULL;
    if (found)
        own->mixer = (enum transformer_mixer)found->kind;
    found = feed ? transformer_feed_of(feed) : NULL;
    if (found)
        own->feed = (enum transformer_feed)found->kind;
}

struct transformer_model transformer_model_of_layer(const struct transformer_model *m, uint64_t layer)
{
    struct transformer_model own = *m;
    bool further = layer >= m->layers;
    uint64_t like = further ? m->layers - 1 : layer;
    own.mixer = mixer_of(m, like);
    own.feed = feed_of(m, like);
    use_lists(&own, like);
    if (further)
        use_prediction(&own, layer - m->layers);
    if (own.mixer == MIXER_LOCAL)
        use_local(&own);
    else if (own.mixer != MIXER_NEAR && own.mixer != MIXER_COMPRESSED && own.mixer != MIXER_HEAVILY_COMPRESSED)
        own.window = 0;
    if (own.repeated > own.kv_heads)
        own.kv_heads = own.repeated;
    own.router_bias = own.router_bias && layer >= own.hash_layers;
    return own;
}

bool transformer_layers_alike(const struct transformer_model *a, const struct transformer_model *b)
{
    return a->mixer == b->mixer && a->feed == b->feed && a->window == b->window && a->heads == b->heads &&
           a->kv_heads == b->kv_heads && a->ffn == b->ffn && a->router_bias == b->router_bias;
}

bool transformer_has_tower(const struct transformer_model *m)
{
    return m->towers[TOWER_IMAGES].layers || m->towers[TOWER_AUDIO].layers;
}

bool transformer_has_kinds(const struct transformer_model *m)
{
    return m->mixers || m->feeds || m->pattern || m->layer_kv_heads.count || m->layer_ffn.count || m->streams > 1 ||
           m->residual_blocks || m->predictions || transformer_has_tower(m);
}

uint64_t transformer_layers_period(const struct transformer_model *m)
{
    uint64_t windows = m->window && m->window_period ? m->window_period : 1, a = m->expert_period, b = windows;
    if (transformer_has_kinds(m))
        return m->layers;
    if (!m->experts)
        return windows;
    for (uint64_t rest; b; b = rest) {
        rest = a % b;
        a = b;
    }
    return m->expert_period / a * windows;
}

/* ---- pairs of tokens ---- */

/* Of a document of so many tokens, twice: of at most `most` keys for a token, or of chunks of as many tokens. */
static double twice_pairs(double length, double most, bool chunks)
{
    if (most >= length)
        return length * length;
    double rest = fmod(length, most);
    return chunks ? (length - rest) * most + rest * rest : 2 * length * most - most * most;
}

/* The mean over sequences of what documents have. */
static double mean_pairs(const struct transformer_model *m, double most, bool chunks)
{
    double sum = 0;
    if (!m->documents.count)
        return twice_pairs((double)m->sequence, most, chunks);
    for (size_t i = 0; i < m->documents.count; i++)
        sum += (m->document_counts ? m->document_counts[i] : 1) * twice_pairs(m->documents.values[i], most, chunks);
    return sum / m->packed;
}

double transformer_met_share(const struct transformer_model *m)
{
    double s = (double)m->sequence, w = m->window ? (double)m->window : s;
    if (!m->documents.count && w >= s)
        return 1;
    if (!m->documents.count && m->chunked)
        return w / s;
    return mean_pairs(m, w, m->chunked) / (s * s);
}

double transformer_met_pairs(const struct transformer_model *m, double most)
{
    return mean_pairs(m, most, false) / 2;
}

double transformer_document_length(const struct transformer_model *m)
{
    double tokens = 0;
    if (!m->documents.count)
        return (double)m->sequence;
    for (size_t i = 0; i < m->documents.count; i++)
        tokens += (m->document_counts ? m->document_counts[i] : 1) * m->documents.values[i];
    return mean_pairs(m, (double)m->sequence, false) * m->packed / tokens;
}

struct transformer_norms transformer_norms_of(const struct transformer_model *m)
{
    return (struct transformer_norms){1, m->norms != 1, m->norms > 2};
}

double transformer_expert_width(const struct transformer_model *m)
{
    return (double)(m->expert_width ? m->expert_width : m->hidden);
}

bool transformer_narrow_experts(const struct transformer_model *m)
{
    return m->expert_width && m->expert_width != m->hidden;
}

double transformer_shared_width(const struct transformer_model *m)
{
    return (double)(m->shared_ffn ? m->shared_ffn : m->shared_experts * m->expert_ffn);
}
