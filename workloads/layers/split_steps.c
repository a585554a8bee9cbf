/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs whose layers are shared out one by one. Every element of an output has one owner. In the forward, ranks get what
 * their parts need from the owners; in the backward each sends the gradient of it back to them. Where input channels
 * are divided, the summands are added by a reduce-scatter to the owners, and the output's gradient is gathered again
 * before the backward. Ranks run the layers one after the other, in the network's order and back. */
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
    uint32_t group = split_group_find(s, ranks, degree);
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
    uint32_t **arrays[] = {&layer->forward,  &layer->backward, &layer->group,
                           &layer->exchange, &layer->computed, &layer->ended};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = array_zeroed(count, sizeof **arrays[i]);
    double *received = array_zeroed(count, sizeof *received);
    for (size_t i = 0; i < layer->read_count; i++)
        received[layer->read[i].transfer->to] += layer->read[i].transfer->bytes;
    for (uint32_t k = 0; k < count; k++) {
        struct layer_cost cost;
        layers_part_cost(s->j, s->ranks[layer->split->devices[k]].device, index, &parts[k], s->samples, &cost);
        double kept = cost.activation + received[k];
        layer->forward[k] = add_cost(
            s, (struct stagesim_cost){
                   .seconds = cost.forward, .flops = cost.forward_flops, .memory = kept, .stash = 1.0 / s->j->count});
        layer->backward[k] = add_cost(s, (struct stagesim_cost){.seconds = cost.backward,
                                                                .flops = cost.backward_flops,
                                                                .memory = -kept,
                                                                .stash = -1.0 / s->j->count});
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
        items[i] = (struct split_transfer){
            .transfer = transfer,
            .cost = transfer->bytes > 0 ? add_cost(s, (struct stagesim_cost){.bytes = transfer->bytes}) : NONE};
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

/* Optimizers and what ranks hold for the whole run. */
static void set_ranks(struct split_steps *s)
{
    const struct layers_job *j = s->j;
    for (uint32_t i = 0; i < s->strategy->ranks; i++) {
        struct split_rank *rank = &s->ranks[i];
        double seconds = layers_optimizer_time(j, rank->device, rank->parameters);
        rank->optimizer = add_cost(s, (struct stagesim_cost){.seconds = seconds});
        struct stagesim_static_memory memory = {.parameters = rank->parameters * j->state.weight,
                                                .gradients = rank->parameters * j->state.gradient,
                                                .optimizer = rank->parameters * j->state.optimizer};
        j->api->static_memory(j->job, i, &memory);
    }
}

static bool set_devices(struct split_steps *s, struct devices *devices)
{
    bool ok = true;
    for (uint32_t i = 0; i < s->strategy->ranks && ok; i++) {
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
    struct totals totals = {0};
    sort_transfers(s, list, transfers, written);
    for (uint32_t i = 0; i < s->j->count; i++)
        add_layer(s, i, parts[i], &totals);
    split_buckets_create(s);
    set_ranks(s);
    declare(s, &totals);
    for (s->iteration = 0; s->iteration < s->j->api->iterations(s->j->job); s->iteration++)
        split_add_iteration(s);
    free(transfers);
    free(written);
}

static void destroy(struct split_steps *s)
{
    for (uint32_t i = 0; i < s->j->count; i++) {
        struct split_layer *layer = &s->layers[i];
        uint32_t *arrays[] = {layer->forward,  layer->backward, layer->group,
                              layer->exchange, layer->computed, layer->ended};
        for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
            free(arrays[k]);
    }
    free(s->layers);
    free(s->ranks);
    split_groups_destroy(s);
}

bool layers_build_split(const struct layers_job *j, const struct layers_strategy *strategy)
{
    struct split_steps s = {.j = j, .strategy = strategy, .samples = j->samples * j->data};
    struct devices devices = {0};
    struct layers_transfers list = {.most = OPERATIONS_MAX / 4 + 1};
    if (!check_size(j, strategy))
        return false;
    s.layers = array_zeroed(j->count, sizeof *s.layers);
    s.table = array_zeroed(GROUPS_TABLE, sizeof *s.table);
    s.ranks = array_zeroed(strategy->ranks, sizeof *s.ranks);
    struct layer_part **parts = parts_create(j->graph, strategy, s.samples);
    find_transfers(&s, parts, &list);
    bool ok = check_transfers(j, &list) && set_devices(&s, &devices);
    if (ok)
        build(&s, parts, &list);
    free(list.items);
    parts_destroy(j->graph, parts);
    free_devices(&devices);
    destroy(&s);
    return ok;
}
