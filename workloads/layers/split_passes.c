/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of split layers: forwards, backwards, gradients. */
#include "workloads/layers/split_steps.h"

#include "base/arena.h"

#include <stdlib.h>

static const uint32_t NONE = STAGESIM_NONE;

static struct stagesim_identity identify(const struct split_steps *s, enum stagesim_kind kind, uint32_t micro_batch,
                                         uint32_t layer)
{
    uint32_t stage = layer == NONE ? NONE : 0;
    return (struct stagesim_identity){
        .kind = kind, .stage = stage, .micro_batch = micro_batch, .layer = layer, .iteration = s->iteration};
}

static void wait_for(const struct split_steps *s, uint32_t rank, uint32_t operation, uint32_t awaited)
{
    if (awaited != NONE)
        s->j->api->wait(s->j->job, rank, operation, awaited);
}

/* Adds the computations of all parts; what they wait for is added afterwards. */
static void add_computes(struct split_steps *s, struct split_layer *layer, struct stagesim_identity identity,
                         const uint32_t *costs)
{
    for (uint32_t k = 0; k < layer->split->count; k++) {
        uint32_t rank = layer->split->devices[k];
        layer->computed[k] = layer->ended[k] = s->j->api->compute(s->j->job, rank, identity, costs[k]);
        s->ranks[rank].last = layer->computed[k];
    }
}

/* A part's share in an exchange with its siblings. */
static uint32_t add_exchange(const struct split_steps *s, const struct split_layer *layer, uint32_t part,
                             enum stagesim_collective collective, struct stagesim_identity identity)
{
    identity.kind = STAGESIM_TENSOR;
    return s->j->api->collective(s->j->job, layer->split->devices[part], s->groups[layer->group[part]].id, collective,
                                 identity, layer->exchange[part]);
}

/* Behind the computations: summands of outputs, or outputs of a recurrent layer's steps and their gradients. */
static void add_exchanges_behind(const struct split_steps *s, struct split_layer *layer,
                                 enum stagesim_collective collective, struct stagesim_identity identity)
{
    for (uint32_t k = 0; k < layer->split->count; k++) {
        if (layer->group[k] == NONE)
            continue;
        layer->ended[k] = add_exchange(s, layer, k, collective, identity);
        wait_for(s, layer->split->devices[k], layer->ended[k], layer->computed[k]);
    }
}

static bool is_recurrent(const struct split_steps *s, uint32_t layer)
{
    return s->j->layers[layer].type == LAYER_RECURRENT;
}

/* The result of a part, for whom on its own rank that result is more than the computation before: NONE where it is not.
 */
static uint32_t exchanged(const struct split_layer *layer, uint32_t part)
{
    return layer->ended[part] == layer->computed[part] ? NONE : layer->ended[part];
}

static void add_forward(struct split_steps *s, uint32_t micro_batch, uint32_t index)
{
    struct split_layer *layer = &s->layers[index];
    struct stagesim_identity identity = identify(s, STAGESIM_FORWARD, micro_batch, index),
                             message = identify(s, STAGESIM_ACTIVATION, micro_batch, index);
    add_computes(s, layer, identity, layer->forward);
    for (size_t i = 0; i < layer->read_count; i++) {
        const struct layers_transfer *transfer = layer->read[i].transfer;
        const struct split_layer *source = &s->layers[transfer->source];
        uint32_t from = source->split->devices[transfer->from], to = layer->split->devices[transfer->to];
        uint32_t arrived = exchanged(source, transfer->from), send;
        if (transfer->bytes > 0) {
            s->j->api->message(s->j->job, from, to, message, layer->read[i].cost, &send, &arrived);
            wait_for(s, from, send, source->ended[transfer->from]);
        }
        wait_for(s, to, layer->computed[transfer->to], arrived);
    }
    add_exchanges_behind(s, layer, is_recurrent(s, index) ? STAGESIM_ALL_GATHER : STAGESIM_REDUCE_SCATTER, identity);
}

/* The gradient of what a part has read, to those that it was of. */
static void return_gradients(const struct split_steps *s, uint32_t micro_batch, uint32_t index)
{
    const struct split_layer *layer = &s->layers[index];
    struct stagesim_identity message = identify(s, STAGESIM_GRADIENT, micro_batch, index);
    for (size_t i = 0; i < layer->read_count; i++) {
        struct split_transfer *read = &layer->read[i];
        const struct layers_transfer *transfer = read->transfer;
        const struct split_layer *source = &s->layers[transfer->source];
        uint32_t from = layer->split->devices[transfer->to], to = source->split->devices[transfer->from], send;
        read->returned = layer->ended[transfer->to];
        if (transfer->bytes > 0) {
            s->j->api->message(s->j->job, from, to, message, read->cost, &send, &read->returned);
            wait_for(s, from, send, layer->ended[transfer->to]);
        }
    }
}

/* Before a backward whose part of the output's gradient is only what it owns, all of it is gathered. */
static void add_backward(struct split_steps *s, uint32_t micro_batch, uint32_t index)
{
    struct split_layer *layer = &s->layers[index];
    struct stagesim_identity identity = identify(s, STAGESIM_BACKWARD, micro_batch, index);
    uint32_t count = layer->split->count, *first = array_zeroed(count, sizeof *first);
    bool recurrent = is_recurrent(s, index);
    for (uint32_t k = 0; k < count; k++)
        first[k] =
            layer->group[k] == NONE || recurrent ? NONE : add_exchange(s, layer, k, STAGESIM_ALL_GATHER, identity);
    add_computes(s, layer, identity, layer->backward);
    for (uint32_t k = 0; k < count; k++) {
        if (first[k] != NONE)
            wait_for(s, layer->split->devices[k], layer->computed[k], first[k]);
        else
            first[k] = layer->computed[k];
    }
    for (size_t i = 0; i < layer->written_count; i++) {
        uint32_t part = layer->written[i]->transfer->from;
        wait_for(s, layer->split->devices[part], first[part], layer->written[i]->returned);
    }
    free(first);
    if (recurrent)
        add_exchanges_behind(s, layer, STAGESIM_REDUCE_SCATTER, identity);
    return_gradients(s, micro_batch, index);
}

/* ---- gradients ---- */

/* Collectives that the optimizers wait for. */
struct syncs {
    struct sync {
        uint32_t rank, operation;
    } * items;
    size_t count, capacity;
};

static void add_sync(struct split_steps *s, const struct split_bucket *bucket, struct syncs *syncs)
{
    const struct split_group *group = &s->groups[bucket->group];
    struct stagesim_identity identity = identify(s, STAGESIM_GRADIENT_SYNC, NONE, NONE);
    for (uint32_t i = 0; i < group->count; i++) {
        uint32_t rank = group->ranks[i];
        uint32_t id = s->j->api->collective(s->j->job, rank, group->id, STAGESIM_ALL_REDUCE, identity, bucket->cost);
        wait_for(s, rank, id, s->ranks[rank].last);
        syncs->items = array_grow(syncs->items, &syncs->capacity, syncs->count + 1, sizeof *syncs->items);
        syncs->items[syncs->count++] = (struct sync){rank, id};
    }
}

static void add_optimizers(struct split_steps *s, const struct syncs *syncs)
{
    struct stagesim_identity identity = identify(s, STAGESIM_OPTIMIZER, NONE, NONE);
    for (uint32_t i = 0; i < s->strategy->ranks; i++)
        s->ranks[i].step = s->j->api->compute(s->j->job, i, identity, s->ranks[i].optimizer);
    for (size_t i = 0; i < syncs->count; i++)
        wait_for(s, syncs->items[i].rank, s->ranks[syncs->items[i].rank].step, syncs->items[i].operation);
}

void split_add_iteration(struct split_steps *s)
{
    uint32_t micro_batches = s->j->api->micro_batches(s->j->job);
    struct syncs syncs = {0};
    size_t next = 0;
    for (uint32_t m = 0; m < micro_batches; m++) {
        for (uint32_t layer = 0; layer < s->j->count; layer++)
            add_forward(s, m, layer);
        for (uint32_t layer = s->j->count; layer-- > 0;) {
            add_backward(s, m, layer);
            bool complete = m + 1 == micro_batches && s->j->parameters->overlap;
            while (complete && next < s->bucket_count && s->buckets[next].layer == layer)
                add_sync(s, &s->buckets[next++], &syncs);
        }
    }
    while (next < s->bucket_count)
        add_sync(s, &s->buckets[next++], &syncs);
    add_optimizers(s, &syncs);
    free(syncs.items);
}
