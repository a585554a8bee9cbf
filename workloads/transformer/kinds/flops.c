/* SPDX-License-Identifier: Apache-2.0 */
/* Flop of a model's products. */
#include "workloads/transformer/kinds/kinds.h"
#include "workloads/transformer/kinds/operators.h"
#include "workloads/transformer/kinds/scan.h"
#include "workloads/transformer/kinds/tower.h"

/* ---- what mixes tokens ---- */

double transformer_attention_flops(const struct transformer_model *m)
{
    const struct transformer_kind *kind = transformer_kind_of(m);
    if (!kind->scan)
        return kind->core_flops(m);
    struct kind_scan scan = kind->scan(m);
    return scan_flops(m, &scan);
}

/* Of a layer's two blocks the product over all residual streams. */
static double site_flops(const struct transformer_model *m)
{
    double streams = (double)m->streams;
    return m->streams > 1 ? 2 * (double)m->sequence * (2 + streams) * streams * streams * (double)m->hidden : 0;
}

static double attention_block_flops(const struct transformer_model *m)
{
    struct kind_parameters p = transformer_kind_of(m)->parameters(m);
    if (m->mixer == MIXER_NONE)
        return 0;
    return 2 * (double)m->sequence * (p.into + p.whole + p.out) + transformer_attention_flops(m) + site_flops(m);
}

/* ---- feed-forward ---- */

static double ffn_matrices(const struct transformer_model *m, double width, double inner)
{
    return (m->gated ? 3.0 : 2.0) * width * inner;
}

static double ffn_flops(const struct transformer_model *m)
{
    return 2 * (double)m->sequence * ffn_matrices(m, (double)m->hidden, (double)m->ffn) + site_flops(m);
}

static double experts_flops(const struct transformer_model *m)
{
    double h = (double)m->hidden, width = transformer_expert_width(m);
    double used = (double)m->top_k * ffn_matrices(m, width, (double)m->expert_ffn) +
                  ffn_matrices(m, h, transformer_shared_width(m));
    double router = h * (double)m->experts + (transformer_narrow_experts(m) ? 2 * h * width : 0);
    return 2 * (double)m->sequence * (used + router) + site_flops(m);
}

/* ---- layers ---- */

double transformer_layer_flops(const struct transformer_model *m)
{
    return attention_block_flops(m) + ffn_flops(m);
}

double transformer_expert_layer_flops(const struct transformer_model *m)
{
    return attention_block_flops(m) + experts_flops(m);
}

double transformer_own_layer_flops(const struct transformer_model *own)
{
    double feed = own->feed == FEED_DENSE ? ffn_flops(own) : own->feed == FEED_EXPERTS ? experts_flops(own) : 0;
    return attention_block_flops(own) + feed;
}

/* Of what mixes tokens in all layers, as `of` has it of a layer's own model. */
static double sum_of(const struct transformer_model *m, double (*of)(const struct transformer_model *own))
{
    double sum = 0;
    for (uint64_t layer = 0; layer < m->layers; layer++) {
        struct transformer_model own = transformer_model_of_layer(m, layer);
        sum += of(&own);
    }
    return sum;
}

static double scores_flops(const struct transformer_model *own)
{
    return transformer_kind_of(own)->attends ? transformer_attention_flops(own) : 0;
}

double transformer_all_attention_flops(const struct transformer_model *m)
{
    struct transformer_model whole = *m;
    whole.window = 0;
    uint64_t all = !m->window ? m->layers : m->window_period ? m->layers / m->window_period : 0;
    if (transformer_has_kinds(m))
        return sum_of(m, scores_flops);
    return (double)all * transformer_attention_flops(&whole) +
           (double)(m->layers - all) * transformer_attention_flops(m);
}

double transformer_layers_flops(const struct transformer_model *m)
{
    double experts = (double)transformer_expert_layers(m, m->layers);
    if (transformer_has_kinds(m))
        return sum_of(m, transformer_own_layer_flops);
    double sum =
        ((double)m->layers - experts) * transformer_layer_flops(m) + experts * transformer_expert_layer_flops(m);
    return m->window ? sum - (double)m->layers * transformer_attention_flops(m) + transformer_all_attention_flops(m)
                     : sum;
}

double transformer_head_flops(const struct transformer_model *m)
{
    double h = (double)m->hidden, s = (double)m->sequence;
    return 2 * s * transformer_vocabulary_matrix(m) + (m->head_transform ? 2 * s * h * h : 0);
}

static double spared_of(const struct transformer_model *own)
{
    const struct transformer_kind *kind = transformer_kind_of(own);
    return kind->spared_flops ? kind->spared_flops(own) : 0;
}

/* Of layers that predict further tokens, each with its own product over the vocabulary. */
static double further_flops(const struct transformer_model *m)
{
    double sum = 0, h = (double)m->hidden;
    for (uint64_t number = 0; number < m->predictions; number++) {
        struct transformer_model own = transformer_model_of_layer(m, m->layers + number);
        sum += transformer_own_layer_flops(&own) - spared_of(&own) / 3 + transformer_head_flops(m) +
               2 * (double)m->sequence * 2 * h * h;
    }
    return sum;
}

double transformer_flops(const struct transformer_model *m)
{
    double flops = 3 * (transformer_layers_flops(m) + transformer_head_flops(m));
    return transformer_has_kinds(m) ? flops + 3 * further_flops(m) - sum_of(m, spared_of) : flops;
}

static double matrices_of(const struct transformer_model *own)
{
    return transformer_own_layer_flops(own) - transformer_attention_flops(own);
}

double transformer_weight_flops(const struct transformer_model *m)
{
    return sum_of(m, matrices_of) + transformer_head_flops(m);
}

double transformer_tower_flops(const struct transformer_model *m, enum transformer_tower_kind kind)
{
    const struct transformer_tower *t = &m->towers[kind];
    struct transformer_model tower = tower_model(t);
    return t->layers ? t->items * (transformer_layers_flops(&tower) + tower_end_flops(m, kind)) : 0;
}

/* ---- what runs again ---- */

/* Of a block of one sample on a single rank. */
static double again_of(const struct transformer_model *model, enum transformer_recompute recompute,
                       enum transformer_block block)
{
    struct transformer_layout whole = {.samples = 1,
                                       .tensor = 1,
                                       .width = 1,
                                       .gathered_rows = 1,
                                       .context = 1,
                                       .expert = 1,
                                       .expert_tensor = 1,
                                       .padding = 1,
                                       .flash = true,
                                       .element_bytes = 2,
                                       .gradient_bytes = 4,
                                       .recompute = recompute};
    struct transformer_operators operators;
    transformer_backward(model, &whole, block, &operators);
    return transformer_operators_flops(&operators, false);
}

/* Of a layer's own model. */
static double again_of_layer(const struct transformer_model *own)
{
    static const enum transformer_block blocks[][3] = {
        [FEED_DENSE] = {BLOCK_ATTENTION, BLOCK_FFN, BLOCK_CORE},
        [FEED_EXPERTS] = {BLOCK_ATTENTION, BLOCK_SHARED, BLOCK_EXPERTS},
        [FEED_NONE] = {BLOCK_ATTENTION, BLOCK_CORE, BLOCK_CORE},
    };
    double sum = 0;
    for (unsigned i = 0; i < 3; i++) /* a core is none of what runs again */
        if (blocks[own->feed][i] != BLOCK_CORE)
            sum += again_of(own, TRANSFORMER_OPERATORS, blocks[own->feed][i]) -
                   again_of(own, TRANSFORMER_KEEP, blocks[own->feed][i]);
    return sum;
}

double transformer_again_flops(const struct transformer_model *model)
{
    static const enum transformer_block blocks[] = {BLOCK_ATTENTION, BLOCK_FFN, BLOCK_SHARED, BLOCK_EXPERTS};
    double with_experts = (double)transformer_expert_layers(model, (uint32_t)model->layers), sum = 0;
    double dense = (double)model->layers - with_experts;
    if (transformer_has_kinds(model))
        return sum_of(model, again_of_layer);
    const double layers[] = {(double)model->layers, dense, with_experts, with_experts};
    for (unsigned i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (layers[i] > 0)
            sum += layers[i] *
                   (again_of(model, TRANSFORMER_OPERATORS, blocks[i]) - again_of(model, TRANSFORMER_KEEP, blocks[i]));
    return sum;
}

/* Of a layer's own model: scores that flash attention forms once more. */
static double formed_again(const struct transformer_model *own)
{
    const struct transformer_kind *kind = transformer_kind_of(own);
    struct transformer_widths widths = kind->widths(own);
    if (kind->scores_flops)
        return kind->scores_flops(own);
    return kind->attends ? kind->core_flops(own) * widths.query / (widths.query + widths.output) : 0;
}

/* Last products that are not computed again where their layers are. */
static double stopped_flops(const struct transformer_model *m, const struct transformer_layout *layout)
{
    double sum = 0;
    for (uint64_t layer = 0; layout->stops_early && layer < m->layers; layer++) {
        struct transformer_model own = transformer_model_of_layer(m, layer);
        if (own.feed == FEED_DENSE && transformer_stops_early(&own, layout, BLOCK_FFN))
            sum += 2 * (double)own.sequence * (double)own.ffn * (double)own.hidden;
    }
    return sum;
}

double transformer_repeated_flops(const struct transformer_model *model, const struct transformer_layout *layout)
{
    bool kinds = transformer_has_kinds(model);
    struct transformer_widths widths = transformer_widths_of(model);
    double scores = kinds ? 0 : widths.query / (widths.query + widths.output);
    double attention = transformer_all_attention_flops(model),
           once = kinds ? sum_of(model, formed_again) : attention * scores, flash = layout->flash ? once : 0;
    if (layout->recompute == TRANSFORMER_FULL)
        return transformer_layers_flops(model) - stopped_flops(model, layout) + flash;
    if (layout->recompute == TRANSFORMER_OPERATORS)
        return transformer_again_flops(model) + flash;
    return layout->recompute == TRANSFORMER_SELECTIVE && !layout->flash ? 3 * attention : flash;
}
