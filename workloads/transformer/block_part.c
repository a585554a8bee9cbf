/* SPDX-License-Identifier: Apache-2.0 */
/* What a block of a layer costs: times, bytes of its weights, exchanges. */
#include "workloads/transformer/kinds/tower.h"
#include "workloads/transformer/transformer.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

/* Of the parameters of what mixes tokens, those before the core. */
static double share_before(const struct transformer_model *m)
{
    struct transformer_widths widths = transformer_widths_of(m);
    double into = widths.query + widths.key + widths.value;
    return into > 0 ? into / (into + widths.output) : 0;
}

/* The part of an attention's or a feed-forward block's parameters that is in a part of it. */
static double share_of(const struct transformer_model *m, enum transformer_block block)
{
    struct transformer_widths widths = transformer_widths_of(m);
    double into = widths.query + widths.key + widths.value, first = (m->gated ? 2 : 1) * (double)m->ffn;
    switch (block) {
    case BLOCK_PROJECTIONS:
        return share_before(m);
    case BLOCK_JOIN:
        return into > 0 ? widths.output / (into + widths.output) : 0;
    case BLOCK_CORE:
        return 0;
    case BLOCK_FIRST:
        return first / (first + (double)m->ffn);
    case BLOCK_SECOND:
        return (double)m->ffn / (first + (double)m->ffn);
    default:
        return 1;
    }
}

double transformer_expert_parameters(const struct transformer_job *j)
{
    return (double)j->model.experts / j->layout.expert * transformer_expert(&j->model) / j->layout.expert_tensor;
}

double transformer_block_parameters(const struct transformer_job *j, enum transformer_block block)
{
    const struct transformer_model *m = &j->model;
    double t = tensor_weight_parts(&j->tensor), w = j->layout.width;
    switch (block) {
    case BLOCK_INPUT:
        return transformer_vocabulary_matrix(m) / t + transformer_input_rest(m) / w;
    case BLOCK_OUTPUT:
        return (m->tied && !j->embedding_copied ? 0 : transformer_vocabulary_matrix(m) / t) +
               transformer_output_rest(m) / w;
    case BLOCK_ATTENTION:
    case BLOCK_PROJECTIONS:
    case BLOCK_CORE:
    case BLOCK_JOIN:
        return share_of(m, block) * (transformer_attention_divided(m) / t + transformer_attention_whole(m) / w);
    case BLOCK_PREDICTION:
        return transformer_prediction_whole(m);
    case BLOCK_TOWER:
    case BLOCK_TOWERS_END:
        return tower_end_parameters(m, (enum transformer_tower_kind)(block - BLOCK_TOWER));
    case BLOCK_ROUTER:
        return transformer_router_whole(m);
    case BLOCK_SHARED:
        return transformer_shared_divided(m) / t;
    case BLOCK_EXPERTS:
    case BLOCK_COMBINE:
        return 0;
    default:
        return share_of(m, block) * (transformer_ffn_divided(m) / t + transformer_ffn_whole(m) / w);
    }
}

/* Of a measured layer's forward, what its backward computes again: by flop, where it is only the products over scores.
 */
static double repeated_share(const struct transformer_job *j)
{
    if (j->layout.recompute == TRANSFORMER_FULL)
        return 1;
    if (j->layout.recompute == TRANSFORMER_OPERATORS)
        return transformer_again_flops(&j->model) / transformer_layers_flops(&j->model);
    bool scores = j->layout.recompute == TRANSFORMER_SELECTIVE && !j->layout.flash;
    return scores ? transformer_attention_flops(&j->model) / transformer_layer_flops(&j->model) : 0;
}

/* Times from the user's profile; a kind that was not measured takes the layers' time by its share of the flop. */
static void set_profile_times(const struct transformer_job *j, enum transformer_block block, struct stagesim_part *part)
{
    struct layer_time layer = {0}, own = {0};
    struct fault unused = {""};
    enum layer_kind kind = block == BLOCK_INPUT    ? PROFILE_EMBEDDING
                           : block == BLOCK_OUTPUT ? PROFILE_HEAD
                                                   : PROFILE_LAYER;
    layer_profile_at(&j->profile, PROFILE_LAYER, j->layout.samples, &layer, &unused);
    double share = transformer_head_flops(&j->model) / transformer_layer_flops(&j->model);
    if (kind == PROFILE_LAYER)
        share = 0.5; /* a layer is two blocks */
    else if (kind == PROFILE_EMBEDDING)
        share = 0;
    if (j->profile.rows[kind] && kind != PROFILE_LAYER &&
        layer_profile_at(&j->profile, kind, j->layout.samples, &own, &unused)) {
        layer = own;
        share = 1;
    }
    double again = kind == PROFILE_LAYER ? repeated_share(j) : 0;
    part->forward = share * layer.forward;
    part->backward = share * (layer.backward + again * layer.forward);
    part->weight = share * layer.backward / 2;
}

double transformer_exchanges_seconds(const struct transformer_job *j, const struct stagesim_exchanges *exchanges)
{
    double sum = 0, longest = 0; /* of those that begin together */
    bool counts = false;
    for (unsigned i = 0; i < STAGESIM_EXCHANGES_MAX && exchanges->items[i].bytes > 0; i++) {
        const struct stagesim_exchange *exchange = &exchanges->items[i];
        bool together = exchange->moment == STAGESIM_TOGETHER;
        counts = together ? counts : exchange->moment == STAGESIM_AFTER || exchange->moment == STAGESIM_BEFORE;
        if (!counts)
            continue;
        double buffers = fmax(exchange->buffers, 1);
        double seconds = buffers * j->api->collective_seconds(j->job, 0, exchange->axes, exchange->collective,
                                                              exchange->bytes / buffers);
        sum += together ? fmax(seconds - longest, 0) : seconds;
        longest = together ? fmax(seconds, longest) : seconds;
    }
    return sum;
}

/* Seconds in which the host goes on issuing operators while a part waits for its exchanges. */
static double hidden_time(const struct transformer_job *j, const struct stagesim_exchanges *exchanges)
{
    return j->device.efficiency->dispatch > 0 ? transformer_exchanges_seconds(j, exchanges) : 0;
}

/* Kernels that are not fused write and read what others hand on. */
static void move_unfused(const struct transformer_job *j, struct transformer_operators *operators)
{
    for (unsigned i = 0; i < operators->count; i++)
        operators->items[i].bytes *=
            operators->items[i].matrix || operators->items[i].single ? 1 : j->parameters->unfused;
}

/* Of a block on one rank, those that have gradients: all, or its adapters. */
static double trained_parameters(const struct transformer_job *j, enum transformer_block block)
{
    if (!j->parameters->adapter_rank)
        return transformer_block_parameters(j, block);
    return block == BLOCK_EXPERTS ? 0 : transformer_adapter_parameters(j, block);
}

static double trained_experts(const struct transformer_job *j)
{
    return j->parameters->adapter_rank ? transformer_adapter_parameters(j, BLOCK_EXPERTS)
                                       : transformer_expert_parameters(j);
}

/* Each micro-batch's gradients are read, and added to those in fp32. */
static void add_up(const struct transformer_job *j, enum transformer_block block,
                   struct transformer_operators *backward)
{
    double experts = block == BLOCK_EXPERTS ? trained_experts(j) : 0;
    if (!(j->layout.gradient_copy > 0))
        return;
    operators_add_vector(backward, "gradients",
                         (trained_parameters(j, block) + experts) *
                             (j->layout.gradient_copy + 2 * j->layout.gradient_bytes));
    backward->items[backward->count - 1].weight = true;
}

static struct stagesim_part compute_part(const struct transformer_job *j, enum transformer_block block)
{
    const struct transformer_model *model = &j->model;
    struct stagesim_part part = {.layer = STAGESIM_NONE};
    struct transformer_operators forward, backward;
    transformer_forward(model, &j->layout, block, &forward);
    transformer_backward(model, &j->layout, block, &backward);
    transformer_adapt(j, block, false, &forward);
    transformer_adapt(j, block, true, &backward);
    move_unfused(j, &forward);
    move_unfused(j, &backward);
    add_up(j, block, &backward);
    part.forward_flops = transformer_operators_flops(&forward, false);
    part.backward_flops = transformer_operators_flops(&backward, false);
    part.weight_flops = transformer_operators_flops(&backward, true);
    part.gradient = trained_parameters(j, block) * j->layout.gradient_bytes;
    part.expert_gradient = block == BLOCK_EXPERTS ? trained_experts(j) * j->layout.gradient_bytes : 0;
    tensor_exchanges(&j->tensor, &j->model, &j->layout, block, false, &part.forward_exchanges);
    tensor_exchanges(&j->tensor, &j->model, &j->layout, block, true, &part.backward_exchanges);
    if (j->profile.rows[PROFILE_LAYER]) {
        set_profile_times(j, block, &part);
        return part;
    }
    part.forward = efficiency_time(&j->device, &forward, hidden_time(j, &part.forward_exchanges), NULL);
    part.backward = efficiency_time(&j->device, &backward, hidden_time(j, &part.backward_exchanges), &part.weight);
    return part;
}

/* ---- kinds of layers ---- */

bool transformer_find_kinds(struct transformer_job *j)
{
    uint32_t layers = (uint32_t)(j->model.layers + j->model.predictions), kinds = 0;
    uint32_t *firsts = array_zeroed(layers, sizeof *firsts);
    j->layer_kinds = array_zeroed(layers, sizeof *j->layer_kinds);
    for (uint32_t layer = 0; firsts && j->layer_kinds && layer < layers; layer++) {
        struct transformer_model own = transformer_model_of_layer(&j->model, layer);
        uint32_t kind = 0;
        for (; kind < kinds; kind++) {
            struct transformer_model other = transformer_model_of_layer(&j->model, firsts[kind]);
            if (transformer_layers_alike(&own, &other))
                break;
        }
        if (kind == kinds)
            firsts[kinds++] = layer;
        j->layer_kinds[layer] = kind;
    }
    j->layer_kind_count = kinds;
    bool ok = firsts && j->layer_kinds;
    free(firsts);
    return ok;
}

struct transformer_job transformer_at_layer(const struct transformer_job *j, uint32_t layer)
{
    struct transformer_job at = *j;
    if (layer != STAGESIM_NONE)
        at.model = transformer_model_of_layer(&j->model, layer);
    return at;
}

/* Where the costs of a block of such a layer are kept; NULL: nowhere. */
static struct stagesim_part **kept_part(const struct transformer_job *j, enum transformer_block block, uint32_t layer)
{
    struct transformer_known *known = j->known;
    if (!known || !j->layer_kinds)
        return NULL;
    if (!known->parts) {
        known->parts = array_zeroed(j->layer_kind_count, sizeof *known->parts);
        known->kinds = known->parts ? j->layer_kind_count : 0;
    }
    uint32_t kind = layer == STAGESIM_NONE ? 0 : j->layer_kinds[layer];
    return known->parts ? &known->parts[kind][block][j->layout.recompute] : NULL;
}

struct stagesim_part transformer_part(const struct transformer_job *j, enum transformer_block block, uint32_t layer)
{
    struct stagesim_part **kept = kept_part(j, block, layer), part;
    if (kept && *kept) {
        part = **kept;
    } else {
        struct transformer_job at = transformer_at_layer(j, layer);
        part = compute_part(&at, block);
        if (kept && (*kept = array_zeroed(1, sizeof **kept)))
            **kept = part;
    }
    part.layer = layer;
    return part;
}
