/* SPDX-License-Identifier: Apache-2.0 */
/* What has to hold of layers that are a sequence of kinds. */
#include "workloads/transformer/kinds/letters.h"
#include "workloads/transformer/transformer.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Whether any layer, or one that predicts a further token, is of one of the letters. */
static bool has_mixer(const struct transformer_model *m, const char *letters)
{
    for (uint64_t layer = 0; layer < m->layers + m->predictions; layer++) {
        struct transformer_model own = transformer_model_of_layer(m, layer);
        if (strchr(letters, transformer_mixer_letters[own.mixer].letter))
            return true;
    }
    return false;
}

static bool has_feed(const struct transformer_model *m, enum transformer_feed feed)
{
    for (uint64_t layer = 0; layer < m->layers + m->predictions; layer++)
        if (transformer_model_of_layer(m, layer).feed == feed)
            return true;
    return false;
}

/* ---- texts ---- */

static void list_letters(char *out, size_t room, bool mixers, bool feeds)
{
    const struct transformer_letter *lists[] = {mixers ? transformer_mixer_letters : NULL,
                                                feeds ? transformer_feed_letters : NULL};
    size_t used = 0;
    for (unsigned i = 0; i < 2; i++)
        for (const struct transformer_letter *each = lists[i]; each && each->letter; each++)
            if (used + 2 < room && !(i && mixers && each->letter == '.')) {
                out[used++] = each->letter;
                out[used++] = ' ';
            }
    out[used ? used - 1 : 0] = 0;
}

static bool check_text(const struct transformer_job *j, const char *key, const char *text, bool mixers, bool feeds)
{
    char known[80];
    size_t length = text ? strlen(text) : 1;
    list_letters(known, sizeof known, mixers, feeds);
    if (!length)
        j->api->error(j->job, key, "no letters; expected one for each layer, of %s", known);
    for (size_t i = 0; text && i < length; i++) {
        if ((mixers && transformer_mixer_of(text[i])) || (feeds && transformer_feed_of(text[i])))
            continue;
        j->api->error(j->job, key, "'%c' is no kind of layer; expected letters of %s", text[i], known);
        return false;
    }
    if (length > j->model.layers)
        j->api->error(j->job, key, "%zu letters for %llu layers; expected as many, or fewer that come again", length,
                      (unsigned long long)j->model.layers);
    return length && length <= j->model.layers;
}

static bool check_texts(const struct transformer_job *j)
{
    const struct transformer_model *m = &j->model;
    bool ok = check_text(j, "model.mixers", m->mixers, true, false);
    ok &= check_text(j, "model.feeds", m->feeds, false, true);
    ok &= check_text(j, "model.pattern", m->pattern, true, true);
    ok &= !m->predictions || check_text(j, "model.prediction_mixers", m->prediction_mixers, true, false);
    ok &= !m->predictions || check_text(j, "model.prediction_feeds", m->prediction_feeds, false, true);
    if (m->pattern && (m->mixers || m->feeds)) {
        j->api->error(j->job, m->mixers ? "model.mixers" : "model.feeds",
                      "pattern says all of every layer; expected either pattern, or mixers and feeds");
        ok = false;
    }
    return ok;
}

static bool check_list(const struct transformer_job *j, const char *key, const struct stagesim_list *list)
{
    if (!list->count || list->count == j->model.layers)
        return true;
    j->api->error(j->job, key, "%zu values for %llu layers; expected one for each", list->count,
                  (unsigned long long)j->model.layers);
    return false;
}

/* ---- keys ---- */

enum { COUNT, FLAG };

/* Keys that say something of layers with some mixers alone; see needs.c for those of other parts. */
static const struct {
    const char *key, *letters;
    size_t offset;
    int type;
} own_keys[] = {
#define KEY(name, letters, type)                                                                                       \
    {                                                                                                                  \
        "model." #name, letters, offsetof(struct transformer_model, name), type                                        \
    }
    KEY(chunked, "W", FLAG),
    KEY(local_heads, "W", COUNT),
    KEY(local_kv_heads, "W", COUNT),
    KEY(local_head_size, "W", COUNT),
    KEY(local_value_size, "W", COUNT),
    KEY(local_sinks, "W", FLAG),
    KEY(output_gate, "*WDSB", FLAG),
    KEY(qk_norm, "*WDSB", FLAG),
    KEY(sinks, "*WDSBwch", FLAG),
    KEY(keys_are_values, "*", FLAG),
    KEY(mamba_heads, "M", COUNT),
    KEY(mamba_head_size, "M", COUNT),
    KEY(mamba_groups, "M", COUNT),
    KEY(mamba_state, "M", COUNT),
    KEY(linear_key_heads, "GKL", COUNT),
    KEY(linear_value_heads, "GKL", COUNT),
    KEY(linear_key_size, "GKL", COUNT),
    KEY(linear_value_size, "GKL", COUNT),
    KEY(linear_full_gate, "K", FLAG),
    KEY(convolution, "MGKC", COUNT),
    KEY(chunk, "MGKL", COUNT),
    KEY(index_heads, "DBc", COUNT),
    KEY(index_size, "DBc", COUNT),
    KEY(index_top, "DSBc", COUNT),
    KEY(index_block, "B", COUNT),
    KEY(index_trained, "DB", FLAG),
    KEY(compression, "c", COUNT),
    KEY(heavy_compression, "h", COUNT),
    KEY(output_groups, "wch", COUNT),
    KEY(output_rank, "wch", COUNT),
#undef KEY
};

static bool is_given(const struct transformer_model *given, size_t offset, int type)
{
    const char *place = (const char *)given + offset;
    return type == FLAG ? *(const bool *)place : *(const uint64_t *)place > 0;
}

/* What is given means something. */
static bool check_own_keys(const struct transformer_job *j)
{
    bool ok = true;
    for (size_t i = 0; i < sizeof own_keys / sizeof *own_keys; i++) {
        if (!is_given(&j->parameters->model, own_keys[i].offset, own_keys[i].type) ||
            has_mixer(&j->model, own_keys[i].letters))
            continue;
        j->api->error(j->job, own_keys[i].key, "no layer has it; expected one of the kinds %s in mixers or pattern",
                      own_keys[i].letters);
        ok = false;
    }
    return ok;
}

/* What a kind of layer cannot be without. */
static bool need(const struct transformer_job *j, const char *letters, bool fine, const char *key, const char *what)
{
    if (fine || !has_mixer(&j->model, letters))
        return true;
    j->api->error(j->job, key, "layers of the kinds %s need %s", letters, what);
    return false;
}

static bool check_needs(const struct transformer_job *j)
{
    const struct transformer_model *m = &j->model;
    const char *groups = j->parameters->model.mamba_groups  ? "model.mamba_groups"
                         : j->parameters->model.mamba_heads ? "model.mamba_heads"
                                                            : "model.mixers";
    bool ok = need(j, "W", m->window > 0, "model.mixers", "model.window");
    ok &= need(j, "wch", m->window > 0, "model.mixers", "model.window");
    ok &= need(j, "wch", m->query_rank > 0, "model.mixers", "model.query_rank");
    ok &= need(j, "wch", !m->kv_rank, "model.kv_rank", "no kv_rank: heads share one key already");
    ok &= need(j, "DS", m->kv_rank > 0, "model.mixers", "latent attention: model.kv_rank");
    ok &= need(j, "wch", m->heads % m->output_groups == 0, "model.output_groups",
               "heads that are a multiple of output_groups");
    ok &= need(j, "M", m->mamba_heads > 0, "model.mixers", "model.mamba_heads: 2 hidden is less than mamba_head_size");
    ok &= need(j, "M", m->mamba_heads % m->mamba_groups == 0, groups,
               "mamba_heads that are a multiple of mamba_groups (default 8)");
    ok &= need(j, "GKL", m->linear_value_heads % m->linear_key_heads == 0, "model.linear_key_heads",
               "linear_value_heads that are a multiple of linear_key_heads");
    ok &= need(j, "B", m->index_block > 0, "model.mixers", "model.index_block");
    ok &= need(j, "B", !m->kv_rank, "model.kv_rank", "keys and values of heads, not latent ones");
    ok &= need(j, "MGKLCDSBwch", !m->biases, "model.biases", "biases: false: their matrices have none");
    ok &= need(j, "MGKLCDSBwch", m->causal, "model.causal", "causal: true: a token sees only those before it");
    if (has_feed(m, FEED_EXPERTS) && !m->experts) {
        j->api->error(j->job, m->pattern ? "model.pattern" : "model.feeds",
                      "layers with experts (E) need model.experts");
        ok = false;
    }
    if (m->experts && !has_feed(m, FEED_EXPERTS)) {
        j->api->error(j->job, "model.experts", "no layer has experts; expected an E in feeds or pattern");
        ok = false;
    }
    return ok;
}

/* ---- ranks ---- */

static bool check_heads(const struct transformer_job *j, const char *letters, const char *key, uint64_t heads,
                        double ranks, const char *who)
{
    if (!has_mixer(&j->model, letters) || heads % (uint64_t)ranks == 0)
        return true;
    j->api->error(j->job, key, "%llu cannot be divided over %.0f %s", (unsigned long long)heads, ranks, who);
    return false;
}

/* Keys and values of few heads are repeated on more ranks than heads. */
bool transformer_check_kv_heads(const struct transformer_job *j, const char *key, uint64_t heads, uint64_t kv_heads)
{
    uint64_t tensor = (uint64_t)j->layout.tensor;
    bool shared = heads % kv_heads == 0, own = kv_heads != heads; /* otherwise it was said of heads */
    if (!shared)
        j->api->error(j->job, key, "%llu heads cannot share %llu heads of keys and values evenly",
                      (unsigned long long)heads, (unsigned long long)kv_heads);
    else if (own && tensor % kv_heads && kv_heads % tensor)
        j->api->error(j->job, key, "%s %llu cannot be divided over %llu tensor-parallel ranks", strchr(key, '.') + 1,
                      (unsigned long long)kv_heads, (unsigned long long)tensor);
    else
        return true;
    return false;
}

static bool check_ranks(const struct transformer_job *j)
{
    const struct transformer_model *m = &j->model;
    double tensor = j->layout.tensor, both = tensor * j->layout.context;
    const char *who = "tensor-parallel ranks", *exchange = "tensor-parallel ranks and context-parallel ones in them, "
                                                           "which exchange heads";
    bool ok = check_heads(j, "M", "model.mamba_heads", m->mamba_heads, both, both > tensor ? exchange : who);
    ok &= check_heads(j, "M", "model.mamba_groups", m->mamba_groups, tensor, who);
    ok &= check_heads(j, "G", "model.linear_value_heads", m->linear_value_heads, both, both > tensor ? exchange : who);
    ok &= check_heads(j, "KL", "model.linear_value_heads", m->linear_value_heads, tensor, who);
    ok &= check_heads(j, "GKL", "model.linear_key_heads", m->linear_key_heads, tensor, who);
    ok &= check_heads(j, "C", "model.hidden", m->hidden, tensor, who);
    return ok & check_heads(j, "wch", "model.output_groups", m->output_groups, tensor, who);
}

/* Of layers with a window, where their heads are others: whether or not kinds are given. */
static bool check_local(const struct transformer_job *j)
{
    const struct transformer_model *m = &j->model, *given = &j->parameters->model;
    if ((!given->local_heads && !given->local_kv_heads) || !has_mixer(m, "W"))
        return true;
    bool ok = check_heads(j, "W", "model.local_heads", m->local_heads, j->layout.tensor, "tensor-parallel ranks");
    const char *key = given->local_kv_heads ? "model.local_kv_heads" : "model.local_heads";
    return transformer_check_kv_heads(j, key, m->local_heads, m->local_kv_heads) && ok;
}

static bool check_layer_kv_heads(const struct transformer_job *j)
{
    const struct stagesim_list *list = &j->model.layer_kv_heads;
    for (size_t i = 0; i < list->count; i++) {
        struct transformer_model own = transformer_model_of_layer(&j->model, i);
        if (list->values[i] > 0 && own.mixer != MIXER_LOCAL &&
            !transformer_check_kv_heads(j, "model.layer_kv_heads", own.heads, (uint64_t)list->values[i]))
            return false;
    }
    return true;
}

static bool check_ffn(const struct transformer_job *j)
{
    const struct stagesim_list *list = &j->model.layer_ffn;
    for (size_t i = 0; i < list->count; i++)
        if ((uint64_t)list->values[i] % (uint64_t)j->layout.tensor) {
            j->api->error(j->job, "model.layer_ffn",
                          "%.0f of layer %zu cannot be divided over %.0f tensor-parallel ranks", list->values[i], i + 1,
                          j->layout.tensor);
            return false;
        }
    return true;
}

/* What knows only layers of attention and a feed-forward block. */
static bool check_company(const struct transformer_job *j)
{
    const char *name = tensor_algorithm_names[j->tensor.algorithm];
    if (j->tensor.algorithm != TENSOR_MEGATRON)
        j->api->error(j->job, "tensor_parallel.algorithm", "layers of several kinds are for megatron-1d, not %s", name);
    if (j->parameters->profile)
        j->api->error(j->job, "compute.profile", "a profile has the times of one kind of layer; the model has several");
    return j->tensor.algorithm == TENSOR_MEGATRON && !j->parameters->profile;
}

bool transformer_check_kinds(const struct transformer_job *j)
{
    const struct transformer_model *m = &j->model;
    bool ok = check_own_keys(j);
    ok &= transformer_check_towers(j);
    ok &= check_local(j);
    if (!transformer_has_kinds(m))
        return ok;
    ok &= check_texts(j);
    ok &= check_list(j, "model.layer_kv_heads", &m->layer_kv_heads);
    ok &= check_list(j, "model.layer_ffn", &m->layer_ffn);
    ok = ok && check_needs(j) && check_ranks(j) && check_layer_kv_heads(j) && check_ffn(j);
    return check_company(j) && ok;
}
