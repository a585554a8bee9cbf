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

/* A collective along the tensor axis; NONE where there is nothing to move. */
static uint32_t add_tensor_cost(struct lowering *l, double bytes, double buffers)
{
    return bytes > 0 ? add_cost(l, (struct stagesim_cost){.bytes = bytes, .repeats = buffers}) : NONE;
}

static void add_transfer_costs(struct lowering *l, uint32_t stage, struct stage_costs *out)
{
    const struct stagesim_pipeline *costs = l->costs;
    double message = at(costs->message, stage);
    for (int n = 1; n <= 2; n++) {
        out->message[n] = add_cost(l, (struct stagesim_cost){.bytes = n * message});
        out->forward_tensor[n] = add_tensor_cost(l, n * at(costs->forward_tensor, stage), at(costs->forward_buffers, stage));
    }
    out->backward_tensor = add_tensor_cost(l, at(costs->backward_tensor, stage), at(costs->backward_buffers, stage));
    out->half_tensor = add_tensor_cost(l, at(costs->backward_tensor, stage) / 2, at(costs->backward_buffers, stage));
    out->stash_message = add_cost(l, (struct stagesim_cost){.bytes = at(costs->activation, stage)});
    out->half_message = add_cost(l, (struct stagesim_cost){.bytes = message / 2});
    out->gradient = add_cost(l, (struct stagesim_cost){.bytes = at(costs->gradient, stage)});
    out->gather = add_cost(l, (struct stagesim_cost){.bytes = at(costs->gathered ? costs->gathered : costs->parameter, stage)});
    out->optimizer = add_cost(l, (struct stagesim_cost){.seconds = at(costs->optimizer, stage)});
}

/* ---- parts ---- */

static struct stagesim_part add_up(const struct stagesim_part *a, const struct stagesim_part *b)
{
    return (struct stagesim_part){a->layer,
                                  a->forward + b->forward,
                                  a->backward + b->backward,
                                  a->weight + b->weight,
                                  a->forward_flops + b->forward_flops,
                                  a->backward_flops + b->backward_flops,
                                  a->weight_flops + b->weight_flops,
                                  a->forward_tensor + b->forward_tensor,
                                  a->backward_tensor + b->backward_tensor,
                                  a->forward_buffers + b->forward_buffers,
                                  a->backward_buffers + b->backward_buffers,
                                  a->gradient + b->gradient};
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
    return (struct part_costs){
        .forward = add_cost(l, (struct stagesim_cost){part->forward, part->forward_flops, 0, activation, stash}),
        .backward = add_cost(l, (struct stagesim_cost){part->backward, part->backward_flops, 0, -activation, -stash}),
        .input = add_cost(l, (struct stagesim_cost){part->backward - part->weight, part->backward_flops - part->weight_flops, 0, -input}),
        .weight = add_cost(l, (struct stagesim_cost){part->weight, part->weight_flops, 0, input - activation, -stash}),
        .forward_tensor = add_tensor_cost(l, part->forward_tensor, part->forward_buffers),
        .backward_tensor = add_tensor_cost(l, part->backward_tensor, part->backward_buffers),
        .gather = costs->sharding == STAGESIM_SHARD_PARAMETERS ? add_cost(l, (struct stagesim_cost){.bytes = gathered}) : NONE,
        .gradient = part->gradient,
        .layer = part->layer,
    };
}

/* Parts as given, or as many of them together as fill a bucket. The last ones of a stage are the first of its backward. */
static void add_parts(struct lowering *l, uint32_t stage, struct stage_costs *out)
{
    const struct stagesim_pipeline *costs = l->costs;
    uint32_t given = costs->parts ? costs->part_counts[stage] : 0, count = 0;
    struct stagesim_part *parts = arena_array(l->arena, given, sizeof *parts);
    for (uint32_t i = given; i-- > 0;) {
        bool together = !costs->fine && count && parts[given - count].gradient < costs->bucket;
        if (!together)
            count++;
        struct stagesim_part *part = &parts[given - count];
        *part = together ? add_up(&costs->parts[stage][i], part) : costs->parts[stage][i];
    }
    out->parts = arena_array(l->arena, count, sizeof *out->parts);
    out->part_count = count;
    for (uint32_t i = 0; i < count; i++)
        out->parts[i] = add_part_costs(l, stage, &parts[given - count], i, count);
}

/* ---- groups ---- */

/* Bits of the axes in a list; none where the list is wrong. */
static uint32_t axes_named(const struct mesh *mesh, const char *list)
{
    uint32_t axes = 0;
    return mesh_select(mesh, list, &axes) ? axes : 0;
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

static uint32_t add_stage_group(struct lowering *l, uint32_t stage)
{
    uint32_t *workers = arena_array(l->arena, l->plan->pipelines, sizeof *workers);
    uint32_t count = holders(l->plan, stage, workers);
    if (at(l->costs->gradient, stage) <= 0 || count * mesh_size(l->mesh, "data") < 2)
        return NONE;
    return program_add_group(l->builder, axes_named(l->mesh, "data"), workers, count);
}

/* Ranks of a worker that share its layers. */
static uint32_t add_tensor_group(struct lowering *l, uint32_t worker)
{
    uint32_t axes = axes_named(l->mesh, "tensor");
    bool used = l->costs->forward_tensor || l->costs->backward_tensor;
    return used && mesh_product(l->mesh, axes) > 1 ? program_add_group(l->builder, axes, &worker, 1) : NONE;
}

static uint32_t add_norm_group(struct lowering *l)
{
    if (l->plan->step != PLAN_STEP_BLOCKING || l->plan->workers * mesh_size(l->mesh, "data") < 2)
        return NONE;
    uint32_t *workers = arena_array(l->arena, l->plan->workers, sizeof *workers);
    for (uint32_t worker = 0; worker < l->plan->workers; worker++)
        workers[worker] = worker;
    return program_add_group(l->builder, axes_named(l->mesh, "data"), workers, l->plan->workers);
}

void lowering_add_costs(struct lowering *l)
{
    for (uint32_t stage = 0; stage < l->plan->stages; stage++) {
        struct stage_costs *costs = &l->stages[stage];
        add_compute_costs(l, stage, costs);
        add_transfer_costs(l, stage, costs);
        add_parts(l, stage, costs);
        costs->group = add_stage_group(l, stage);
        costs->gather_group = costs->group != NONE && l->costs->sharding != STAGESIM_SHARD_NOTHING ? add_stage_group(l, stage) : NONE;
    }
    l->tensor_groups = arena_array(l->arena, l->plan->workers, sizeof *l->tensor_groups);
    for (uint32_t worker = 0; worker < l->plan->workers; worker++)
        l->tensor_groups[worker] = add_tensor_group(l, worker);
    l->norm_cost = add_cost(l, (struct stagesim_cost){.bytes = norm_bytes});
    l->nothing_cost = add_cost(l, (struct stagesim_cost){0});
    l->norm_group = add_norm_group(l);
}
