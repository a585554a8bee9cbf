/* SPDX-License-Identifier: Apache-2.0 */
#include "base/words/aliases.h"

#include "base/diagnostics.h"

#include <string.h>
#include <strings.h>

/* A word may stand for several: which one is meant follows from what there is to choose from. */
static const char *const aliases[][2] = {
    {"tp", "tensor"},
    {"tensor_parallel", "tensor"},
    {"tensor_model_parallel_size", "tensor"},
    {"pp", "pipeline"},
    {"pipeline_parallel", "pipeline"},
    {"pipeline_model_parallel_size", "pipeline"},
    {"dp", "data"},
    {"data_parallel", "data"},
    {"cp", "context"},
    {"context_parallel_size", "context"},
    {"ep", "expert"},
    {"expert_model_parallel_size", "expert"},
    {"etp", "expert_tensor"},
    {"sp", "sequence_parallel"},
    {"mbs", "micro"},
    {"micro_batch_size", "micro"},
    {"gbs", "global"},
    {"global_batch_size", "global"},
    {"gradient_accumulation_steps", "micro_batches"},
    {"num_layers", "layers"},
    {"num_hidden_layers", "layers"},
    {"hidden_size", "hidden"},
    {"num_attention_heads", "heads"},
    {"seq_length", "sequence"},
    {"seq_len", "sequence"},
    {"max_position_embeddings", "sequence"},
    {"vocab_size", "vocabulary"},
    {"dtype", "precision"},
    {"zero_stage", "zero"},
    {"gpus", "nodes"},
    {"num_nodes", "nodes"},
    {"activation_checkpointing", "recompute"},
    {"currency_per_hour", "price"},
    {"zero-bubble", "zb-h1"},
    {"zerobubble", "zb-h1"},
    {"zbh1", "zb-h1"},
    {"zbh2", "zb-h2"},
    {"zbv", "zb-v"},
    {"zbvzerobubble", "zb-v"},
    {"interleaved-1f1b", "interleaved"},
    {"1f1b-interleaved", "interleaved"},
    {"interleaved1f1b", "interleaved"},
    {"vpp", "interleaved"},
    {"dualpipev", "dualpipe-v"},
    {"pipedream-flush", "1f1b"},
    {"pipedream-2bw", "2bw"},
    {"bfs", "breadth-first"},
    {"loopedbfs", "breadth-first"},
    {"v100", "dgx-1v"},
    {"a100", "dgx-a100"},
    {"h100", "dgx-h100"},
    {"h800", "hgx-h800"},
    {"h200", "dgx-h200"},
    {"b200", "dgx-b200"},
    {"gb200", "gb200-nvl72"},
    {"gh200", "alps"},
    {"mi250x", "frontier"},
    {"p100", "piz-daint"},
};
enum { ALIASES = sizeof aliases / sizeof *aliases };

static const char *find_case(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcasecmp(words[i], word))
            return words[i];
    return NULL;
}

const char *alias_nearest(const char *word, const char *const *words, size_t count)
{
    const char *found = find_case(word, words, count);
    for (size_t i = 0; i < ALIASES && !found; i++)
        if (!strcasecmp(aliases[i][0], word))
            found = find_case(aliases[i][1], words, count);
    return found ? found : diag_nearest(word, words, count);
}

bool alias_is(const char *word, const char *name)
{
    bool is = !strcasecmp(word, name);
    for (size_t i = 0; i < ALIASES && !is; i++)
        is = !strcasecmp(aliases[i][0], word) && !strcmp(aliases[i][1], name);
    return is;
}

const char *alias_axis(const char *key)
{
    static const char *const axes[][2] = {
        {"tp", "tensor"}, {"pp", "pipeline"}, {"dp", "data"}, {"cp", "context"}, {"ep", "expert"}};
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++)
        if (!strcmp(axes[i][0], key))
            return axes[i][1];
    return key;
}

static const char *find_last(const char *key, const char *const *paths)
{
    for (; *paths; paths++) {
        const char *dot = strrchr(*paths, '.');
        if (dot && !strcmp(dot + 1, key))
            return *paths;
    }
    return NULL;
}

const char *alias_elsewhere(const char *key, const char *const *paths)
{
    const char *found = find_last(key, paths);
    for (size_t i = 0; i < ALIASES && !found; i++)
        if (!strcasecmp(aliases[i][0], key))
            found = find_last(aliases[i][1], paths);
    return found;
}
