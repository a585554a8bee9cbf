/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs whose layers are shared out one by one. Every element of an output has one owner. In the forward, ranks get what
 * their parts need from the owners; in the backward each sends the gradient of it back to them. Where input channels
 * are divided, the summands are added by a reduce-scatter to the owners, and the output's gradient is gathered again
 * before the backward. Ranks run the layers one after the other, in the network's order and back; in a pipeline those
 * of a stage, as the schedule says. */
#include "workloads/layers/split_steps.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t NONE = STAGESIM_NONE;
enum { OPERATIONS_MAX = 20000000 };

/* ---- devices ---- */

/* Devices that are alike have one efficiency. */
struct known_device {
    struct stagesim_device device;
    double clock;
    struct efficiency efficiency;
    struct efficiency_device costs;
};

struct devices {
    struct known_device **known;
    size_t count, capacity;
};

static bool is_alike(const struct stagesim_device *a, const struct stagesim_device *b)
{
    bool same = a->model && b->model ? !strcmp(a->model, b->model) : a->model == b->model;
    for (int i = 0; i < 5; i++)
        same &= a->peak[i] == b->peak[i];
    return same && a->speed == b->speed && a->memory_bandwidth == b->memory_bandwidth;
}

/* NULL with the mistake reported. */
static const struct efficiency_device *find_device(struct devices *devices, const struct layers_job *j, uint32_t rank)
{
    struct stagesim_device device = j->api->device(j->job, rank);
    double clock = j->api->clock(j->job, rank);
    for (size_t i = 0; i < devices->count; i++)
        if (devices->known[i]->clock == clock && is_alike(&devices->known[i]->device, &device))
            return &devices->known[i]->costs;
    struct known_device *added = array_zeroed(1, sizeof *added);
    devices->known = array_grow(devices->known, &devices->capacity, devices->count + 1, sizeof(struct known_device *));
    devices->known[devices->count++] = added;
    added->device = device;
    added->clock = clock;
    return layers_device(j, rank, &added->efficiency, &added->costs) ? &added->costs : NULL;
}

static void free_devices(struct devices *devices)
{
    for (size_t i = 0; i < devices->count; i++)
        free(devices->known[i]);
    free(devices->known);
}

/* ---- costs ---- */

static uint32_t add_cost(const struct split_steps *s, struct stagesim_cost cost)
{
    return s->j->api->cost(s->j->job, &cost);
}

/* Parts that differ along one dimension alone, whose results are exchanged: NONE for dimensions that are not divided.
 */
static uint32_t find_siblings(struct split_steps *s, const struct split_layer *layer, uint32_t part,
                              enum split_dimension dimension)
{
    uint32_t degree = layer->split->degrees[dimension], at[SPLIT_DIMENSIONS];
    if (degree == 1)
        return NONE;
    memcpy(at, layer->parts[part].coordinates, sizeof at);
    if (at[dimension] > 0) { /* the first of them has found it */
        at[dimension] = 0;
        return layer->group[split_index(layer->split, at)];
    }
    uint32_t *ranks = array_zeroed(degree, sizeof *ranks);
    for (at[dimension] = 0; at[dimension] < degree; at[dimension]++)
        ranks[at[dimension]] = layer->split->devices[split_index(layer->split, at)];
    uint32_t group = split_group_find(s, layer->stage, ranks, degree);
    free(ranks);
    return group;
}

/* What parts exchange behind or before their computation: summands, or the outputs of a recurrent layer's steps. */
static void set_exchange(struct split_steps *s, uint32_t index, uint32_t part)
{
    struct split_layer *layer = &s->layers[index];
    const struct layer_operator *op = &s->j->graph->operators[index];
    bool recurrent = op->layer->type == LAYER_RECURRENT;
    double bytes =
        box_volume(&layer->parts[part].output) * layers_bytes(s->j, &op->layer->outputs, 0) / graph_outputs(op);
    layer->group[part] = find_siblings(s, layer, part, recurrent ? SPLIT_OUT : SPLIT_IN);
    layer->exchange[part] = NONE;
    if (layer->group[part] == NONE)
        return;
    if (recurrent) {
        struct box held = split_held(s->j->graph, index, &layer->parts[part]);
        bytes *= box_volume(&held) / box_volume(&layer->parts[part].owned);
    }
    layer->exchange[part] =
        add_cost(s, (struct stagesim_cost){.bytes = bytes, .repeats = recurrent ? (double)op->layer->steps : 1});
}

/* The passes of a part. Of a backward in two the second, that of the weights, has half of what is kept, and layers
 * without weights have no second one. */
static void set_passes(struct split_steps *s, struct split_layer *layer, uint32_t k, const struct layer_cost *cost,
                       double kept)
{
    const struct split_stage *stage = &s->stages[layer->stage];
    double stash = 1.0 / s->workers[stage->worker].stages / (stage->end - stage->first);
    struct stagesim_cost forward = {
        .seconds = cost->forward, .flops = cost->forward_flops, .memory = kept, .stash = stash};
    struct stagesim_cost backward = {
        .seconds = cost->backward, .flops = cost->backward_flops, .memory = -kept, .stash = -stash};
    layer->forward[k] = add_cost(s, forward);
    layer->backward[k] = layer->input[k] = add_cost(s, backward);
    layer->weight[k] = NONE;
    if (!s->halved || cost->weight <= 0)
        return;
    backward.seconds -= cost->weight;
    backward.flops -= cost->weight_flops;
    backward.memory /= 2;
    layer->input[k] = add_cost(s, backward);
    layer->weight[k] =
        add_cost(s, (struct stagesim_cost){.seconds = cost->weight, .flops = cost->weight_flops, .memory = -kept / 2});
}

/* Sums for the report. */
struct totals {
    double flops, busy, bound;
};

static void add_layer(struct split_steps *s, uint32_t index, struct layer_part *parts, struct totals *totals)
{
    struct split_layer *layer = &s->layers[index];
    uint32_t count = s->strategy->splits[index].count;
    layer->split = &s->strategy->splits[index];
    layer->parts = parts;
    uint32_t **arrays[] = {&layer->forward, &layer->backward, &layer->input,
                           &layer->weight,  &layer->group,    &layer->exchange};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = array_zeroed(count, sizeof **arrays[i]);
    layer->computed = array_zeroed((size_t)s->flights * count, sizeof *layer->computed);
    layer->ended = array_zeroed((size_t)s->flights * count, sizeof *layer->ended);
    double *received = array_zeroed(count, sizeof *received);
    for (size_t i = 0; i < layer->read_count; i++)
        received[layer->read[i].transfer->to] += layer->read[i].transfer->bytes;
    for (uint32_t k = 0; k < count; k++) {
        struct layer_cost cost;
        layers_part_cost(s->j, s->ranks[layer->split->devices[k]].device, index, &parts[k], s->samples, &cost);
        set_passes(s, layer, k, &cost, cost.activation + received[k]);
        set_exchange(s, index, k);
        totals->flops += cost.forward_flops + cost.backward_flops;
        totals->busy += cost.forward + cost.backward;
        totals->bound += cost.memory_bound;
    }
    free(received);
}

static void declare(const struct split_steps *s, const struct totals *totals)
{
    double flops = totals->flops * s->j->api->micro_batches(s->j->job);
    struct stagesim_figures figures = {.size = sizeof figures,
                                       .model_flops = flops,
                                       .hardware_flops = flops,
                                       .peak_flops = s->j->device.peak,
                                       .memory_bound = totals->busy > 0 ? totals->bound / totals->busy : 0,
                                       .bounds_known = true};
    s->j->api->declare(s->j->job, &figures);
}

/* ---- transfers ---- */

/* The transfers by the layer that reads, and by the layer that is read. */
static void sort_transfers(struct split_steps *s, const struct layers_transfers *list, struct split_transfer *items,
                           struct split_transfer **written)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct layers_transfer *transfer = &list->items[i];
        items[i].transfer = transfer;
        items[i].cost = transfer->bytes > 0 ? add_cost(s, (struct stagesim_cost){.bytes = transfer->bytes}) : NONE;
        struct split_layer *reader = &s->layers[transfer->layer];
        reader->read = reader->read_count++ ? reader->read : &items[i];
        s->layers[transfer->source].written_count++;
    }
    for (uint32_t layer = 0; layer < s->j->count; layer++) {
        s->layers[layer].written = written;
        written += s->layers[layer].written_count;
        s->layers[layer].written_count = 0;
    }
    for (size_t i = 0; i < list->count; i++) {
        struct split_layer *source = &s->layers[list->items[i].source];
        source->written[source->written_count++] = &items[i];
    }
}

/* ---- the job ---- */

static bool check_size(const struct layers_job *j, const struct layers_strategy *strategy)
{
    double parts = 0, repeated = (double)j->api->iterations(j->job) * j->api->micro_batches(j->job);
    for (uint32_t i = 0; i < j->count; i++)
        parts += strategy->splits[i].count;
    if (2 * parts * repeated <= OPERATIONS_MAX)
        return true;
    j->api->error(
        j->job, "split.layers",
        "%.3g parts of layers, each computed %.3g times forward and back, are too many; expected fewer ranks, "
        "layers, micro-batches or iterations",
        parts, repeated);
    return false;
}

static bool check_transfers(const struct layers_job *j, const struct layers_transfers *list)
{
    double repeated = (double)j->api->iterations(j->job) * j->api->micro_batches(j->job);
    if (4 * (double)list->count * repeated <= OPERATIONS_MAX)
        return true;
    j->api->error(j->job, "split.layers",
                  "%zu%s messages in a forward, %.3g times there and back, are too many; expected fewer ranks, layers, "
                  "micro-batches or iterations",
                  list->count, list->count < list->most ? "" : " or more", repeated);
    return false;
}

static void find_transfers(const struct split_steps *s, struct layer_part *const *parts, struct layers_transfers *list)
{
    const struct layers_job *j = s->j;
    double *element_bytes = array_zeroed(j->count, sizeof *element_bytes);
    for (uint32_t i = 0; i < j->count; i++)
        element_bytes[i] = layers_bytes(j, &j->layers[i].outputs, 0) / graph_outputs(&j->graph->operators[i]);
    for (uint32_t i = 0; i < j->count; i++)
        transfers_add(list, j->graph, s->strategy, parts, element_bytes, i);
    free(element_bytes);
}

static void set_optimizers(struct split_steps *s, struct split_stage *stage)
{
    for (uint32_t i = 0; i < s->group_size; i++) {
        const struct split_rank *rank = &s->ranks[s->workers[stage->worker].ranks[i]];
        double seconds = layers_optimizer_time(s->j, rank->device, stage->parameters[i]);
        stage->optimizer[i] = add_cost(s, (struct stagesim_cost){.seconds = seconds});
    }
}

/* Optimizers and what ranks hold for the whole run. */
static void set_ranks(struct split_steps *s)
{
    const struct layers_job *j = s->j;
    for (uint32_t stage = 0; stage < s->stage_count; stage++)
        set_optimizers(s, &s->stages[stage]);
    for (uint32_t i = 0; i < s->strategy->ranks; i++) {
        const struct split_rank *rank = &s->ranks[i];
        struct stagesim_static_memory memory = {.parameters = rank->parameters * j->state.weight,
                                                .gradients = rank->parameters * j->state.gradient,
                                                .optimizer = rank->parameters * j->state.optimizer};
        j->api->static_memory(j->job, i, &memory);
    }
}

static bool set_devices(struct split_steps *s, struct devices *devices)
{
    bool ok = true;
    for (uint32_t i = 0; i < s->worker_count * s->group_size && ok; i++) {
        s->ranks[i].last = NONE;
        s->ranks[i].device = find_device(devices, s->j, i);
        ok = s->ranks[i].device;
    }
    return ok;
}

static void build(struct split_steps *s, struct layer_part **parts, const struct layers_transfers *list)
{
    struct split_transfer *transfers = array_zeroed(list->count, sizeof *transfers);
    struct split_transfer **written = array_zeroed(list->count, sizeof(struct split_transfer *));
    uint32_t *waits = array_zeroed(2 * list->count * s->flights, sizeof *waits);
    struct totals totals = {0};
    for (size_t i = 0; i < list->count; i++) {
        transfers[i].arrived = waits + 2 * i * s->flights;
        transfers[i].returned = waits + (2 * i + 1) * s->flights;
    }
    sort_transfers(s, list, transfers, written);
    for (uint32_t i = 0; i < s->j->count; i++)
        add_layer(s, i, parts[i], &totals);
    split_buckets_create(s);
    set_ranks(s);
    declare(s, &totals);
    uint32_t repetitions = s->iterations > 1 ? 1 : s->j->api->iterations(s->j->job);
    for (s->iteration = 0; s->iteration < repetitions; s->iteration++)
        split_add_iterations(s);
    free(waits);
    free(transfers);
    free(written);
}

static void destroy(struct split_steps *s)
{
    for (uint32_t i = 0; i < s->j->count; i++) {
        struct split_layer *layer = &s->layers[i];
        uint32_t *arrays[] = {layer->forward, layer->backward, layer->input,    layer->weight,
                              layer->group,   layer->exchange, layer->computed, layer->ended};
        for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
            free(arrays[k]);
    }
    free(s->layers);
    free(s->ranks);
    split_groups_destroy(s);
}

/* What the parts exchange follows from where their stages are, and the schedule may follow from that. */
static bool place(struct split_steps *s, const struct layers_strategy *strategy, struct layer_part **parts)
{
    struct layers_transfers list = {.most = OPERATIONS_MAX / 4 + 1};
    struct layers_strategy *placed = split_stages_create(s, strategy, parts);
    s->strategy = placed;
    bool ok = placed;
    if (ok) {
        find_transfers(s, parts, &list);
        ok = check_transfers(s->j, &list) && split_orders_create(s, &list);
    }
    if (ok)
        build(s, parts, &list);
    free(list.items);
    strategy_destroy(placed);
    return ok;
}

bool layers_build_split(const struct layers_job *j, const struct layers_strategy *strategy)
{
    struct split_steps s = {
        .j = j, .samples = j->samples * j->data, .worker_count = j->workers, .group_size = strategy->ranks};
    struct devices devices = {0};
    if (!check_size(j, strategy))
        return false;
    s.layers = array_zeroed(j->count, sizeof *s.layers);
    s.table = array_zeroed(GROUPS_TABLE, sizeof *s.table);
    s.ranks = array_zeroed((size_t)s.worker_count * s.group_size, sizeof *s.ranks);
    struct layer_part **parts = parts_create(j->graph, strategy, s.samples);
    bool ok = set_devices(&s, &devices) && place(&s, strategy, parts);
    parts_destroy(j->graph, parts);
    free_devices(&devices);
    split_stages_destroy(&s);
    destroy(&s);
    return ok;
}
