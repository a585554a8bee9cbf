/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/pipeline_lowering.h"

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
    double activation = at(costs->activation, stage), stash = chunk(l), input = released_at_input(l, stage);
    for (int n = 1; n <= 2; n++)
        out->forward[n] = add_cost(l, (struct stagesim_cost){.seconds = n * at(costs->forward, stage),
                                                             .flops = n * at(costs->forward_flops, stage),
                                                             .memory = n * activation,
                                                             .stash = n * stash});
    struct stagesim_cost backward = {
        .seconds = at(costs->backward, stage), .flops = at(costs->backward_flops, stage), .memory = -activation, .stash = -stash};
    out->backward = add_cost(l, backward);
    out->half =
        add_cost(l, (struct stagesim_cost){
                        .seconds = backward.seconds / 2, .flops = backward.flops / 2, .memory = -activation / 2, .stash = -stash / 2});
    out->input = add_cost(l, (struct stagesim_cost){.seconds = backward.seconds - at(costs->weight, stage),
                                                    .flops = backward.flops - at(costs->weight_flops, stage),
                                                    .memory = -input});
    out->weight = add_cost(l, (struct stagesim_cost){.seconds = at(costs->weight, stage),
                                                     .flops = at(costs->weight_flops, stage),
                                                     .memory = input - activation,
                                                     .stash = -stash});
    out->released[0] = add_cost(l, (struct stagesim_cost){.memory = -activation, .stash = -stash});
    out->released[1] = add_cost(l, (struct stagesim_cost){.memory = -input});
    out->taken = add_cost(l, (struct stagesim_cost){.memory = activation, .stash = stash});
}

static void add_transfer_costs(struct lowering *l, uint32_t stage, struct stage_costs *out)
{
    const struct stagesim_pipeline *costs = l->costs;
    double message = at(costs->message, stage);
    for (int n = 1; n <= 2; n++)
        out->message[n] = add_cost(l, (struct stagesim_cost){.bytes = n * message});
    out->stash_message = add_cost(l, (struct stagesim_cost){.bytes = at(costs->activation, stage)});
    out->half_message = add_cost(l, (struct stagesim_cost){.bytes = message / 2});
    out->gradient = add_cost(l, (struct stagesim_cost){.bytes = at(costs->gradient, stage)});
    out->gather = add_cost(l, (struct stagesim_cost){.bytes = at(costs->gathered ? costs->gathered : costs->parameter, stage)});
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
    lowering_add_exchange_costs(l, &sum.backward_exchanges, &out->backward_exchanges);
}

/* Of all parts of the layer that a part belongs to. */
static double layer_gradient(const struct stagesim_part *parts, uint32_t index, uint32_t count)
{
    uint32_t first = index, last = index;
    while (parts[index].layer != NONE && first > 0 && parts[first - 1].layer == parts[index].layer)
        first--;
    while (parts[index].layer != NONE && last + 1 < count && parts[last + 1].layer == parts[index].layer)
        last++;
    double sum = 0;
    for (uint32_t i = first; i <= last; i++)
        sum += parts[i].gradient;
    return sum;
}

/* Of a part; all parts of a stage take and give back as much. */
static struct part_costs add_part_costs(struct lowering *l, uint32_t stage, const struct stagesim_part *parts, uint32_t index,
                                        uint32_t count)
{
    const struct stagesim_pipeline *costs = l->costs;
    const struct stagesim_part *part = &parts[index];
    double activation = at(costs->activation, stage) / count, input = released_at_input(l, stage) / count;
    double gradient = at(costs->gradient, stage), stash = index == 0 ? chunk(l) : 0;
    double gathered = at(costs->gathered ? costs->gathered : costs->parameter, stage) *
                      (gradient > 0 ? layer_gradient(parts, index, count) / gradient : 0);
    struct part_costs out = {
        .forward = add_cost(l, (struct stagesim_cost){part->forward, part->forward_flops, 0, activation, stash}),
        .backward = add_cost(l, (struct stagesim_cost){part->backward, part->backward_flops, 0, -activation, -stash}),
        .input = add_cost(l, (struct stagesim_cost){part->backward - part->weight, part->backward_flops - part->weight_flops, 0, -input}),
        .weight = add_cost(l, (struct stagesim_cost){part->weight, part->weight_flops, 0, input - activation, -stash}),
        .gather = costs->sharding == STAGESIM_SHARD_PARAMETERS ? add_cost(l, (struct stagesim_cost){.bytes = gathered}) : NONE,
        .gradient = part->gradient,
        .layer = part->layer,
    };
    lowering_add_exchange_costs(l, &part->forward_exchanges, &out.forward_exchanges);
    lowering_add_exchange_costs(l, &part->backward_exchanges, &out.backward_exchanges);
    return out;
}

static bool of_one_layer(const struct stagesim_part *a, const struct stagesim_part *b)
{
    return a->layer != NONE && a->layer == b->layer;
}

/* Parts as given, or whole layers, as many of them together as fill a bucket. The last ones of a stage are the first of its backward. */
static void add_parts(struct lowering *l, uint32_t stage, struct stage_costs *out)
{
    const struct stagesim_pipeline *costs = l->costs;
    uint32_t given = costs->parts ? costs->part_counts[stage] : 0, count = 0;
    struct stagesim_part *parts = arena_array(l->arena, given, sizeof *parts);
    for (uint32_t i = given; i-- > 0;) {
        const struct stagesim_part *from = &costs->parts[stage][i];
        struct stagesim_part *last = count ? &parts[given - count] : NULL;
        bool together = last && !costs->fine && (of_one_layer(from, last) || last->gradient < costs->bucket);
        struct stagesim_part *part = together ? last : &parts[given - ++count];
        *part = together ? add_up(from, part) : *from;
    }
    out->parts = arena_array(l->arena, count, sizeof *out->parts);
    out->part_count = count;
    for (uint32_t i = 0; i < count; i++)
        out->parts[i] = add_part_costs(l, stage, &parts[given - count], i, count);
}

/* ---- groups ---- */

uint32_t lowering_axes(const struct mesh *mesh, const char *list)
{
    uint32_t axes = 0;
    return list && mesh_select(mesh, list, &axes) ? axes : 0;
}

/* Workers that hold a stage, each once; returns how many. */
static uint32_t holders(const struct plan *plan, uint32_t stage, uint32_t *workers)
{
    uint32_t count = 0;
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
static uint32_t add_stage_group(struct lowering *l, uint32_t stage, uint32_t axes)
{
    uint32_t *workers = arena_array(l->arena, l->plan->pipelines, sizeof *workers);
    uint32_t count = holders(l->plan, stage, workers);
    if (at(l->costs->gradient, stage) <= 0 || count * mesh_product(l->mesh, axes) < 2)
        return NONE;
    return program_add_group(l->builder, axes, workers, count);
}

static void add_stage_groups(struct lowering *l, uint32_t stage, struct stage_costs *costs)
{
    uint32_t axes = l->shard_axes ? l->shard_axes : l->sync_axes;
    bool gathers = l->costs->sharding != STAGESIM_SHARD_NOTHING;
    costs->group = add_stage_group(l, stage, axes);
    costs->gather_group = costs->group != NONE && gathers ? add_stage_group(l, stage, axes) : NONE;
    costs->outer_group = l->shard_axes ? add_stage_group(l, stage, l->sync_axes) : NONE;
}

static uint32_t add_norm_group(struct lowering *l)
{
    uint32_t axes = l->sync_axes | l->shard_axes;
    if (l->plan->step != PLAN_STEP_BLOCKING || l->plan->workers * mesh_product(l->mesh, axes) < 2)
        return NONE;
    uint32_t *workers = arena_array(l->arena, l->plan->workers, sizeof *workers);
    for (uint32_t worker = 0; worker < l->plan->workers; worker++)
        workers[worker] = worker;
    return program_add_group(l->builder, axes, workers, l->plan->workers);
}

void lowering_add_costs(struct lowering *l)
{
    l->sync_axes = lowering_axes(l->mesh, l->costs->sync_axes ? l->costs->sync_axes : "data");
    l->shard_axes = l->costs->sharding == STAGESIM_SHARD_NOTHING ? 0 : lowering_axes(l->mesh, l->costs->shard_axes);
    for (uint32_t stage = 0; stage < l->plan->stages; stage++) {
        struct stage_costs *costs = &l->stages[stage];
        add_compute_costs(l, stage, costs);
        add_transfer_costs(l, stage, costs);
        add_stage_exchanges(l, stage, costs);
        add_parts(l, stage, costs);
        add_stage_groups(l, stage, costs);
    }
    l->norm_cost = add_cost(l, (struct stagesim_cost){.bytes = norm_bytes});
    l->nothing_cost = add_cost(l, (struct stagesim_cost){0});
    l->norm_group = add_norm_group(l);
}
