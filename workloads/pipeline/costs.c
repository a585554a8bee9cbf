/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/pipeline/lowering.h"

#include <math.h>

/* The small all-reduce over all workers before a blocking optimizer step: a gradient norm. */
static const double norm_bytes = 8;

/* What a split backward gives back before W: all but what W still needs. */
static double released_at_input(const struct lowering *l, uint32_t stage)
{
    double activation = at(l->costs->activation, stage);
    return activation - (l->costs->weight_activation ? l->costs->weight_activation[stage] : activation / 2);
}

static void add_compute_costs(struct lowering *l, uint32_t stage, struct stage_costs *out)
{
    const struct stagesim_pipeline *costs = l->costs;
    double activation = at(costs->activation, stage), stash = chunk(l) * l->length;
    double kept = at(l->kept, stage), input = released_at_input(l, stage);
    double share = plan_recomputed(l->plan, stage), spared = lowering_spared(l->plan, costs, stage, activation);
    for (int n = 1; n <= 2; n++)
        out->forward[n] = add_cost(l, (struct stagesim_cost){.seconds = n * at(costs->forward, stage),
                                                             .flops = n * at(costs->forward_flops, stage),
                                                             .memory = n * (activation - spared),
                                                             .stash = n * stash * (1 - share)});
    out->again = add_cost(l, (struct stagesim_cost){.seconds = share * at(costs->forward, stage),
                                                    .flops = share * at(costs->forward_flops, stage),
                                                    .memory = spared,
                                                    .stash = stash * share});
    struct stagesim_cost backward = {.seconds = at(costs->backward, stage),
                                     .flops = at(costs->backward_flops, stage),
                                     .memory = kept - activation,
                                     .stash = -stash};
    out->backward = add_cost(l, backward);
    out->half = add_cost(l, (struct stagesim_cost){.seconds = backward.seconds / 2,
                                                   .flops = backward.flops / 2,
                                                   .memory = -activation / 2,
                                                   .stash = -stash / 2});
    out->input = add_cost(l, (struct stagesim_cost){.seconds = backward.seconds - at(costs->weight, stage),
                                                    .flops = backward.flops - at(costs->weight_flops, stage),
                                                    .memory = -input});
    out->weight = add_cost(l, (struct stagesim_cost){.seconds = at(costs->weight, stage),
                                                     .flops = at(costs->weight_flops, stage),
                                                     .memory = kept + input - activation,
                                                     .stash = -stash});
    out->released[0] = add_cost(l, (struct stagesim_cost){.memory = -activation, .stash = -stash});
    out->released[1] = add_cost(l, (struct stagesim_cost){.memory = -input});
    out->released[2] = add_cost(l, (struct stagesim_cost){.memory = input - activation, .stash = -stash});
    out->taken = add_cost(l, (struct stagesim_cost){.memory = activation, .stash = stash});
}

/* Of a stage's weights. */
static double gathered_bytes(const struct lowering *l, uint32_t stage, enum family family)
{
    if (family == FAMILY_EXPERTS)
        return at(l->costs->expert_gathered, stage);
    return at(l->costs->gathered ? l->costs->gathered : l->costs->parameter, stage);
}

double lowering_message_back(const struct stagesim_pipeline *costs, uint32_t stage)
{
    return at(costs->gradient_message ? costs->gradient_message : costs->message, stage);
}

static void add_transfer_costs(struct lowering *l, uint32_t stage, struct stage_costs *out)
{
    const struct stagesim_pipeline *costs = l->costs;
    double message = at(costs->message, stage), back = lowering_message_back(costs, stage);
    for (int n = 1; n <= 2; n++)
        out->message[n] = add_cost(l, (struct stagesim_cost){.bytes = n * message});
    out->message_back = add_cost(l, (struct stagesim_cost){.bytes = back});
    out->stash_message = add_cost(l, (struct stagesim_cost){.bytes = at(costs->activation, stage)});
    if (plan_travels(l->plan)) {
        double gradient = gradient_bytes(l, stage, FAMILY_REPLICAS) + gradient_bytes(l, stage, FAMILY_EXPERTS);
        out->travels[0] = add_cost(l, (struct stagesim_cost){.bytes = at(costs->parameter, stage)});
        out->travels[1] = add_cost(l, (struct stagesim_cost){.bytes = gradient});
    }
    double activation = at(costs->activation, stage), stash = chunk(l);
    out->to_memory = add_cost(l, (struct stagesim_cost){.bytes = activation, .memory = -activation, .stash = -stash});
    out->from_memory = add_cost(l, (struct stagesim_cost){.bytes = activation, .memory = activation, .stash = stash});
    out->half_message = add_cost(l, (struct stagesim_cost){.bytes = back / 2});
    for (enum family family = FAMILY_REPLICAS; family < FAMILIES; family++) {
        out->gradient[family] = add_cost(l, (struct stagesim_cost){.bytes = gradient_bytes(l, stage, family)});
        out->gather[family] = add_cost(l, (struct stagesim_cost){.bytes = gathered_bytes(l, stage, family)});
    }
    out->optimizer = add_cost(l, (struct stagesim_cost){.seconds = at(costs->optimizer, stage)});
}

/* ---- parts ---- */

static struct stagesim_part add_up(const struct stagesim_part *a, const struct stagesim_part *b)
{
    struct stagesim_part sum = {.layer = a->layer,
                                .forward = a->forward + b->forward,
                                .backward = a->backward + b->backward,
                                .weight = a->weight + b->weight,
                                .forward_flops = a->forward_flops + b->forward_flops,
                                .backward_flops = a->backward_flops + b->backward_flops,
                                .weight_flops = a->weight_flops + b->weight_flops,
                                .gradient = a->gradient + b->gradient,
                                .expert_gradient = a->expert_gradient + b->expert_gradient,
                                .apart = a->apart,
                                .varies = a->varies,
                                .factors = a->factors,
                                .forward_exchanges = a->forward_exchanges,
                                .backward_exchanges = b->backward_exchanges};
    lowering_merge_exchanges(&sum.forward_exchanges, &b->forward_exchanges);
    lowering_merge_exchanges(&sum.backward_exchanges, &a->backward_exchanges);
    return sum;
}

/* Exchanges of all parts of a stage. */
static void add_stage_exchanges(struct lowering *l, uint32_t stage, struct stage_costs *out)
{
    uint32_t count = l->costs->parts ? l->costs->part_counts[stage] : 0;
    struct stagesim_part sum = {0};
    for (uint32_t i = 0; i < count; i++)
        sum = add_up(&sum, &l->costs->parts[stage][i]);
    lowering_add_exchange_costs(l, &sum.forward_exchanges, &out->forward_exchanges);
    struct stagesim_exchanges again = sum.forward_exchanges;
    for (unsigned i = 0; i < STAGESIM_EXCHANGES_MAX; i++)
        again.items[i].bytes *= plan_recomputed(l->plan, stage);
    lowering_add_exchange_costs(l, &again, &out->again_exchanges);
    lowering_add_exchange_costs(l, &sum.backward_exchanges, &out->backward_exchanges);
}

static double part_gradient(const struct stagesim_part *part, enum family family)
{
    return family == FAMILY_EXPERTS ? part->expert_gradient : part->gradient;
}

/* Of all parts of the layer that a part belongs to. */
static double layer_gradient(const struct stagesim_part *parts, uint32_t index, uint32_t count, enum family family)
{
    uint32_t first = index, last = index;
    while (parts[index].layer != NONE && first > 0 && parts[first - 1].layer == parts[index].layer)
        first--;
    while (parts[index].layer != NONE && last + 1 < count && parts[last + 1].layer == parts[index].layer)
        last++;
    double sum = 0;
    for (uint32_t i = first; i <= last; i++)
        sum += part_gradient(&parts[i], family);
    return sum;
}

/* The variation of a part's first set of factors; those of its other sets follow. */
static uint32_t variation_of(struct lowering *l, const struct stagesim_part *part, uint32_t sets)
{
    size_t known = 0;
    while (known < l->known_factors_count && l->known_factors[known].factors != part->factors)
        known++;
    if (known < l->known_factors_count)
        return l->known_factors[known].variation;
    l->known_factors = array_grow(l->known_factors, &l->known_factors_capacity, known + 1, sizeof *l->known_factors);
    uint32_t axes = lowering_axes(l->mesh, part->varies), first = NONE;
    for (uint32_t set = 0; set < sets; set++) {
        const double *factors = part->factors + (size_t)set * mesh_product(l->mesh, axes);
        uint32_t variation = program_add_variation(l->builder, axes, factors);
        first = set ? first : variation;
    }
    l->known_factors[l->known_factors_count++] = (struct known_factors){part->factors, first};
    return first;
}

/* Of the weights of the layer that a part belongs to. */
static void add_gather_cost(struct lowering *l, uint32_t stage, const struct stagesim_part *parts, uint32_t index,
                            uint32_t count, enum family family, struct part_costs *out)
{
    out->gather[family] = NONE;
    double gradient = gradient_bytes(l, stage, family);
    if (l->costs->sharding != STAGESIM_SHARD_PARAMETERS || (family == FAMILY_EXPERTS && gradient <= 0))
        return;
    double share = gradient > 0 ? layer_gradient(parts, index, count, family) / gradient : 0;
    if (family == FAMILY_EXPERTS && share <= 0)
        return;
    double bytes = gathered_bytes(l, stage, family) * share, bucket = l->costs->gather_bucket,
           pieces = fmax(bucket > 0 ? ceil(bytes / bucket) : 1, fmax(l->costs->gather_pieces, 1));
    out->gather_pieces[family] = (uint32_t)pieces;
    out->gather[family] = add_cost(l, (struct stagesim_cost){.bytes = bytes / pieces});
}

/* Computations of a part, which vary as it does; the first set of factors is the part's own. */
static void add_varying_costs(struct lowering *l, const struct stagesim_part *part,
                              const struct stagesim_cost costs[PART_COSTS], struct part_costs *out)
{
    uint32_t sets = part->varies ? lowering_factor_sets(part->varies, l->costs->factor_sets) : 1,
             variation = part->varies ? variation_of(l, part, sets) : NONE;
    uint32_t(*ids)[PART_COSTS] = arena_array(l->arena, sets, sizeof *ids);
    for (uint32_t set = 0; set < sets; set++)
        for (unsigned i = 0; i < PART_COSTS; i++) {
            ids[set][i] = add_cost(l, costs[i]);
            if (part->varies)
                program_vary_cost(l->builder, ids[set][i], variation + set);
        }
    out->forward = ids[0][0];
    out->backward = ids[0][1];
    out->input = ids[0][2];
    out->weight = ids[0][3];
    out->sets = sets > 1 ? (const uint32_t(*)[PART_COSTS])ids : NULL;
}

/* Of a part; all parts of a stage take and give back as much. */
static struct part_costs add_part_costs(struct lowering *l, uint32_t stage, const struct stagesim_part *parts,
                                        uint32_t index, uint32_t count)
{
    const struct stagesim_part *part = &parts[index];
    double activation = at(l->costs->activation, stage) / count, input = released_at_input(l, stage) / count;
    double spared = lowering_spared(l->plan, l->costs, stage, activation), share = plan_recomputed(l->plan, stage);
    double kept = at(l->kept, stage) / count, stash = index == 0 ? chunk(l) * l->length : 0, weight = part->weight,
           weight_flops = part->weight_flops;
    const struct stagesim_cost costs[PART_COSTS] = {
        {part->forward, part->forward_flops, 0, activation - spared, stash * (1 - share)},
        {part->backward, part->backward_flops, 0, kept - activation, -stash},
        {part->backward - weight, part->backward_flops - weight_flops, 0, -input},
        {weight, weight_flops, 0, kept + input - activation, -stash},
    };
    struct part_costs out = {.gradient = {part->gradient, part->expert_gradient}, .layer = part->layer};
    add_varying_costs(l, part, costs, &out);
    for (enum family family = FAMILY_REPLICAS; family < FAMILIES; family++)
        add_gather_cost(l, stage, parts, index, count, family, &out);
    lowering_add_exchange_costs(l, &part->forward_exchanges, &out.forward_exchanges);
    lowering_add_exchange_costs(l, &part->backward_exchanges, &out.backward_exchanges);
    return out;
}

static bool of_one_layer(const struct stagesim_part *a, const struct stagesim_part *b)
{
    return a->layer != NONE && a->layer == b->layer;
}

/* Parts as given, or whole layers, as many of them together as fill a bucket (one where their weights are gathered one
 * by one). The last ones of a stage are the first of its backward. */
static void add_parts(struct lowering *l, uint32_t stage, struct stage_costs *out)
{
    const struct stagesim_pipeline *costs = l->costs;
    uint32_t given = costs->parts ? costs->part_counts[stage] : 0, count = 0;
    struct stagesim_part *parts = arena_array(l->arena, given, sizeof *parts);
    for (uint32_t i = given; i-- > 0;) {
        const struct stagesim_part *from = &costs->parts[stage][i];
        struct stagesim_part *last = count ? &parts[given - count] : NULL;
        bool small = last && costs->sharding != STAGESIM_SHARD_PARAMETERS &&
                     last->gradient + last->expert_gradient < costs->bucket;
        bool together = last && (small || of_one_layer(from, last)) && !costs->fine && from->apart == last->apart;
        struct stagesim_part *part = together ? last : &parts[given - ++count];
        *part = together ? add_up(from, part) : *from;
    }
    out->parts = arena_array(l->arena, count, sizeof *out->parts);
    out->part_count = count;
    for (uint32_t i = 0; i < count; i++)
        out->parts[i] = add_part_costs(l, stage, &parts[given - count], i, count);
}

/* Parts of a number as one, those that do not stand apart first. */
static void add_coarse_parts(struct lowering *l, uint32_t stage, struct stage_costs *out)
{
    const struct stagesim_pipeline *costs = l->costs;
    uint32_t given = costs->parts ? costs->part_counts[stage] : 0, count = 1;
    struct stagesim_part *parts = arena_array(l->arena, given + (size_t)1, sizeof *parts);
    parts[0].layer = NONE;
    for (uint32_t i = 0; i < given; i++) {
        const struct stagesim_part *from = &costs->parts[stage][i];
        uint32_t k = 0;
        while (k < count && parts[k].apart != from->apart)
            k++;
        parts[k] = k < count ? add_up(&parts[k], from) : *from;
        parts[k].layer = NONE;
        count = k < count ? count : k + 1;
    }
    if (count == 1)
        return;
    out->coarse = arena_array(l->arena, count, sizeof *out->coarse);
    out->coarse_count = count;
    for (uint32_t i = 0; i < count; i++)
        out->coarse[i] = add_part_costs(l, stage, parts, i, count);
}

/* ---- groups ---- */

uint32_t lowering_holders(const struct plan *plan, uint32_t stage, uint32_t *workers)
{
    uint32_t count = 0;
    if (plan_travels(plan)) {
        workers[0] = plan->owners[stage];
        return 1;
    }
    for (uint32_t pipeline = 0; pipeline < plan->pipelines; pipeline++) {
        uint32_t worker = plan_worker(plan, pipeline, stage), i = 0;
        while (i < count && workers[i] != worker)
            i++;
        if (i == count)
            workers[count++] = worker;
    }
    return count;
}

/* The ranks along `axes` of all workers that hold a stage. */
static uint32_t add_stage_group(struct lowering *l, uint32_t stage, uint32_t axes, enum family family)
{
    uint32_t *workers = arena_array(l->arena, l->plan->pipelines, sizeof *workers);
    uint32_t count = lowering_holders(l->plan, stage, workers);
    if (gradient_bytes(l, stage, family) <= 0 || count * mesh_product(l->mesh, axes) < 2)
        return NONE;
    return program_add_group(l->builder, axes, workers, count);
}

static void add_stage_groups(struct lowering *l, uint32_t stage, struct stage_costs *costs)
{
    const char *own = stage ? NULL : l->costs->first_expert_axes;
    uint32_t experts = own ? lowering_axes(l->mesh, own) : l->expert_axes;
    uint32_t axes[FAMILIES] = {l->shard_axes ? l->shard_axes : l->sync_axes, experts},
             synced[FAMILIES] = {l->costs->owned ? l->shard_axes | l->sync_axes : axes[0], experts};
    bool gathers = l->costs->sharding != STAGESIM_SHARD_NOTHING;
    for (enum family family = FAMILY_REPLICAS; family < FAMILIES; family++) {
        costs->group[family] = add_stage_group(l, stage, synced[family], family);
        costs->gather_group[family] =
            costs->group[family] != NONE && gathers ? add_stage_group(l, stage, axes[family], family) : NONE;
    }
    costs->outer_group =
        l->shard_axes && !l->costs->owned ? add_stage_group(l, stage, l->sync_axes, FAMILY_REPLICAS) : NONE;
}

static void add_owned_costs(struct lowering *l, uint32_t stage, struct stage_costs *costs)
{
    costs->owned_count = l->costs->owned ? l->costs->owned_counts[stage] : 0;
    costs->owned = arena_array(l->arena, costs->owned_count, sizeof *costs->owned);
    for (uint32_t i = 0; i < costs->owned_count; i++)
        costs->owned[i] = add_cost(l, l->costs->owned[stage][i]);
}

static uint32_t add_norm_group(struct lowering *l)
{
    uint32_t axes = l->sync_axes | l->shard_axes;
    if (l->plan->step != PLAN_STEP_BLOCKING || l->plan->workers * mesh_product(l->mesh, axes) < 2)
        return NONE;
    uint32_t *workers = arena_array(l->arena, l->plan->workers, sizeof *workers), count = 0;
    for (uint32_t worker = 0; worker < l->plan->workers; worker++)
        if (l->plan->orders[worker].count) /* the others have failed */
            workers[count++] = worker;
    return program_add_group(l->builder, axes, workers, count);
}

static void add_stage_costs(struct lowering *l, uint32_t stage, struct stage_costs *costs)
{
    add_compute_costs(l, stage, costs);
    add_transfer_costs(l, stage, costs);
    add_stage_exchanges(l, stage, costs);
    add_parts(l, stage, costs);
    add_coarse_parts(l, stage, costs);
}

static void add_slices(struct lowering *l)
{
    const struct stagesim_pipeline *whole = l->costs;
    for (uint32_t slice = 0; slice < l->plan->slices; slice++) {
        struct stagesim_pipeline cut = lowering_cut_costs(l, slice);
        l->costs = &cut;
        for (uint32_t stage = 0; stage < l->plan->stages; stage++)
            add_stage_costs(l, stage, &l->slices[(size_t)stage * l->plan->slices + slice]);
        l->costs = whole;
    }
    l->kept = NULL;
    l->length = 1;
}

void lowering_add_costs(struct lowering *l)
{
    l->sync_axes = lowering_axes(l->mesh, l->costs->sync_axes ? l->costs->sync_axes : "data");
    l->shard_axes = l->costs->sharding == STAGESIM_SHARD_NOTHING ? 0 : lowering_axes(l->mesh, l->costs->shard_axes);
    l->expert_axes = lowering_axes(l->mesh, l->costs->expert_axes);
    for (uint32_t stage = 0; stage < l->plan->stages; stage++) {
        add_stage_costs(l, stage, &l->stages[stage]);
        add_stage_groups(l, stage, &l->stages[stage]);
        add_owned_costs(l, stage, &l->stages[stage]);
    }
    if (l->plan->slices > 1)
        add_slices(l);
    l->norm_cost = add_cost(l, (struct stagesim_cost){.bytes = norm_bytes});
    l->nothing_cost = add_cost(l, (struct stagesim_cost){0});
    l->norm_group = add_norm_group(l);
    if (l->plan->barriers)
        lowering_add_output_costs(l);
}
