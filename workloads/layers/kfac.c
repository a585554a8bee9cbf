/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/layers/kfac.h"

#include "base/arena.h"
#include "workloads/layers/graph.h"
#include "workloads/layers/steps.h"

#include <math.h>
#include <stdlib.h>

static const uint32_t NONE = STAGESIM_NONE;

struct heavy {
    double seconds;
    uint32_t layer;
};

static int heavier_first(const void *left, const void *right)
{
    const struct heavy *a = left, *b = right;
    if (a->seconds < b->seconds || a->seconds > b->seconds)
        return a->seconds > b->seconds ? -1 : 1;
    return (a->layer > b->layer) - (a->layer < b->layer);
}

void kfac_distribute(const double *seconds, uint32_t count, uint32_t owners, double *load)
{
    struct heavy *order = array_zeroed(count + (size_t)1, sizeof *order);
    for (uint32_t i = 0; i < count; i++)
        order[i] = (struct heavy){seconds[i], i};
    for (uint32_t owner = 0; owner < owners; owner++)
        load[owner] = 0;
    qsort(order, count, sizeof *order, heavier_first);
    for (uint32_t i = 0; i < count && order[i].seconds > 0; i++) {
        uint32_t least = 0;
        for (uint32_t owner = 1; owner < owners; owner++)
            least = load[owner] < load[least] ? owner : least;
        load[least] += order[i].seconds;
    }
    free(order);
}

/* ---- what a rank does ---- */

struct layers_kfac {
    struct layers_kfac_parameters parameters;
    struct kfac_layer *layers;      /* [layer] */
    uint32_t *synced;               /* [bucket]: costs of their factors' all-reduces; NONE: none */
    uint32_t gathered;              /* cost; NONE: every rank inverts all factors, or there is only one */
    struct layers_kfac_rank *ranks; /* [worker] */
    uint32_t worker_count;
};

struct layers_kfac_rank {
    uint32_t *factors;              /* [layer]: costs; NONE: none */
    uint32_t inverse, precondition; /* costs */
    uint32_t *syncs;                /* [bucket]: newest all-reduce; NONE: none */
};

static const struct layers_kfac_parameters *parameters_of(const struct layers_steps *s)
{
    return &s->kfac->parameters;
}

/* Factors and inverses are kept in the precision of gradients. */
static double number_bytes(const struct layers_job *j)
{
    return j->state.gradient;
}

static double sum_packed(const struct layers_steps *s, const struct layers_kfac *kfac, uint32_t first, uint32_t end)
{
    double sum = 0;
    for (uint32_t layer = first; layer < end; layer++)
        sum += kfac->layers[layer].inner > 0 ? kfac_packed(&kfac->layers[layer]) : 0;
    return sum * number_bytes(s->j);
}

double layers_kfac_memory(const struct layers_job *j)
{
    enum { KEPT = 2 }; /* a running mean of the factors, and their inverses */
    double sum = 0;
    for (uint32_t layer = 0; layer < j->count && j->parameters->optimizer == LAYERS_KFAC; layer++) {
        struct kfac_layer factors = kfac_layer_of(j, layer);
        sum += kfac_numbers(&factors);
    }
    return KEPT * sum * number_bytes(j);
}

/* Reads activations, or gradients of outputs, writes the factor. */
static double factor_seconds(const struct layers_job *j, const struct efficiency_device *device,
                             const struct kfac_layer *layer)
{
    double read = j->samples * layer->positions * (layer->inner + layer->outer) * j->element_bytes;
    return layers_work_seconds(device, kfac_factor_flops(layer, j->samples),
                               read + kfac_numbers(layer) * number_bytes(j));
}

/* Reads the factor, writes the inverse. */
static double inverse_seconds(const struct layers_steps *s, const struct efficiency_device *device,
                              const struct kfac_layer *layer)
{
    return layers_work_seconds(device, kfac_inverse_flops(layer, parameters_of(s)->work),
                               2 * kfac_numbers(layer) * number_bytes(s->j));
}

/* Reads inverses and gradient twice, writes as much as it. */
static double precondition_seconds(const struct layers_job *j, const struct efficiency_device *device,
                                   const struct kfac_layer *layer)
{
    double moved = kfac_numbers(layer) + 4 * layer->inner * layer->outer;
    return layers_work_seconds(device, kfac_precondition_flops(layer), moved * number_bytes(j));
}

/* Each rank's own inverses: all of them, or those of the layers that are given to it. Where one worker stands for all
 * replicas its cost varies along the data axis. */
static uint32_t inverse_cost(const struct layers_steps *s, const struct layers_kfac *kfac, uint32_t worker,
                             const struct efficiency_device *device)
{
    uint32_t count = s->j->count, owners = s->j->data;
    double *seconds = array_zeroed(count, sizeof *seconds), *load = array_zeroed(owners, sizeof *load), all = 0;
    uint32_t cost;
    for (uint32_t layer = 0; layer < count; layer++)
        all += seconds[layer] = kfac->layers[layer].inner > 0 ? inverse_seconds(s, device, &kfac->layers[layer]) : 0;
    kfac_distribute(seconds, count, owners, load);
    if (!parameters_of(s)->distributed || owners == 1)
        cost = layers_cost_entry(s, (struct stagesim_cost){.seconds = all});
    else if (s->worker_count > 1)
        cost = layers_cost_entry(s, (struct stagesim_cost){.seconds = load[worker]});
    else
        cost = s->j->api->varying_cost(s->j->job, &(struct stagesim_cost){.seconds = 1}, "data", load);
    free(seconds);
    free(load);
    return cost;
}

void layers_kfac_add_rank(struct layers_kfac *kfac, const struct layers_steps *s, uint32_t worker,
                          const struct efficiency_device *device)
{
    struct layers_kfac_rank *rank = &kfac->ranks[worker];
    const struct layers_job *j = s->j;
    double precondition = 0;
    rank->factors = array_zeroed(j->count, sizeof *rank->factors);
    rank->syncs = array_zeroed(s->bucket_count + (size_t)1, sizeof *rank->syncs);
    for (uint32_t layer = 0; layer < j->count; layer++) {
        const struct kfac_layer *factors = &kfac->layers[layer];
        rank->factors[layer] = NONE;
        if (factors->inner <= 0)
            continue;
        struct stagesim_cost cost = {.seconds = factor_seconds(j, device, factors),
                                     .flops = kfac_factor_flops(factors, j->samples)};
        rank->factors[layer] = layers_cost_entry(s, cost);
        precondition += precondition_seconds(j, device, factors);
    }
    rank->precondition = layers_cost_entry(s, (struct stagesim_cost){.seconds = precondition});
    rank->inverse = inverse_cost(s, kfac, worker, device);
}

struct layers_kfac *layers_kfac_create(const struct layers_steps *s)
{
    const struct layers_job *j = s->j;
    if (j->parameters->optimizer != LAYERS_KFAC)
        return NULL;
    struct layers_kfac *kfac = array_zeroed(1, sizeof *kfac);
    *kfac = (struct layers_kfac){.parameters = layers_kfac_parameters_of(j->parameters),
                                 .layers = array_zeroed(j->count, sizeof *kfac->layers),
                                 .synced = array_zeroed(s->bucket_count + (size_t)1, sizeof *kfac->synced),
                                 .ranks = array_zeroed(s->worker_count, sizeof *kfac->ranks),
                                 .worker_count = s->worker_count};
    for (uint32_t layer = 0; layer < j->count; layer++)
        kfac->layers[layer] = kfac_layer_of(j, layer);
    for (uint32_t i = 0; i < s->bucket_count; i++) {
        double bytes = sum_packed(s, kfac, s->buckets[i].first, s->buckets[i].end);
        kfac->synced[i] =
            bytes > 0 && s->sync_group != NONE ? layers_cost_entry(s, (struct stagesim_cost){.bytes = bytes}) : NONE;
    }
    bool gathers = kfac->parameters.distributed && s->sync_group != NONE;
    kfac->gathered =
        gathers ? layers_cost_entry(s, (struct stagesim_cost){.bytes = sum_packed(s, kfac, 0, j->count)}) : NONE;
    return kfac;
}

void layers_kfac_destroy(struct layers_kfac *kfac)
{
    if (!kfac)
        return;
    for (uint32_t i = 0; i < kfac->worker_count; i++) {
        free(kfac->ranks[i].factors);
        free(kfac->ranks[i].syncs);
    }
    free(kfac->layers);
    free(kfac->synced);
    free(kfac->ranks);
    free(kfac);
}

/* ---- iterations ---- */

static bool renews(const struct layers_steps *s, uint64_t every)
{
    return s->iteration % every == 0;
}

static void synchronise(const struct layers_kfac *kfac, struct layers_steps *s, struct layers_worker *worker,
                        uint32_t bucket)
{
    const struct stagesim_api *api = s->j->api;
    if (kfac->synced[bucket] == NONE)
        return;
    uint32_t id = api->collective(s->j->job, worker->position, s->sync_group, STAGESIM_ALL_REDUCE,
                                  layers_identity(s, STAGESIM_GRADIENT_SYNC), kfac->synced[bucket]);
    api->wait(s->j->job, worker->position, id, worker->last);
    kfac->ranks[worker->position].syncs[bucket] = id;
}

void layers_kfac_add_factors(const struct layers_kfac *kfac, struct layers_steps *s, struct layers_worker *worker,
                             uint32_t micro_batch, uint32_t layer)
{
    uint32_t cost = kfac->ranks[worker->position].factors[layer];
    bool last = micro_batch + 1 == s->j->api->micro_batches(s->j->job);
    if (!renews(s, parameters_of(s)->factors_every))
        return;
    if (cost != NONE) {
        struct stagesim_identity identity = layers_identity(s, STAGESIM_OTHER);
        identity.micro_batch = micro_batch;
        identity.layer = layer;
        layers_add_compute(s, worker, identity, cost);
    }
    for (uint32_t i = 0; i < s->bucket_count && last && s->j->parameters->overlap; i++)
        if (s->buckets[i].first == layer)
            synchronise(kfac, s, worker, i);
}

void layers_kfac_add_step(const struct layers_kfac *kfac, struct layers_steps *s, struct layers_worker *worker,
                          const uint32_t *gradients)
{
    const struct stagesim_api *api = s->j->api;
    const struct layers_kfac_rank *rank = &kfac->ranks[worker->position];
    struct stagesim_identity identity = layers_identity(s, STAGESIM_OTHER);
    bool fresh = renews(s, parameters_of(s)->factors_every);
    for (uint32_t i = 0; i < s->bucket_count && fresh && !s->j->parameters->overlap; i++)
        synchronise(kfac, s, worker, i);
    if (renews(s, parameters_of(s)->inverse_every)) {
        uint32_t inverse = layers_add_compute(s, worker, identity, rank->inverse);
        for (uint32_t i = 0; i < s->bucket_count; i++)
            if (kfac->synced[i] != NONE)
                api->wait(s->j->job, worker->position, inverse, rank->syncs[i]);
        if (kfac->gathered != NONE) {
            uint32_t id = api->collective(s->j->job, worker->position, s->sync_group, STAGESIM_ALL_GATHER,
                                          layers_identity(s, STAGESIM_PARAMETER_GATHER), kfac->gathered);
            api->wait(s->j->job, worker->position, id, inverse);
            worker->exchange = id;
        }
    }
    uint32_t step = layers_add_compute(s, worker, identity, rank->precondition);
    for (uint32_t i = 0; i < s->bucket_count; i++)
        if (gradients[i] != NONE)
            api->wait(s->j->job, worker->position, step, gradients[i]);
}
