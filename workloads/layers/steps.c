/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs without a pipeline: forwards and backwards of all layers, and how replicas synchronise. */
#include "workloads/layers/steps.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t NONE = STAGESIM_NONE;

/* ---- what there is ---- */

/* Gradients in the order in which they are complete, together until they are as many bytes as a bucket holds. */
static void fill_buckets(struct layers_steps *s)
{
    const struct layers_job *j = s->j;
    uint32_t end = j->count;
    double bytes = 0, parameters = 0;
    s->buckets = array_zeroed(j->count, sizeof *s->buckets);
    for (uint32_t layer = j->count; layer-- > 0;) {
        bytes += j->costs[layer].gradient;
        parameters += j->costs[layer].gradient > 0 ? j->costs[layer].parameters : 0;
        if (bytes < j->parameters->bucket && layer > 0)
            continue;
        if (bytes > 0)
            s->buckets[s->bucket_count++] = (struct layers_bucket){layer, end, bytes, parameters};
        end = layer;
        bytes = parameters = 0;
    }
}

static void add_operations(const struct layers_steps *s, const struct layer_cost *costs,
                           struct layer_operations *operations)
{
    for (uint32_t i = 0; i < s->j->count; i++) {
        const struct layer_cost *cost = &costs[i];
        double steps = (double)s->j->layers[i].steps;
        operations[i] = (struct layer_operations){
            .forward = layers_cost_entry(s, (struct stagesim_cost){.seconds = cost->forward,
                                                                   .flops = cost->forward_flops,
                                                                   .memory = cost->taken,
                                                                   .stash = 1.0 / s->j->count}),
            .backward = layers_cost_entry(s, (struct stagesim_cost){.seconds = cost->backward,
                                                                    .flops = cost->backward_flops,
                                                                    .memory = cost->freed,
                                                                    .stash = -1.0 / s->j->count}),
            .gathered =
                cost->gathered > 0 ? layers_cost_entry(s, (struct stagesim_cost){.bytes = cost->gathered}) : NONE,
            .stepped = cost->stepped > 0
                           ? layers_cost_entry(s, (struct stagesim_cost){.bytes = cost->stepped, .repeats = steps})
                           : NONE,
        };
    }
}

static double count_parameters(const struct layers_job *j)
{
    double sum = 0;
    for (uint32_t i = 0; i < j->count; i++)
        sum += j->costs[i].parameters;
    return sum;
}

/* The worker's own costs: its device may be another one than the first worker's. False with the mistake reported. */
static bool add_worker(struct layers_steps *s, uint32_t index)
{
    const struct layers_job *j = s->j;
    struct layers_worker *worker = &s->workers[index];
    struct efficiency efficiency = j->efficiency;
    struct efficiency_device device = j->device;
    if (index > 0 && !layers_device(j, index, &efficiency, &device))
        return false;
    bool alike = index > 0 && device.peak == j->device.peak && device.bandwidth == j->device.bandwidth &&
                 device.clock == j->device.clock && (j->parameters->efficiency > 0 || j->parameters->table);
    *worker = (struct layers_worker){
        .position = index,
        .operations = alike ? s->workers[0].operations : array_zeroed(j->count, sizeof *worker->operations),
        .awaited = array_zeroed((size_t)j->count * s->awaited_each, sizeof *worker->awaited),
        .complete = array_zeroed(s->bucket_count + (size_t)1, sizeof *worker->complete),
        .last = NONE,
        .boundary = NONE,
        .exchange = NONE};
    for (size_t i = 0; i < (size_t)j->count * s->awaited_each; i++)
        worker->awaited[i] = NONE;
    if (!alike) {
        struct layer_cost *costs = array_zeroed(j->count, sizeof *costs);
        layers_cost(j, &device, costs);
        add_operations(s, costs, worker->operations);
        free(costs);
    }
    double updated = count_parameters(j);
    worker->optimizer =
        layers_cost_entry(s, (struct stagesim_cost){.seconds = layers_optimizer_time(j, &device, updated)});
    if (s->kfac)
        layers_kfac_add_rank(s->kfac, s, index, &device);
    return true;
}

/* `servers`: NULL where there are none. */
static void set_memory(const struct layers_steps *s, const struct layers_worker *worker,
                       const struct layers_servers *servers)
{
    const struct layers_job *j = s->j;
    double parameters = count_parameters(j);
    bool steps = !j->parameters->servers || j->parameters->period > 1;
    double served = servers ? layers_servers_parameters(servers, worker->position) : 0;
    struct stagesim_static_memory memory = {.parameters = (parameters + served) * j->state.weight,
                                            .gradients = (parameters + served) * j->state.gradient,
                                            .optimizer = ((steps ? parameters : 0) + served) * j->state.optimizer +
                                                         layers_kfac_memory(j),
                                            .buffers = layers_input_memory(j) + layers_workspace(j, 0, j->count)};
    j->api->static_memory(j->job, worker->position, &memory);
}

/* ---- forward and backward ---- */

static struct stagesim_identity identify(const struct layers_steps *s, enum stagesim_kind kind, uint32_t micro_batch,
                                         uint32_t layer)
{
    struct stagesim_identity identity = layers_identity(s, kind);
    identity.stage = 0;
    identity.micro_batch = micro_batch;
    identity.layer = layer;
    return identity;
}

/* A collective among the ranks that hold channels of a layer, after the newest computation. */
static void add_exchange(struct layers_steps *s, struct layers_worker *worker, enum stagesim_collective collective,
                         struct stagesim_identity identity, uint32_t cost)
{
    if (cost == NONE)
        return;
    uint32_t group = s->groups[identity.layer];
    identity.kind = STAGESIM_TENSOR;
    uint32_t id = s->j->api->collective(s->j->job, worker->position, group, collective, identity, cost);
    layers_await(s, worker->position, id, worker->last);
    worker->last = worker->exchange = id;
}

/* What was awaited since the layer's weights changed. */
static void await_weights(struct layers_steps *s, struct layers_worker *worker, uint32_t layer, uint32_t id)
{
    for (uint32_t i = 0; i < s->awaited_each; i++) {
        layers_await(s, worker->position, id, worker->awaited[layer * s->awaited_each + i]);
        worker->awaited[layer * s->awaited_each + i] = NONE;
    }
}

static void add_forward(struct layers_steps *s, struct layers_worker *worker, uint32_t micro_batch, uint32_t layer)
{
    const struct layer_operations *operations = &worker->operations[layer];
    struct stagesim_identity identity = identify(s, STAGESIM_FORWARD, micro_batch, layer);
    add_exchange(s, worker, STAGESIM_ALL_GATHER, identity, operations->gathered);
    uint32_t forward = layers_add_compute(s, worker, identity, operations->forward);
    await_weights(s, worker, layer, forward);
    if (s->storage && layer == 0)
        layers_storage_await(s->storage, s, worker->position, micro_batch, forward);
    add_exchange(s, worker, STAGESIM_ALL_GATHER, identity, operations->stepped);
}

static void add_backward(struct layers_steps *s, struct layers_worker *worker, uint32_t micro_batch, uint32_t layer)
{
    const struct layer_operations *operations = &worker->operations[layer];
    struct stagesim_identity identity = identify(s, STAGESIM_BACKWARD, micro_batch, layer);
    await_weights(s, worker, layer, layers_add_compute(s, worker, identity, operations->backward));
    add_exchange(s, worker, STAGESIM_REDUCE_SCATTER, identity, operations->stepped);
    add_exchange(s, worker, STAGESIM_REDUCE_SCATTER, identity, operations->gathered);
}

/* ---- synchronisation ---- */

/* Compressing, or decompressing, `bytes` of gradients on the device that also computes. */
static uint32_t add_compression(struct layers_steps *s, struct layers_worker *worker, double bytes)
{
    const struct layers_parameters *p = s->j->parameters;
    if (p->compression <= 1 || p->compression_rate <= 0)
        return worker->last;
    uint32_t cost = layers_cost_entry(s, (struct stagesim_cost){.seconds = bytes / p->compression_rate});
    return layers_add_compute(s, worker, layers_identity(s, STAGESIM_OTHER), cost);
}

/* The all-reduce of a bucket; compressed gradients that cannot be added are gathered: with nccl-tests' meaning of size
 * the buffer that holds those of all ranks. */
static uint32_t add_collective(struct layers_steps *s, struct layers_worker *worker, const struct layers_bucket *bucket,
                               uint32_t awaited)
{
    const struct layers_parameters *p = s->j->parameters;
    bool gathers = p->compression > 1 && p->exchange == EXCHANGE_ALL_GATHER;
    double bytes = bucket->bytes / p->compression * (gathers ? s->j->data : 1);
    uint32_t cost = layers_cost_entry(s, (struct stagesim_cost){.bytes = bytes});
    uint32_t id = s->j->api->collective(s->j->job, worker->position, s->sync_group,
                                        gathers ? STAGESIM_ALL_GATHER : STAGESIM_ALL_REDUCE,
                                        layers_identity(s, STAGESIM_GRADIENT_SYNC), cost);
    layers_await(s, worker->position, id, awaited);
    return id;
}

/* The bucket whose gradients are complete with the backward of `layer`, or NULL. */
static const struct layers_bucket *completed_bucket(const struct layers_steps *s, uint32_t layer)
{
    for (uint32_t i = 0; i < s->bucket_count; i++)
        if (s->buckets[i].first == layer)
            return &s->buckets[i];
    return NULL;
}

/* Decompression writes the gradient; where all ranks' were gathered it adds each of them. */
static double decompressed_bytes(const struct layers_steps *s, const struct layers_bucket *bucket)
{
    const struct layers_parameters *p = s->j->parameters;
    double gathered = p->exchange == EXCHANGE_ALL_GATHER ? bucket->bytes / p->compression * s->j->data : 0;
    return gathered > bucket->bytes ? gathered : bucket->bytes;
}

static bool compresses(const struct layers_steps *s)
{
    return s->j->parameters->compression > 1 && s->j->parameters->compression_rate > 0 && s->sync_group != NONE;
}

static void decompress(struct layers_steps *s, struct layers_worker *worker, uint32_t bucket, uint32_t sync)
{
    layers_await(s, worker->position, add_compression(s, worker, decompressed_bytes(s, &s->buckets[bucket])), sync);
}

/* The optimizer steps when all gradients are there. */
static void finish_gradients(struct layers_steps *s, struct layers_worker *worker, const uint32_t *syncs)
{
    for (uint32_t i = 0; i < s->bucket_count && syncs[i] != NONE && compresses(s); i++)
        decompress(s, worker, i, syncs[i]);
    if (s->kfac)
        layers_kfac_add_step(s->kfac, s, worker, syncs);
    uint32_t step = layers_add_compute(s, worker, layers_identity(s, STAGESIM_OPTIMIZER), worker->optimizer);
    for (uint32_t i = 0; i < s->bucket_count && !compresses(s); i++)
        layers_await(s, worker->position, step, syncs[i]);
}

/* Local SGD: the optimizer has stepped; weights are averaged, those first that the next forward needs first. */
static void average_weights(struct layers_steps *s, struct layers_worker *worker)
{
    for (uint32_t i = s->bucket_count; i-- > 0 && s->sync_group != NONE;) {
        uint32_t ready = add_compression(s, worker, s->buckets[i].bytes);
        worker->awaited[s->buckets[i].first] = add_collective(s, worker, &s->buckets[i], ready);
    }
    for (uint32_t i = s->bucket_count; i-- > 0 && compresses(s);)
        decompress(s, worker, i, worker->awaited[s->buckets[i].first]);
}

/* Streamed weights: the bucket that a pass enters with `layer`, if any, is asked for. */
static void fetch(struct layers_steps *s, struct layers_worker *worker, uint32_t layer, bool forward)
{
    for (uint32_t i = 0; s->stream && i < s->bucket_count; i++)
        if (layer == (forward ? s->buckets[i].first : s->buckets[i].end - 1))
            layers_stream_fetch(s->stream, s, worker, i, layer);
}

/* The bucket whose gradients are complete with the last backward of `layer`, if any, is synchronised. */
static void complete_bucket(struct layers_steps *s, struct layers_worker *worker, uint32_t layer, uint32_t *syncs)
{
    const struct layers_parameters *p = s->j->parameters;
    const struct layers_bucket *bucket = completed_bucket(s, layer);
    if (!bucket)
        return;
    uint32_t index = (uint32_t)(bucket - s->buckets);
    worker->complete[index] = add_compression(s, worker, bucket->bytes);
    if (s->stream)
        layers_stream_return(s->stream, s, worker, index);
    if (!p->servers && p->overlap && s->sync_group != NONE)
        syncs[index] = add_collective(s, worker, bucket, worker->complete[index]);
}

/* All micro-batches of an iteration; `syncs` gets the synchronisation of each bucket, where collectives overlap the
 * backward. */
static void add_passes(struct layers_steps *s, struct layers_worker *worker, uint32_t *syncs)
{
    uint32_t micro_batches = s->j->api->micro_batches(s->j->job);
    for (uint32_t m = 0; m < micro_batches; m++) {
        for (uint32_t layer = 0; layer < s->j->count; layer++) {
            fetch(s, worker, layer, true);
            add_forward(s, worker, m, layer);
        }
        for (uint32_t layer = s->j->count; layer-- > 0;) {
            fetch(s, worker, layer, false);
            add_backward(s, worker, m, layer);
            if (m + 1 == micro_batches && s->j->parameters->period == 1)
                complete_bucket(s, worker, layer, syncs);
            if (s->kfac)
                layers_kfac_add_factors(s->kfac, s, worker, m, layer);
        }
        if (s->storage)
            layers_storage_done(s->storage, s, worker->position, m, worker->last);
    }
}

static void add_iteration(struct layers_steps *s, struct layers_worker *worker)
{
    const struct layers_parameters *p = s->j->parameters;
    uint32_t *syncs = array_zeroed(s->bucket_count + (size_t)1, sizeof *syncs);
    for (uint32_t i = 0; i < s->bucket_count; i++)
        syncs[i] = NONE;
    add_passes(s, worker, syncs);
    for (uint32_t i = 0; i < s->bucket_count && p->period == 1 && !p->overlap; i++) {
        worker->complete[i] = worker->last;
        if (!p->servers && s->sync_group != NONE)
            syncs[i] = add_collective(s, worker, &s->buckets[i], worker->last);
    }
    if (!p->servers || p->period > 1)
        finish_gradients(s, worker, syncs);
    for (uint32_t i = 0; i < s->bucket_count && p->servers && p->period > 1 && layers_synchronises(s); i++)
        worker->complete[i] = add_compression(s, worker, s->buckets[i].bytes);
    if (!p->servers && p->period > 1 && layers_synchronises(s))
        average_weights(s, worker);
    free(syncs);
}

/* ---- the job ---- */

/* The group of ranks along axes. Where every worker is a position of its own they are all of them: there is no other
 * axis than data then. */
static uint32_t group_along(const struct layers_steps *s, const char *axes)
{
    const struct layers_job *j = s->j;
    uint32_t *positions = array_zeroed(s->worker_count, sizeof *positions);
    for (uint32_t i = 0; i < s->worker_count; i++)
        positions[i] = i;
    uint32_t group = j->api->group(j->job, s->worker_count > 1 ? "" : axes, positions, s->worker_count);
    free(positions);
    return group;
}

/* The groups of replicas and of layers; layers of the same axes share one. */
static void add_groups(struct layers_steps *s)
{
    const struct layers_job *j = s->j;
    s->groups = array_zeroed(j->count, sizeof *s->groups);
    s->sync_group = !j->parameters->servers && j->data > 1 ? group_along(s, "data") : NONE;
    for (uint32_t layer = 0; layer < j->count; layer++) {
        uint32_t known = 0;
        while (known < layer &&
               (!layers_exchanges(&j->costs[known]) || strcmp(layers_axes(j, known), layers_axes(j, layer))))
            known++;
        if (layers_exchanges(&j->costs[layer]))
            s->groups[layer] = known < layer ? s->groups[known] : group_along(s, layers_axes(j, layer));
    }
}

static void set_pace(const struct layers_steps *s)
{
    const struct layers_parameters *p = s->j->parameters;
    uint64_t period = s->kfac ? layers_kfac_parameters_of(p).inverse_every : p->period;
    struct stagesim_pace pace = {.size = sizeof pace,
                                 .period = (uint32_t)period,
                                 .overlapping = p->servers > 0 || p->storage.hosts > 0,
                                 .independent = p->servers > 0 && p->consistency != CONSISTENCY_SYNCHRONOUS};
    s->j->api->pace(s->j->job, &pace);
}

static void destroy(struct layers_steps *s)
{
    for (uint32_t i = 0; s->workers && i < s->worker_count; i++) {
        if (i == 0 || s->workers[i].operations != s->workers[0].operations)
            free(s->workers[i].operations);
        free(s->workers[i].awaited);
        free(s->workers[i].complete);
    }
    free(s->workers);
    free(s->buckets);
    free(s->groups);
}

/* Workers that talk to servers are spelt out one by one: too many of them would not fit in memory. */
enum { OPERATIONS_MAX = 20000000, WAITS_MAX = 60000 };

static bool check_size(const struct layers_steps *s)
{
    const struct layers_job *j = s->j;
    double workers = s->worker_count, servers = (double)j->parameters->servers, iterations = j->api->iterations(j->job);
    double passes = iterations * workers * j->api->micro_batches(j->job) * j->count * 2;
    double messages = iterations / (double)j->parameters->period * workers * servers * s->bucket_count * 5;
    messages += iterations * workers * j->api->micro_batches(j->job) * (double)j->parameters->storage.hosts * 5;
    if (passes + messages <= OPERATIONS_MAX && workers <= WAITS_MAX && servers <= WAITS_MAX)
        return true;
    const char *key = j->parameters->servers ? "servers" : j->parameters->storage.hosts ? "storage.hosts" : NULL;
    j->api->error(j->job, key,
                  "the job has %.3g operations, of which at most %d are possible; expected fewer iterations, "
                  "micro-batches, workers or "
                  "servers, or a larger bucket",
                  passes + messages, OPERATIONS_MAX);
    return false;
}

bool layers_build_steps(const struct layers_job *j)
{
    struct layers_steps s = {.j = j};
    const struct layers_parameters *p = j->parameters;
    s.worker_count = p->servers || p->storage.hosts ? j->data : 1;
    s.awaited_each = p->servers ? (uint32_t)p->servers : 1;
    s.workers = array_zeroed(s.worker_count, sizeof *s.workers);
    fill_buckets(&s);
    bool ok = check_size(&s);
    if (ok)
        add_groups(&s);
    s.kfac = ok ? layers_kfac_create(&s) : NULL;
    for (uint32_t i = 0; ok && i < s.worker_count; i++)
        ok = add_worker(&s, i);
    struct layers_servers *servers = ok && !p->weights ? layers_servers_create(&s) : NULL;
    s.stream = ok ? layers_stream_create(&s) : NULL;
    s.storage = ok ? layers_storage_create(&s) : NULL;
    for (s.iteration = 0; ok && s.iteration < j->api->iterations(j->job); s.iteration++) {
        if (s.storage)
            layers_storage_add(s.storage, &s);
        for (uint32_t i = 0; i < s.worker_count; i++)
            add_iteration(&s, &s.workers[i]);
        if (servers && layers_synchronises(&s))
            layers_servers_add(servers, &s);
        if (s.stream)
            layers_stream_serve(s.stream, &s);
    }
    for (uint32_t i = 0; ok && !s.stream && i < s.worker_count; i++)
        set_memory(&s, &s.workers[i], servers);
    set_pace(&s);
    layers_servers_destroy(servers);
    layers_stream_destroy(s.stream);
    layers_storage_destroy(s.storage);
    layers_kfac_destroy(s.kfac);
    destroy(&s);
    return ok;
}
