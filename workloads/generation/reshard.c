/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/generation/reshard.h"

#include "base/arena.h"
#include "workloads/transformer/kinds/operators.h"

#include <math.h>

struct reshard_model reshard_model_of(const struct transformer_model *model, double element, struct arena *arena)
{
    struct reshard_model out = {.count = (uint32_t)model->layers};
    out.layers = arena_array(arena, out.count + 1, sizeof *out.layers);
    for (uint32_t i = 0; i < out.count; i++) {
        struct transformer_model own = transformer_model_of_layer(model, i);
        struct reshard_layer *layer = &out.layers[i];
        layer->whole = element * transformer_attention_whole(&own);
        layer->divided = element * transformer_attention_divided(&own);
        if (own.feed == FEED_DENSE) {
            layer->whole += element * transformer_ffn_whole(&own);
            layer->divided += element * transformer_ffn_divided(&own);
        } else if (own.feed == FEED_EXPERTS) {
            layer->whole += element * transformer_router_whole(&own);
            layer->divided += element * transformer_shared_divided(&own);
            layer->expert = element * transformer_expert(&own);
            layer->experts = (uint32_t)own.experts;
        }
    }
    out.last = element * transformer_vocabulary_matrix(model);
    out.tied = model->tied;
    out.first = model->tied ? 0 : out.last;
    out.first_whole = element * transformer_input_rest(model);
    out.last_whole = element * transformer_output_rest(model);
    return out;
}

uint32_t reshard_ranks(const struct reshard_layout *layout)
{
    return layout->tensor * layout->data * layout->pipeline;
}

double reshard_bytes(const struct reshard_model *model)
{
    double sum = model->first + model->last + model->first_whole + model->last_whole;
    for (uint32_t i = 0; i < model->count; i++)
        sum += model->layers[i].whole + model->layers[i].divided + model->layers[i].experts * model->layers[i].expert;
    return sum;
}

/* ---- what a rank has ---- */

/* From lo to hi of `parts` equal parts of a tensor. */
struct slice {
    uint64_t lo, hi, parts;
};

struct holding {
    uint32_t first_layer, end_layer;
    bool input, output;
    struct slice whole, divided, expert;
    uint32_t group, groups;                             /* of experts */
    double whole_copies, divided_copies, expert_copies; /* ranks of a stage that have the same */
    double stages;                                      /* that have a tied matrix */
};

static struct slice slice_of(uint64_t index, uint64_t parts)
{
    return (struct slice){index, index + 1, parts};
}

static struct holding holding_of(const struct reshard_model *model, const struct reshard_layout *l, uint32_t rank)
{
    uint32_t ranks = l->tensor * l->data, stage = rank / ranks, r = rank % ranks, t = r % l->tensor, d = r / l->tensor;
    struct holding h = {.first_layer = (uint32_t)((uint64_t)stage * model->count / l->pipeline),
                        .end_layer = (uint32_t)((uint64_t)(stage + 1) * model->count / l->pipeline),
                        .input = stage == 0,
                        .output = stage + 1 == l->pipeline,
                        .whole = slice_of(0, 1),
                        .divided = slice_of(t, l->tensor),
                        .expert = slice_of(r % l->expert_tensor, l->expert_tensor),
                        .group = r / l->expert_tensor % l->expert,
                        .groups = l->expert,
                        .stages = l->pipeline > 1 ? 2 : 1,
                        .whole_copies = ranks,
                        .divided_copies = l->data,
                        .expert_copies = (double)ranks / (l->expert * l->expert_tensor)};
    if (l->sharded) {
        h.whole = slice_of(d, l->data);
        h.divided = h.expert = slice_of((uint64_t)t * l->data + d, ranks);
        h.group = 0;
        h.groups = 1;
        h.whole_copies = l->tensor;
        h.divided_copies = h.expert_copies = 1;
    }
    return h;
}

/* Bytes of a tensor that are in both slices. Exact where the parts divide its elements. */
static double both(double bytes, struct slice a, struct slice b)
{
    uint64_t from = a.lo * b.parts > b.lo * a.parts ? a.lo * b.parts : b.lo * a.parts;
    uint64_t to = a.hi * b.parts < b.hi * a.parts ? a.hi * b.parts : b.hi * a.parts;
    return to > from ? bytes * (double)(to - from) / (double)(a.parts * b.parts) : 0;
}

/* Experts that both groups have. */
static double experts_of_both(uint32_t experts, const struct holding *a, const struct holding *b)
{
    return both(experts, slice_of(a->group, a->groups), slice_of(b->group, b->groups));
}

static double common(const struct reshard_model *model, const struct holding *a, const struct holding *b, bool shared)
{
    double whole = shared ? a->whole_copies : 1, divided = shared ? a->divided_copies : 1,
           expert = shared ? a->expert_copies : 1, sum = 0;
    uint32_t from = a->first_layer > b->first_layer ? a->first_layer : b->first_layer;
    for (uint32_t i = from; i < a->end_layer && i < b->end_layer; i++) {
        const struct reshard_layer *layer = &model->layers[i];
        sum += both(layer->whole, a->whole, b->whole) / whole + both(layer->divided, a->divided, b->divided) / divided;
        if (layer->experts)
            sum += experts_of_both(layer->experts, a, b) * both(layer->expert, a->expert, b->expert) / expert;
    }
    bool first = a->input && b->input, last = a->output && b->output;
    double wholes = (first ? model->first_whole : 0) + (last ? model->last_whole : 0);
    sum += both(wholes, a->whole, b->whole) / whole;
    double stages = shared && model->tied ? a->stages : 1;
    if (model->tied)
        last = (a->input || a->output) && (b->input || b->output);
    double ends = (first ? model->first : 0) + (last ? model->last / stages : 0);
    return sum + both(ends, a->divided, b->divided) / divided;
}

double reshard_held(const struct reshard_model *model, const struct reshard_layout *layout, uint32_t rank)
{
    struct holding own = holding_of(model, layout, rank);
    return common(model, &own, &own, false);
}

double reshard_common(const struct reshard_model *model, const struct reshard_layout *from, uint32_t source,
                      const struct reshard_layout *to, uint32_t target)
{
    struct holding a = holding_of(model, from, source), b = holding_of(model, to, target);
    return common(model, &a, &b, false);
}

double reshard_sent(const struct reshard_model *model, const struct reshard_layout *from, uint32_t source,
                    const struct reshard_layout *to, uint32_t target)
{
    struct holding a = holding_of(model, from, source), b = holding_of(model, to, target);
    return common(model, &a, &b, true);
}
