/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of an iteration. Each rank looks up its part of the tables for the samples of all ranks and sends the
 * sums to the ranks of the samples, while these run the bottom layers on their own samples. The interaction waits for
 * both. In the backward the sums' gradients travel back while the bottom layers' gradients are computed. */
#include "base/arena.h"
#include "workloads/dlrm/dlrm.h"

#include <math.h>
#include <stdlib.h>

static const uint32_t NONE = STAGESIM_NONE;
static const double index_bytes = 8;

/* A collective for tables. */
struct exchange {
    enum stagesim_collective collective;
    uint32_t cost;
};

struct iteration {
    struct dlrm_job *j;
    uint32_t number;
    uint32_t sums_group, index_group, dense_group; /* NONE with one rank */
    uint32_t *forward, *backward;                  /* [layer]: costs */
    uint32_t *lookup, *update;                     /* [rank]: costs; NONE: the rank has no tables */
    uint32_t *prefetched;          /* [rank]: the exchange of the indices of the next iteration; NONE: none yet */
    uint32_t *last;                /* [rank]: the last computation */
    uint32_t optimizer, indices;   /* costs */
    struct exchange *there, *back; /* of sums and of their gradients */
    uint32_t there_count, back_count;
};

static uint32_t cost_entry(const struct iteration *it, struct stagesim_cost cost)
{
    return it->j->api->cost(it->j->job, &cost);
}

/* ---- exchanges ---- */

static void add_exchange(struct exchange *exchanges, uint32_t *count, enum stagesim_collective collective,
                         uint32_t cost)
{
    if (cost != NONE)
        exchanges[(*count)++] = (struct exchange){collective, cost};
}

/* A collective of so many bytes; NONE without any. */
static uint32_t bytes_cost(const struct iteration *it, double bytes)
{
    return bytes > 0 ? cost_entry(it, (struct stagesim_cost){.bytes = bytes}) : NONE;
}

enum direction { SUMS, GRADIENTS, INDICES };

/* An all-to-all of what belongs to ranks' tables: each rank sends the same to all, or receives the same from all. NONE
 * where there is nothing. */
static uint32_t pairs_cost(const struct iteration *it, const struct dlrm_rank *costs, enum direction direction)
{
    const struct dlrm_job *j = it->j;
    double number = direction == INDICES ? index_bytes : j->exchange_bytes, most = 0, least = INFINITY;
    double *bytes = array_zeroed((size_t)j->ranks * j->ranks, sizeof *bytes);
    for (uint32_t i = 0; i < j->ranks; i++) {
        double each = j->samples * number * (direction == INDICES ? costs[i].indices : costs[i].sums);
        most = fmax(most, each);
        least = fmin(least, each);
        for (uint32_t other = 0; other < j->ranks; other++)
            bytes[direction == SUMS ? (size_t)i * j->ranks + other : (size_t)other * j->ranks + i] = each;
    }
    uint32_t cost = NONE;
    const struct stagesim_cost none = {0};
    if (most == least || it->sums_group == NONE)
        cost = bytes_cost(it, most * j->ranks);
    else
        cost = j->api->pairs_cost(j->job, &none, direction == INDICES ? it->index_group : it->sums_group, bytes);
    free(bytes);
    return cost;
}

static void add_exchanges(struct iteration *it, const struct dlrm_rank *costs)
{
    struct dlrm_job *j = it->j;
    double reduced = dlrm_sparse_reduced(j) * j->batch * j->exchange_bytes;
    it->there = array_zeroed(2, sizeof *it->there);
    it->back = array_zeroed(3, sizeof *it->back);
    add_exchange(it->there, &it->there_count, STAGESIM_ALL_TO_ALL, pairs_cost(it, costs, SUMS));
    add_exchange(it->there, &it->there_count, STAGESIM_REDUCE_SCATTER, bytes_cost(it, reduced));
    add_exchange(it->back, &it->back_count, STAGESIM_ALL_TO_ALL, pairs_cost(it, costs, GRADIENTS));
    add_exchange(it->back, &it->back_count, STAGESIM_ALL_REDUCE,
                 bytes_cost(it, dlrm_sparse_replicas(j, STAGESIM_ALL_REDUCE)));
    double gathered = reduced + dlrm_sparse_replicas(j, STAGESIM_ALL_GATHER);
    add_exchange(it->back, &it->back_count, STAGESIM_ALL_GATHER, bytes_cost(it, gathered));
    it->indices = pairs_cost(it, costs, INDICES);
}

static void add_groups(struct iteration *it)
{
    const struct dlrm_job *j = it->j;
    uint32_t *positions = array_zeroed(j->ranks, sizeof *positions);
    it->sums_group = it->index_group = it->dense_group = NONE;
    for (uint32_t i = 0; i < j->ranks; i++)
        positions[i] = i;
    if (j->ranks > 1) {
        it->sums_group = j->api->group(j->job, "", positions, j->ranks);
        it->index_group = j->api->group(j->job, "", positions, j->ranks);
        it->dense_group = j->api->group(j->job, "", positions, j->ranks);
    }
    free(positions);
}

/* ---- costs ---- */

static void add_layer_costs(struct iteration *it)
{
    const struct dlrm_job *j = it->j;
    it->forward = array_zeroed(j->layer_count, sizeof *it->forward);
    it->backward = array_zeroed(j->layer_count, sizeof *it->backward);
    for (uint32_t i = 0; i < j->layer_count; i++) {
        const struct dlrm_layer *layer = &j->layers[i];
        it->forward[i] =
            cost_entry(it, (struct stagesim_cost){
                               .seconds = layer->forward, .flops = layer->forward_flops, .memory = layer->activation});
        it->backward[i] = cost_entry(it, (struct stagesim_cost){.seconds = layer->backward,
                                                                .flops = layer->backward_flops,
                                                                .memory = -layer->activation});
    }
    double step = dlrm_dense_update(j, dlrm_dense_parameters(j));
    it->optimizer = cost_entry(it, (struct stagesim_cost){.seconds = step});
}

/* Weights and state in fp32; in 16 bits a copy beside. Sums of rows lie where they are sent from, and their gradients
 * where they arrive. */
static void set_memory(const struct iteration *it, uint32_t rank, const struct dlrm_rank *cost)
{
    static const double states[] = {[DLRM_SGD] = 0, [DLRM_ADAGRAD] = 4, [DLRM_ROWWISE_ADAGRAD] = 4, [DLRM_ADAM] = 8};
    const struct dlrm_job *j = it->j;
    double dense = dlrm_dense_parameters(j), copy = j->element_bytes < 4 ? j->element_bytes : 0;
    struct stagesim_static_memory memory = {
        .parameters = 4 * cost->parameters + (4 + copy) * dense,
        .gradients = j->element_bytes * dense,
        .optimizer = 4 * cost->state + states[j->parameters->optimizer] * dense,
        .buffers = j->batch * (2 * cost->sums * j->exchange_bytes + cost->indices * index_bytes)};
    j->api->static_memory(j->job, rank, &memory);
}

static void add_rank_costs(struct iteration *it, const struct dlrm_rank *costs)
{
    const struct dlrm_job *j = it->j;
    it->lookup = array_zeroed(j->ranks, sizeof *it->lookup);
    it->update = array_zeroed(j->ranks, sizeof *it->update);
    it->prefetched = array_zeroed(j->ranks, sizeof *it->prefetched);
    it->last = array_zeroed(j->ranks, sizeof *it->last);
    for (uint32_t i = 0; i < j->ranks; i++) {
        bool any = costs[i].lookups > 0;
        it->lookup[i] = any ? cost_entry(it, (struct stagesim_cost){.seconds = costs[i].lookup}) : NONE;
        it->update[i] = any ? cost_entry(it, (struct stagesim_cost){.seconds = costs[i].update}) : NONE;
        it->prefetched[i] = it->last[i] = NONE;
        set_memory(it, i, &costs[i]);
    }
}

/* ---- operations ---- */

static struct stagesim_identity identity(const struct iteration *it, enum stagesim_kind kind, uint32_t layer)
{
    return (struct stagesim_identity){.kind = kind,
                                      .stage = kind == STAGESIM_FORWARD || kind == STAGESIM_BACKWARD ? 0 : NONE,
                                      .micro_batch = kind == STAGESIM_FORWARD || kind == STAGESIM_BACKWARD ? 0 : NONE,
                                      .layer = layer,
                                      .iteration = it->number};
}

static void wait_for(const struct iteration *it, uint32_t rank, uint32_t operation, uint32_t awaited)
{
    if (operation != NONE && awaited != NONE)
        it->j->api->wait(it->j->job, rank, operation, awaited);
}

/* Layers are numbered from 1 in the timeline, tables are layer 0. */
static uint32_t add_compute(const struct iteration *it, uint32_t rank, enum stagesim_kind kind, uint32_t layer,
                            uint32_t cost)
{
    if (cost == NONE)
        return it->last[rank];
    return it->last[rank] = it->j->api->compute(it->j->job, rank, identity(it, kind, layer), cost);
}

static uint32_t add_collective(const struct iteration *it, uint32_t rank, uint32_t group, enum stagesim_kind kind,
                               const struct exchange *exchange, uint32_t after)
{
    uint32_t id = it->j->api->collective(it->j->job, rank, group, exchange->collective,
                                         identity(it, kind, kind == STAGESIM_EXCHANGE ? 0 : NONE), exchange->cost);
    wait_for(it, rank, id, after);
    return id;
}

/* The indices of this iteration have arrived: they were asked for in the one before, or are now. */
static void add_lookup(const struct iteration *it, uint32_t rank)
{
    const struct exchange indices = {STAGESIM_ALL_TO_ALL, it->indices};
    bool exchanged = it->index_group != NONE && it->indices != NONE, ahead = it->j->parameters->prefetch;
    uint32_t awaited = ahead ? it->prefetched[rank] : NONE;
    if (exchanged && !ahead)
        awaited = add_collective(it, rank, it->index_group, STAGESIM_EXCHANGE, &indices, it->last[rank]);
    uint32_t id = add_compute(it, rank, STAGESIM_FORWARD, 0, it->lookup[rank]);
    if (it->lookup[rank] != NONE)
        wait_for(it, rank, id, awaited);
    if (exchanged && ahead)
        it->prefetched[rank] = add_collective(it, rank, it->index_group, STAGESIM_EXCHANGE, &indices, id);
}

static void add_forward(const struct iteration *it, uint32_t rank)
{
    const struct dlrm_job *j = it->j;
    uint32_t arrived[2];
    add_lookup(it, rank);
    uint32_t looked_up = it->last[rank];
    for (uint32_t i = 0; i < it->there_count && it->sums_group != NONE; i++)
        arrived[i] = add_collective(it, rank, it->sums_group, STAGESIM_EXCHANGE, &it->there[i], looked_up);
    for (uint32_t layer = 0; layer < j->layer_count; layer++) {
        uint32_t id = add_compute(it, rank, STAGESIM_FORWARD, layer + 1, it->forward[layer]);
        bool waits = layer == (j->parameters->overlap ? j->bottom_count : 0);
        for (uint32_t i = 0; i < it->there_count && it->sums_group != NONE && waits; i++)
            wait_for(it, rank, id, arrived[i]);
    }
}

/* Gradients of dense layers on their way, and what waits for them. */
struct syncs {
    uint32_t *ids, count;
    double parameters; /* in the bucket */
};

static void synchronise(const struct iteration *it, uint32_t rank, struct syncs *syncs)
{
    const struct dlrm_job *j = it->j;
    if (syncs->parameters > 0 && it->dense_group != NONE) {
        double bytes = syncs->parameters * j->element_bytes;
        const struct exchange sum = {STAGESIM_ALL_REDUCE, cost_entry(it, (struct stagesim_cost){.bytes = bytes})};
        syncs->ids[syncs->count++] =
            add_collective(it, rank, it->dense_group, STAGESIM_GRADIENT_SYNC, &sum, it->last[rank]);
    }
    syncs->parameters = 0;
}

static void add_backward(const struct iteration *it, uint32_t rank, struct syncs *syncs)
{
    const struct dlrm_job *j = it->j;
    bool overlap = j->parameters->overlap;
    uint32_t *arrived = array_zeroed(it->back_count + (size_t)1, sizeof *arrived);
    for (uint32_t layer = j->layer_count; layer-- > 0;) {
        uint32_t id = add_compute(it, rank, STAGESIM_BACKWARD, layer + 1, it->backward[layer]);
        for (uint32_t i = 0; i < it->back_count && it->sums_group != NONE && layer + 1 == j->bottom_count && !overlap;
             i++)
            wait_for(it, rank, id, arrived[i]);
        for (uint32_t i = 0; i < it->back_count && it->sums_group != NONE && layer == j->bottom_count; i++)
            arrived[i] = add_collective(it, rank, it->sums_group, STAGESIM_EXCHANGE, &it->back[i], id);
        syncs->parameters += j->layers[layer].parameters;
        if (overlap && syncs->parameters * j->element_bytes >= j->parameters->bucket)
            synchronise(it, rank, syncs);
    }
    synchronise(it, rank, syncs);
    uint32_t update = add_compute(it, rank, STAGESIM_OPTIMIZER, 0, it->update[rank]);
    for (uint32_t i = 0; i < it->back_count && it->sums_group != NONE && it->update[rank] != NONE; i++)
        wait_for(it, rank, update, arrived[i]);
    free(arrived);
}

static void add_rank(const struct iteration *it, uint32_t rank)
{
    struct syncs syncs = {.ids = array_zeroed(it->j->layer_count + (size_t)1, sizeof *syncs.ids)};
    add_forward(it, rank);
    add_backward(it, rank, &syncs);
    uint32_t step = add_compute(it, rank, STAGESIM_OPTIMIZER, NONE, it->optimizer);
    for (uint32_t i = 0; i < syncs.count; i++)
        wait_for(it, rank, step, syncs.ids[i]);
    free(syncs.ids);
}

static void finish(struct iteration *it)
{
    void *arrays[] = {it->forward, it->backward, it->lookup, it->update, it->prefetched, it->last, it->there, it->back};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
}

bool dlrm_build(struct dlrm_job *j)
{
    struct iteration it = {.j = j};
    struct dlrm_rank *costs = array_zeroed(j->ranks, sizeof *costs);
    for (uint32_t i = 0; i < j->ranks; i++)
        costs[i] = dlrm_sparse_cost(j, i);
    add_groups(&it);
    add_layer_costs(&it);
    add_rank_costs(&it, costs);
    add_exchanges(&it, costs);
    for (it.number = 0; it.number < j->api->iterations(j->job); it.number++)
        for (uint32_t i = 0; i < j->ranks; i++)
            add_rank(&it, i);
    finish(&it);
    free(costs);
    return true;
}
