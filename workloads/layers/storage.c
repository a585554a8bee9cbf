/* SPDX-License-Identifier: Apache-2.0 */
/* Samples from storage: workers ask for those of a micro-batch, hosts behind them read and send them. A worker asks
 * when a micro-batch is done, for the one that is as far ahead as it prefetches. Every host has an equal part of every
 * micro-batch, and reads for one worker after the other. */
#include "workloads/layers/steps.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

static const uint32_t NONE = STAGESIM_NONE;

struct layers_storage {
    uint32_t count, first;           /* hosts, and the position of the first one */
    uint32_t depth;                  /* micro-batches between one that is done and the one that is asked for then */
    uint32_t micro_batches;          /* of an iteration */
    uint32_t request, read, samples; /* costs; read: NONE where all are in the hosts' memory */
    uint32_t *requests, *arrivals;   /* [(worker * micro_batches + micro-batch) * count + host], of this iteration */
    uint32_t *done;                  /* [worker * depth + number % depth]: what ends the newest micro-batches */
};

static double share_kept(double cache, double dataset)
{
    return cache > 0 ? fmin(1, cache / dataset) : 0;
}

double layers_sample_bytes(const struct layers_job *j)
{
    double given = j->parameters->storage.sample;
    return given > 0 ? given : layers_bytes(j, &j->layers[0].inputs, 0);
}

double layers_input_memory(const struct layers_job *j)
{
    const struct layers_storage_parameters *p = &j->parameters->storage;
    return p->hosts ? ((double)p->prefetch + 1) * j->samples * layers_sample_bytes(j) : 0;
}

/* The part of a micro-batch that a host sends. */
static double sent_samples(const struct layers_job *j)
{
    const struct layers_storage_parameters *p = &j->parameters->storage;
    return j->samples * (1 - share_kept(p->local_cache, p->dataset)) / (double)p->hosts;
}

/* A host reads what none of the hosts' memories holds: as fast as its disks give bytes, or places. */
static double read_seconds(const struct layers_job *j)
{
    const struct layers_storage_parameters *p = &j->parameters->storage;
    double samples = sent_samples(j) * (1 - share_kept((double)p->hosts * p->cache, p->dataset));
    double moving = p->bandwidth > 0 ? samples * layers_sample_bytes(j) / p->bandwidth : 0;
    return fmax(moving, p->reads > 0 ? samples / p->reads : 0);
}

struct layers_storage *layers_storage_create(const struct layers_steps *s)
{
    const struct layers_parameters *p = s->j->parameters;
    if (!p->storage.hosts || sent_samples(s->j) <= 0)
        return NULL;
    struct layers_storage *storage = array_zeroed(1, sizeof *storage);
    uint32_t depth = (uint32_t)p->storage.prefetch + 1, micro_batches = s->j->api->micro_batches(s->j->job);
    double seconds = read_seconds(s->j);
    size_t cells = (size_t)s->worker_count * micro_batches * p->storage.hosts;
    *storage = (struct layers_storage){
        .count = (uint32_t)p->storage.hosts,
        .first = s->worker_count + (p->colocated ? 0 : (uint32_t)p->servers),
        .depth = depth,
        .micro_batches = micro_batches,
        .request = layers_cost_entry(s, (struct stagesim_cost){0}),
        .read = seconds > 0 ? layers_cost_entry(s, (struct stagesim_cost){.seconds = seconds}) : NONE,
        .samples =
            layers_cost_entry(s, (struct stagesim_cost){.bytes = sent_samples(s->j) * layers_sample_bytes(s->j)}),
        .requests = array_zeroed(cells, sizeof *storage->requests),
        .arrivals = array_zeroed(cells, sizeof *storage->arrivals),
        .done = array_zeroed((size_t)s->worker_count * depth, sizeof *storage->done)};
    for (size_t i = 0; i < (size_t)s->worker_count * depth; i++)
        storage->done[i] = NONE;
    return storage;
}

void layers_storage_destroy(struct layers_storage *storage)
{
    if (!storage)
        return;
    free(storage->requests);
    free(storage->arrivals);
    free(storage->done);
    free(storage);
}

static size_t cell(const struct layers_storage *storage, uint32_t worker, uint32_t micro_batch, uint32_t host)
{
    return ((size_t)worker * storage->micro_batches + micro_batch) * storage->count + host;
}

/* Where the end of a micro-batch stands that is the last to be done before the given one is asked for: as many before
 * it as there are places. */
static uint32_t *done_of(const struct layers_storage *storage, const struct layers_steps *s, uint32_t worker,
                         uint32_t micro_batch)
{
    uint64_t number = (uint64_t)s->iteration * storage->micro_batches + micro_batch;
    return &storage->done[(size_t)worker * storage->depth + number % storage->depth];
}

/* What is asked for of a host, read and sent. */
static void feed(const struct layers_storage *storage, const struct layers_steps *s, uint32_t worker,
                 uint32_t micro_batch, uint32_t host)
{
    const struct stagesim_api *api = s->j->api;
    struct stagesim_job *job = s->j->job;
    struct stagesim_identity identity = layers_identity(s, STAGESIM_INPUT);
    uint32_t position = storage->first + host, asked, send, *request, *arrival;
    size_t index = cell(storage, worker, micro_batch, host);
    request = &storage->requests[index];
    arrival = &storage->arrivals[index];
    identity.micro_batch = micro_batch;
    api->message(job, worker, position, identity, storage->request, request, &asked);
    if (storage->read != NONE) {
        uint32_t read = api->delay(job, position, 0, identity, storage->read);
        api->wait(job, position, read, asked);
        asked = read;
    }
    api->message(job, position, worker, identity, storage->samples, &send, arrival);
    api->wait(job, position, send, asked);
    uint32_t before = *done_of(storage, s, worker, micro_batch);
    if (micro_batch < storage->depth && before != NONE)
        api->wait(job, worker, *request, before);
}

void layers_storage_add(struct layers_storage *storage, const struct layers_steps *s)
{
    for (uint32_t m = 0; m < storage->micro_batches; m++)
        for (uint32_t worker = 0; worker < s->worker_count; worker++)
            for (uint32_t host = 0; host < storage->count; host++)
                feed(storage, s, worker, m, host);
}

void layers_storage_await(const struct layers_storage *storage, const struct layers_steps *s, uint32_t worker,
                          uint32_t micro_batch, uint32_t forward)
{
    for (uint32_t host = 0; host < storage->count; host++)
        s->j->api->wait(s->j->job, worker, forward, storage->arrivals[cell(storage, worker, micro_batch, host)]);
}

void layers_storage_done(struct layers_storage *storage, const struct layers_steps *s, uint32_t worker,
                         uint32_t micro_batch, uint32_t end)
{
    *done_of(storage, s, worker, micro_batch) = end;
    for (uint32_t host = 0; host < storage->count && micro_batch + storage->depth < storage->micro_batches; host++)
        s->j->api->wait(s->j->job, worker, storage->requests[cell(storage, worker, micro_batch + storage->depth, host)],
                        end);
}
