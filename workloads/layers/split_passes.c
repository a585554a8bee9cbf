/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of split layers: forwards, backwards, gradients. */
#include "workloads/layers/split_steps.h"

#include "base/arena.h"

#include <stddef.h>
#include <stdlib.h>

static const uint32_t NONE = STAGESIM_NONE;

/* A pass of a micro-batch through a stage. */
struct pass {
    const struct stagesim_slot *slot;
    uint32_t flight;
};

static struct stagesim_identity identify(const struct split_steps *s, enum stagesim_kind kind, const struct pass *pass,
                                         uint32_t layer)
{
    return (struct stagesim_identity){.kind = kind,
                                      .stage = pass->slot->stage,
                                      .micro_batch = pass->slot->micro_batch,
                                      .layer = layer,
                                      .iteration = s->iteration + pass->slot->iteration};
}

/* Of a stage's gradients and weights. */
static struct stagesim_identity identify_step(const struct split_steps *s, enum stagesim_kind kind, uint32_t stage,
                                              uint32_t iteration)
{
    return (struct stagesim_identity){.kind = kind,
                                      .stage = s->stage_count > 1 ? stage : NONE,
                                      .micro_batch = NONE,
                                      .layer = NONE,
                                      .iteration = s->iteration + iteration};
}

static void wait_for(const struct split_steps *s, uint32_t rank, uint32_t operation, uint32_t awaited)
{
    if (awaited != NONE)
        s->j->api->wait(s->j->job, rank, operation, awaited);
}

/* What is newest of the parts of a layer in a pass. */
static uint32_t *computed(const struct split_layer *layer, const struct pass *pass)
{
    return layer->computed + (size_t)pass->flight * layer->split->count;
}

static uint32_t *ended(const struct split_layer *layer, const struct pass *pass)
{
    return layer->ended + (size_t)pass->flight * layer->split->count;
}

/* Adds the computations of all parts; what they wait for is added afterwards. */
static void add_computes(struct split_steps *s, struct split_layer *layer, const struct pass *pass,
                         struct stagesim_identity identity, const uint32_t *costs)
{
    for (uint32_t k = 0; k < layer->split->count; k++) {
        uint32_t rank = layer->split->devices[k];
        if (costs[k] == NONE)
            continue;
        computed(layer, pass)[k] = ended(layer, pass)[k] = s->j->api->compute(s->j->job, rank, identity, costs[k]);
        s->ranks[rank].last = computed(layer, pass)[k];
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
static void add_exchanges_behind(const struct split_steps *s, struct split_layer *layer, const struct pass *pass,
                                 enum stagesim_collective collective, struct stagesim_identity identity)
{
    for (uint32_t k = 0; k < layer->split->count; k++) {
        if (layer->group[k] == NONE)
            continue;
        ended(layer, pass)[k] = add_exchange(s, layer, k, collective, identity);
        wait_for(s, layer->split->devices[k], ended(layer, pass)[k], computed(layer, pass)[k]);
    }
}

static bool is_recurrent(const struct split_steps *s, uint32_t layer)
{
    return s->j->layers[layer].type == LAYER_RECURRENT;
}

/* The result of a part, for whom on its own rank that result is more than the computation before: NONE where it is not.
 */
static uint32_t exchanged(const struct split_layer *layer, const struct pass *pass, uint32_t part)
{
    return ended(layer, pass)[part] == computed(layer, pass)[part] ? NONE : ended(layer, pass)[part];
}

/* ---- forwards ---- */

/* What a part of the layer gets: a message, unless its own rank has it. */
static void send(struct split_steps *s, const struct pass *pass, const struct split_transfer *read)
{
    const struct layers_transfer *transfer = read->transfer;
    const struct split_layer *source = &s->layers[transfer->source], *layer = &s->layers[transfer->layer];
    uint32_t from = source->split->devices[transfer->from], to = layer->split->devices[transfer->to], id;
    read->arrived[pass->flight] = exchanged(source, pass, transfer->from);
    if (transfer->bytes <= 0)
        return;
    struct stagesim_identity identity = identify(s, STAGESIM_ACTIVATION, pass, transfer->layer);
    s->j->api->message(s->j->job, from, to, identity, read->cost, &id, &read->arrived[pass->flight]);
    wait_for(s, from, id, ended(source, pass)[transfer->from]);
}

/* What the stage's own layers read is sent when they need it, what others read when it is there. */
static void add_forward(struct split_steps *s, const struct pass *pass, uint32_t index)
{
    struct split_layer *layer = &s->layers[index];
    struct stagesim_identity identity = identify(s, STAGESIM_FORWARD, pass, index);
    add_computes(s, layer, pass, identity, layer->forward);
    for (size_t i = 0; i < layer->read_count; i++) {
        const struct split_transfer *read = &layer->read[i];
        uint32_t to = read->transfer->to;
        if (s->layers[read->transfer->source].stage == layer->stage)
            send(s, pass, read);
        wait_for(s, layer->split->devices[to], computed(layer, pass)[to], read->arrived[pass->flight]);
    }
    add_exchanges_behind(s, layer, pass, is_recurrent(s, index) ? STAGESIM_ALL_GATHER : STAGESIM_REDUCE_SCATTER,
                         identity);
    for (size_t i = 0; i < layer->written_count; i++)
        if (s->layers[layer->written[i]->transfer->layer].stage != layer->stage)
            send(s, pass, layer->written[i]);
}

/* ---- backwards ---- */

/* The gradient of what a part has read, to those that it was of. */
static void return_gradients(const struct split_steps *s, const struct pass *pass, uint32_t index)
{
    const struct split_layer *layer = &s->layers[index];
    struct stagesim_identity message = identify(s, STAGESIM_GRADIENT, pass, index);
    for (size_t i = 0; i < layer->read_count; i++) {
        const struct split_transfer *read = &layer->read[i];
        const struct layers_transfer *transfer = read->transfer;
        const struct split_layer *source = &s->layers[transfer->source];
        uint32_t from = layer->split->devices[transfer->to], to = source->split->devices[transfer->from], id;
        read->returned[pass->flight] = ended(layer, pass)[transfer->to];
        if (transfer->bytes > 0) {
            s->j->api->message(s->j->job, from, to, message, read->cost, &id, &read->returned[pass->flight]);
            wait_for(s, from, id, ended(layer, pass)[transfer->to]);
        }
    }
}

/* Before a backward whose part of the output's gradient is only what it owns, all of it is gathered. */
static void add_backward(struct split_steps *s, const struct pass *pass, uint32_t index)
{
    struct split_layer *layer = &s->layers[index];
    struct stagesim_identity identity = identify(s, STAGESIM_BACKWARD, pass, index);
    uint32_t count = layer->split->count, *first = array_zeroed(count, sizeof *first);
    bool recurrent = is_recurrent(s, index);
    for (uint32_t k = 0; k < count; k++)
        first[k] =
            layer->group[k] == NONE || recurrent ? NONE : add_exchange(s, layer, k, STAGESIM_ALL_GATHER, identity);
    add_computes(s, layer, pass, identity, pass->slot->split ? layer->input : layer->backward);
    for (uint32_t k = 0; k < count; k++) {
        if (first[k] != NONE)
            wait_for(s, layer->split->devices[k], computed(layer, pass)[k], first[k]);
        else
            first[k] = computed(layer, pass)[k];
    }
    for (size_t i = 0; i < layer->written_count; i++) {
        uint32_t part = layer->written[i]->transfer->from;
        wait_for(s, layer->split->devices[part], first[part], layer->written[i]->returned[pass->flight]);
    }
    free(first);
    if (recurrent)
        add_exchanges_behind(s, layer, pass, STAGESIM_REDUCE_SCATTER, identity);
    return_gradients(s, pass, index);
}

/* ---- gradients ---- */

static void add_sync(struct split_steps *s, const struct split_bucket *bucket, uint32_t iteration)
{
    const struct split_group *group = &s->groups[bucket->group];
    struct split_stage *stage = &s->stages[group->stage];
    struct stagesim_identity identity = identify_step(s, STAGESIM_GRADIENT_SYNC, group->stage, iteration);
    for (uint32_t i = 0; i < group->count; i++) {
        uint32_t rank = group->ranks[i];
        uint32_t id = s->j->api->collective(s->j->job, rank, group->id, STAGESIM_ALL_REDUCE, identity, bucket->cost);
        wait_for(s, rank, id, s->ranks[rank].last);
        stage->syncs = array_grow(stage->syncs, &stage->sync_capacity, stage->sync_count + 1, sizeof *stage->syncs);
        stage->syncs[stage->sync_count++] = (struct split_sync){rank, id};
    }
}

static void add_syncs(struct split_steps *s, uint32_t layer, uint32_t iteration)
{
    const struct split_layer *own = &s->layers[layer];
    for (size_t i = 0; i < own->bucket_count; i++)
        add_sync(s, &s->buckets[own->bucket + i], iteration);
}

static void add_optimizers(struct split_steps *s, uint32_t index, uint32_t iteration)
{
    struct split_stage *stage = &s->stages[index];
    const uint32_t *ranks = s->workers[stage->worker].ranks;
    struct stagesim_identity identity = identify_step(s, STAGESIM_OPTIMIZER, index, iteration);
    for (uint32_t i = 0; i < s->group_size; i++)
        stage->stepped[i] = s->j->api->compute(s->j->job, ranks[i], identity, stage->optimizer[i]);
    for (size_t i = 0; i < stage->sync_count; i++) {
        uint32_t rank = stage->syncs[i].rank;
        wait_for(s, rank, stage->stepped[s->ranks[rank].place], stage->syncs[i].operation);
    }
    stage->sync_count = 0;
}

/* Behind a worker's last slot in an iteration: its last stages are done first. */
static void add_step(struct split_steps *s, uint32_t worker, uint32_t iteration)
{
    for (uint32_t stage = s->stage_count; stage-- > 0 && !s->j->parameters->overlap;)
        for (uint32_t layer = s->stages[stage].end; layer-- > s->stages[stage].first;)
            if (s->stages[stage].worker == worker)
                add_syncs(s, layer, iteration);
    for (uint32_t stage = s->stage_count; stage-- > 0;)
        if (s->stages[stage].worker == worker)
            add_optimizers(s, stage, iteration);
}

/* ---- orders ---- */

static bool completes_gradient(const struct stagesim_slot *slot)
{
    return slot->kind == STAGESIM_WEIGHT || (slot->kind == STAGESIM_BACKWARD && !slot->split);
}

static void add_slot(struct split_steps *s, const struct pass *pass)
{
    const struct stagesim_slot *slot = pass->slot;
    struct split_stage *stage = &s->stages[slot->stage];
    bool complete = completes_gradient(slot) && --stage->left[slot->iteration] == 0 && s->j->parameters->overlap;
    for (uint32_t layer = stage->first; layer < stage->end && slot->kind == STAGESIM_FORWARD; layer++)
        add_forward(s, pass, layer);
    for (uint32_t layer = stage->end; layer-- > stage->first && slot->kind != STAGESIM_FORWARD;) {
        if (slot->kind == STAGESIM_BACKWARD)
            add_backward(s, pass, layer);
        else
            add_computes(s, &s->layers[layer], pass, identify(s, STAGESIM_WEIGHT, pass, layer),
                         s->layers[layer].weight);
        if (complete)
            add_syncs(s, layer, slot->iteration);
    }
}

/* How far a micro-batch has come in a stage. */
enum progress { NOTHING, FORWARDED, BACKWARDED };

static bool is_ready(const struct split_steps *s, const struct pass *pass, const uint8_t *progress)
{
    const struct stagesim_slot *slot = pass->slot;
    const uint8_t *own = progress + (size_t)slot->stage * s->flights + pass->flight;
    if (slot->kind == STAGESIM_FORWARD)
        return slot->stage == 0 || own[-(ptrdiff_t)s->flights] >= FORWARDED;
    if (slot->kind == STAGESIM_WEIGHT)
        return *own >= BACKWARDED;
    return *own >= FORWARDED && (slot->stage + 1 == s->stage_count || own[s->flights] >= BACKWARDED);
}

static void count_slots(struct split_steps *s)
{
    for (uint32_t number = 0; number < s->worker_count; number++) {
        struct split_worker *worker = &s->workers[number];
        worker->next = 0;
        for (size_t i = 0; i < worker->count; i++) {
            const struct stagesim_slot *slot = &worker->slots[i];
            worker->left[slot->iteration]++;
            s->stages[slot->stage].left[slot->iteration] += completes_gradient(slot);
        }
    }
}

/* Adds what of a worker's order has what it needs. */
static bool advance(struct split_steps *s, uint32_t number, uint8_t *progress)
{
    struct split_worker *worker = &s->workers[number];
    size_t before = worker->next;
    for (; worker->next < worker->count; worker->next++) {
        const struct stagesim_slot *slot = &worker->slots[worker->next];
        uint32_t each = s->flights / s->iterations;
        struct pass pass = {slot, s->flights == 1 ? 0 : slot->iteration * each + slot->micro_batch};
        if (!is_ready(s, &pass, progress))
            break;
        add_slot(s, &pass);
        progress[(size_t)slot->stage * s->flights + pass.flight] =
            slot->kind == STAGESIM_FORWARD ? FORWARDED : BACKWARDED;
        if (--worker->left[slot->iteration] == 0)
            add_step(s, number, slot->iteration);
    }
    return worker->next > before;
}

/* What operations wait for is added before them, so workers take turns. */
void split_add_iterations(struct split_steps *s)
{
    uint8_t *progress = array_zeroed((size_t)s->stage_count * s->flights, sizeof *progress);
    count_slots(s);
    for (bool any = true; any;) {
        any = false;
        for (uint32_t worker = 0; worker < s->worker_count; worker++)
            any |= advance(s, worker, progress);
    }
    free(progress);
}
