/* SPDX-License-Identifier: Apache-2.0 */
/* What the layers of a stage are together: layers of one kind count once, times how many there are. */
#include "workloads/transformer/transformer.h"

#include <math.h>

/* ---- sums over the layers of a stage ---- */

uint32_t transformer_stage_first(const struct transformer_job *j, uint32_t stage)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < stage; i++)
        first += j->layers[i];
    return first;
}

/* Layers that predict further tokens, which the last stage holds. */
uint32_t transformer_stage_further(const struct transformer_job *j, uint32_t stage)
{
    return stage + 1 == j->stages ? (uint32_t)j->model.predictions : 0;
}

/* Layers of a kind on a stage, and the first of them. */
static uint32_t count_kind(const struct transformer_job *j, uint32_t stage, uint32_t kind, uint32_t *first)
{
    uint32_t begin = transformer_stage_first(j, stage),
             end = begin + j->layers[stage] + transformer_stage_further(j, stage), count = 0;
    for (uint32_t layer = begin; layer < end; layer++)
        if (j->layer_kinds[layer] == kind && !count++)
            *first = layer;
    return count;
}

/* Kinds that are worth the same count together, so that the sum does not depend on how layers are told apart. */
double transformer_stage_sum(const struct transformer_job *j, uint32_t stage, transformer_of_layer of)
{
    double sum = 0, value = 0, count = 0;
    for (uint32_t kind = 0; kind < j->layer_kind_count; kind++) {
        uint32_t first = 0, own = count_kind(j, stage, kind, &first);
        struct transformer_job at = transformer_at_layer(j, first);
        double next = own ? of(&at) : 0;
        if (!own)
            continue;
        if (count > 0 && next != value) {
            sum += count * value;
            count = 0;
        }
        value = next;
        count += own;
    }
    return sum + count * value;
}

double transformer_stage_largest(const struct transformer_job *j, uint32_t stage, transformer_of_layer of)
{
    double most = 0;
    for (uint32_t kind = 0; kind < j->layer_kind_count; kind++) {
        uint32_t first = 0;
        if (!count_kind(j, stage, kind, &first))
            continue;
        struct transformer_job at = transformer_at_layer(j, first);
        most = fmax(most, of(&at));
    }
    return most;
}

/* Towers and the language model have layers of their own sizes. */
double transformer_stage_gathered(const struct transformer_job *j, uint32_t stage, double whole, double *layers)
{
    double own = j->layers[stage], count = 0,
           towers = stage == 0 ? transformer_tower_parameters(j) * j->state.weight : 0;
    for (enum transformer_tower_kind kind = TOWER_IMAGES; stage == 0 && kind < TRANSFORMER_TOWERS; kind++)
        count += (double)j->model.towers[kind].layers;
    *layers = own + count;
    return fmax(own > 0 ? (whole - towers) / own : 0, count > 0 ? towers / count : 0);
}

/* ---- parameters ---- */

static double experts_of(const struct transformer_job *at)
{
    return at->model.feed == FEED_EXPERTS && at->model.experts ? transformer_expert_parameters(at) : 0;
}

static double attention_of(const struct transformer_job *at)
{
    return transformer_block_parameters(at, BLOCK_ATTENTION);
}

static double dense_of(const struct transformer_job *at)
{
    return at->model.feed == FEED_DENSE ? transformer_block_parameters(at, BLOCK_FFN) : 0;
}

static double router_of(const struct transformer_job *at)
{
    return at->model.feed == FEED_EXPERTS
               ? transformer_block_parameters(at, BLOCK_ROUTER) + transformer_block_parameters(at, BLOCK_SHARED)
               : 0;
}

double transformer_stage_experts(const struct transformer_job *j, uint32_t stage)
{
    return transformer_stage_sum(j, stage, experts_of);
}

double transformer_stage_parameters(const struct transformer_job *j, uint32_t stage)
{
    double sum = transformer_stage_sum(j, stage, attention_of) + transformer_stage_sum(j, stage, dense_of);
    sum += transformer_stage_sum(j, stage, router_of);
    sum += transformer_stage_further(j, stage) * transformer_block_parameters(j, BLOCK_PREDICTION);
    sum += stage == transformer_input_stage(j) ? transformer_block_parameters(j, BLOCK_INPUT) : 0;
    sum += stage == 0 && !j->place.apart ? transformer_tower_parameters(j) : 0;
    if (stage + 1 == j->stages)
        sum += transformer_block_parameters(j, BLOCK_OUTPUT) + transformer_further_embedding(j);
    return sum;
}

/* ---- adapters ---- */

static double adapted_blocks(const struct transformer_job *at, bool experts)
{
    if (experts)
        return at->model.feed == FEED_EXPERTS && at->model.experts ? transformer_adapter_parameters(at, BLOCK_EXPERTS)
                                                                   : 0;
    double sum = at->model.mixer == MIXER_NONE ? 0 : transformer_adapter_parameters(at, BLOCK_ATTENTION);
    if (at->model.feed == FEED_DENSE)
        sum += transformer_adapter_parameters(at, BLOCK_FFN);
    return sum + (at->model.feed == FEED_EXPERTS ? transformer_adapter_parameters(at, BLOCK_SHARED) : 0);
}

static double adapted_experts(const struct transformer_job *at)
{
    return adapted_blocks(at, true);
}

static double adapted_others(const struct transformer_job *at)
{
    return adapted_blocks(at, false);
}

double transformer_stage_adapter_experts(const struct transformer_job *j, uint32_t stage)
{
    return transformer_stage_sum(j, stage, adapted_experts);
}

double transformer_stage_adapters(const struct transformer_job *j, uint32_t stage)
{
    return transformer_stage_sum(j, stage, adapted_others);
}

/* ---- what `zero` leaves of parameters ---- */

double transformer_sharing_ranks(const struct transformer_job *j, bool experts)
{
    if (experts)
        return j->island * j->layout.context * j->layout.tensor / j->layout.expert_tensor / j->layout.expert;
    return j->sharing;
}

double transformer_held_of(const struct transformer_job *j, uint32_t least, double others, double experts)
{
    double replicas = j->zero >= least ? transformer_sharing_ranks(j, false) : 1,
           copies = j->zero >= least ? transformer_sharing_ranks(j, true) : 1;
    return others / replicas + experts / copies;
}

/* Of towers with replicas of their own. */
static double held_tower(const struct transformer_job *j, uint32_t stage, uint32_t least, double parameters)
{
    bool apart = stage == 0 && j->place.apart;
    return apart ? parameters / (j->zero >= least ? transformer_tower_sharing(j) : 1) : 0;
}

double transformer_held(const struct transformer_job *j, uint32_t stage, uint32_t least)
{
    return transformer_held_of(j, least, transformer_stage_parameters(j, stage), transformer_stage_experts(j, stage)) +
           held_tower(j, stage, least, transformer_tower_parameters(j));
}

void transformer_trained(const struct transformer_job *j, uint32_t stage, double *others, double *experts)
{
    bool adapters = j->parameters->adapter_rank > 0;
    double frozen = stage == 0 && !j->place.apart ? transformer_frozen_tower_parameters(j) : 0;
    *others = adapters ? transformer_stage_adapters(j, stage) : transformer_stage_parameters(j, stage) - frozen;
    *experts = adapters ? transformer_stage_adapter_experts(j, stage) : transformer_stage_experts(j, stage);
}

double transformer_trained_tower(const struct transformer_job *j, uint32_t stage, uint32_t least)
{
    if (j->parameters->adapter_rank)
        return 0;
    return held_tower(j, stage, least, transformer_tower_parameters(j) - transformer_frozen_tower_parameters(j));
}

double transformer_held_trained(const struct transformer_job *j, uint32_t stage, uint32_t least)
{
    double others, experts;
    transformer_trained(j, stage, &others, &experts);
    return transformer_held_of(j, least, others, experts) + transformer_trained_tower(j, stage, least);
}
