/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of several kinds, for frameworks that have them. */
#include "base/arena.h"
#include "job/export/export.h"
#include "workloads/transformer/kinds/letters.h"
#include "workloads/transformer/pipeline_layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Megatron-LM's letter of a mixer; 0: it has none. */
static char letter_of(const struct transformer_model *own)
{
    switch (own->mixer) {
    case MIXER_ATTENTION:
        return own->kv_rank ? '+' : '*';
    case MIXER_MAMBA:
        return 'M';
    case MIXER_GATED_DELTA:
        return 'G';
    case MIXER_SPARSE:
        return 'D';
    default:
        return 0;
    }
}

static bool is_hybrid(const struct transformer_model *m)
{
    return m->mixers || m->feeds || m->pattern || m->layer_kv_heads.count || m->layer_ffn.count;
}

/* The letters of a layer: of what mixes tokens, and of what follows. */
static void add_layer(struct export_job *job, const struct transformer_model *own, char *text, bool *foreign)
{
    size_t at = strlen(text);
    char letter = letter_of(own);
    if (own->mixer != MIXER_NONE) {
        if (!letter && !foreign[own->mixer])
            export_remark(job, "model.mixers", "%s has no letter, an attention (*) stands in its place",
                          transformer_mixer_letters[own->mixer].name);
        foreign[own->mixer] = true;
        text[at++] = letter ? letter : '*';
    }
    if (own->feed != FEED_NONE)
        text[at++] = own->feed == FEED_EXPERTS ? 'E' : '-';
    text[at] = 0;
}

/* Layers of each stage, as the job's layout has them or equally many. */
static uint32_t *stage_layers(const struct export_job *job)
{
    uint32_t *counts = arena_array(job->arena, job->stages, sizeof *counts);
    struct pipeline_layout layout;
    struct fault fault = {""};
    bool told = job->layout && pipeline_layout_read(job->layout, 0, &layout, &fault);
    for (uint64_t stage = 0; stage < job->stages; stage++)
        counts[stage] = told ? layout.counts[stage] : (uint32_t)(job->model.layers / job->stages);
    if (told)
        pipeline_layout_finish(&layout);
    return counts;
}

const char *export_pattern(struct export_job *job)
{
    const struct transformer_model *m = &job->model;
    bool foreign[TRANSFORMER_MIXERS] = {false};
    if (!is_hybrid(m))
        return NULL;
    char *text = arena_alloc(job->arena, 2 * m->layers + job->stages + 3 * m->predictions + 1);
    const uint32_t *counts = stage_layers(job);
    uint64_t layer = 0;
    text[0] = 0;
    for (uint64_t stage = 0; stage < job->stages; stage++) {
        for (uint32_t i = 0; i < counts[stage] && layer < m->layers; i++, layer++) {
            struct transformer_model own = transformer_model_of_layer(m, layer);
            add_layer(job, &own, text, foreign);
        }
        if (stage + 1 < job->stages)
            strcat(text, "|");
    }
    for (uint64_t i = 0; i < m->predictions; i++) {
        struct transformer_model own = transformer_model_of_layer(m, m->layers + i);
        strcat(text, "/");
        add_layer(job, &own, text, foreign);
    }
    return text;
}

static void remark_if(struct export_job *job, bool differs, const char *key, const char *text)
{
    if (differs)
        export_remark(job, key, "%s", text);
}

void export_remark_kinds(struct export_job *job, bool megatron)
{
    const struct transformer_model *m = &job->model;
    const char *part = "a part of the model, which is in the framework's code and not in its options";
    remark_if(job, !megatron && is_hybrid(m), m->pattern ? "model.pattern" : "model.mixers", part);
    remark_if(job, !megatron && m->streams > 1, "model.streams", part);
    remark_if(job, !megatron && m->predictions > 0, "model.predictions", part);
    remark_if(job, !megatron && m->expert_width != m->hidden, "model.expert_width", part);
    remark_if(job, !megatron && m->output_gate, "model.output_gate", part);
    remark_if(job, m->layer_kv_heads.count > 0, "model.layer_kv_heads", "layers have one number of heads");
    remark_if(job, m->layer_ffn.count > 0, "model.layer_ffn", "layers have one width");
    remark_if(job, m->keys_are_values, "model.keys_are_values", part);
    remark_if(job, m->qk_norm_whole || m->qk_norm_free, m->qk_norm_whole ? "model.qk_norm_whole" : "model.qk_norm_free",
              part);
    remark_if(job, m->residual_blocks > 0, "model.residual_blocks", part);
    remark_if(job, m->expert_width_norm, "model.expert_width_norm", part);
    remark_if(job, m->router_scales, "model.router_scales", part);
    remark_if(job, m->hash_layers > 0, "model.hash_layers", part);
}

const char *export_expert_layers(const struct export_job *job)
{
    const struct transformer_model *m = &job->model;
    uint64_t rest = m->layers - m->dense_layers, period = m->expert_period;
    const char *text = m->dense_layers ? arena_print(job->arena, "[0]*%" PRIu64, m->dense_layers) : "";
    const char *round = "[1";
    for (uint64_t i = 1; i < period; i++)
        round = arena_print(job->arena, "%s,0", round);
    if (rest / period)
        text = arena_print(job->arena, "%s%s%s]*%" PRIu64, text, *text ? "+" : "", round, rest / period);
    if (rest % period) /* a round that is cut */
        text = arena_print(job->arena, "%s%s%.*s]", text, *text ? "+" : "", (int)(2 * (rest % period)), round);
    return text;
}
