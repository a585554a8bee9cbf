/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of an iteration. Each rank looks up its part of the tables for the samples of all ranks and sends the
 * sums to the ranks of the samples, while these run the bottom layers on their own samples. The interaction waits for
 * both. In the backward the sums' gradients travel back while the bottom layers' gradients are computed. */
#include "base/arena.h"
#include "workloads/dlrm/exchanges.h"

#include <stdlib.h>

static const uint32_t NONE = STAGESIM_NONE;
static const double index_bytes = 8;

struct iteration {
    struct dlrm_job *j;
    uint32_t number;
    struct dlrm_traffic traffic;
    uint32_t dense_group;         /* NONE with one rank */
    uint32_t *forward, *backward; /* [layer]: costs */
    uint32_t *sync;               /* [layer]: cost of the all-reduce behind the layer's backward; NONE: none */
    uint32_t *lookup, *update;    /* [rank]: costs; NONE: the rank has no tables */
    uint32_t *add;                /* [rank]: cost of adding sums of its node; NONE: it adds none */
    uint32_t *prefetched;         /* [rank * DLRM_EXCHANGES_MAX]: exchanges of the indices of the next iteration */
    uint32_t *prefetched_count;   /* [rank] */
    uint32_t *move;               /* [rank]: cost of rows from and to host memory; NONE: no table is there */
    uint32_t *stored;             /* [rank]: the newest way to host memory; NONE: none yet */
    uint32_t *last;               /* [rank]: the last computation; NONE: none yet */
    uint32_t optimizer;           /* cost */
};

static uint32_t cost_entry(const struct iteration *it, struct stagesim_cost cost)
{
    return it->j->api->cost(it->j->job, &cost);
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
        .buffers = j->batch * (2 * cost->sums * j->exchange_bytes + cost->indices * index_bytes) + cost->moved};
    j->api->static_memory(j->job, rank, &memory);
}

static void add_rank_costs(struct iteration *it, const struct dlrm_rank *costs)
{
    const struct dlrm_job *j = it->j;
    it->lookup = array_zeroed(j->ranks, sizeof *it->lookup);
    it->update = array_zeroed(j->ranks, sizeof *it->update);
    it->prefetched = array_zeroed((size_t)j->ranks * DLRM_EXCHANGES_MAX, sizeof *it->prefetched);
    it->prefetched_count = array_zeroed(j->ranks, sizeof *it->prefetched_count);
    it->last = array_zeroed(j->ranks, sizeof *it->last);
    it->add = array_zeroed(j->ranks, sizeof *it->add);
    it->move = array_zeroed(j->ranks, sizeof *it->move);
    it->stored = array_zeroed(j->ranks, sizeof *it->stored);
    for (uint32_t i = 0; i < j->ranks; i++) {
        bool any = costs[i].lookups > 0;
        it->move[i] = costs[i].moved > 0 ? cost_entry(it, (struct stagesim_cost){.bytes = costs[i].moved}) : NONE;
        it->stored[i] = NONE;
        double add = it->traffic.add ? it->traffic.add[i] : 0;
        it->add[i] = add > 0 ? cost_entry(it, (struct stagesim_cost){.seconds = add}) : NONE;
        it->lookup[i] = any ? cost_entry(it, (struct stagesim_cost){.seconds = costs[i].lookup}) : NONE;
        it->update[i] = any ? cost_entry(it, (struct stagesim_cost){.seconds = costs[i].update}) : NONE;
        it->last[i] = NONE;
        set_memory(it, i, &costs[i]);
    }
}

/* Gradients are all-reduced when as many as a bucket are complete, the rest behind the first layer; without overlap all
 * of them there. */
static void add_buckets(struct iteration *it)
{
    const struct dlrm_job *j = it->j;
    double bytes = 0;
    it->sync = array_zeroed(j->layer_count, sizeof *it->sync);
    it->dense_group = NONE;
    if (j->ranks > 1) {
        uint32_t *positions = array_zeroed(j->ranks, sizeof *positions);
        for (uint32_t i = 0; i < j->ranks; i++)
            positions[i] = i;
        it->dense_group = j->api->group(j->job, "", positions, j->ranks);
        free(positions);
    }
    for (uint32_t layer = j->layer_count; layer-- > 0;) {
        bytes += j->layers[layer].parameters * j->element_bytes;
        bool full = layer == 0 || (j->parameters->overlap && bytes >= j->parameters->bucket);
        it->sync[layer] = NONE;
        if (!full || bytes <= 0 || j->ranks == 1)
            continue;
        it->sync[layer] = cost_entry(it, (struct stagesim_cost){.bytes = bytes});
        bytes = 0;
    }
}

/* ---- operations ---- */

static struct stagesim_identity identity(const struct iteration *it, enum stagesim_kind kind, uint32_t layer)
{
    bool pass = kind == STAGESIM_FORWARD || kind == STAGESIM_BACKWARD;
    return (struct stagesim_identity){.kind = kind,
                                      .stage = pass ? 0 : NONE,
                                      .micro_batch = pass ? 0 : NONE,
                                      .layer = layer,
                                      .iteration = it->number};
}

static void wait_for(const struct iteration *it, uint32_t rank, uint32_t operation, const uint32_t *awaited,
                     uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        it->j->api->wait(it->j->job, rank, operation, awaited[i]);
}

/* Layers are numbered from 1, tables are layer 0. */
static uint32_t add_compute(const struct iteration *it, uint32_t rank, enum stagesim_kind kind, uint32_t layer,
                            uint32_t cost)
{
    return it->last[rank] = it->j->api->compute(it->j->job, rank, identity(it, kind, layer), cost);
}

static uint32_t exchange(const struct iteration *it, const struct dlrm_exchanges *exchanges, uint32_t rank,
                         uint32_t *ids)
{
    return dlrm_exchanges_add(exchanges, it->j, rank, identity(it, STAGESIM_EXCHANGE, 0), it->last[rank], ids);
}

/* Rows of a batch come from host memory when the indices are known and the rows of the batch before are back there.
 * Returns the operation that ends with them. */
static uint32_t add_load(const struct iteration *it, uint32_t rank, const uint32_t *arrived, uint32_t count)
{
    uint32_t send = NONE, receive = NONE;
    it->j->api->message(it->j->job, rank, rank, identity(it, STAGESIM_LOAD, 0), it->move[rank], &send, &receive);
    wait_for(it, rank, send, arrived, count);
    wait_for(it, rank, send, &it->stored[rank], it->stored[rank] != NONE);
    return receive;
}

static void add_store(const struct iteration *it, uint32_t rank)
{
    uint32_t *send = &it->stored[rank];
    it->j->api->message(it->j->job, rank, rank, identity(it, STAGESIM_OFFLOAD, 0), it->move[rank], send, NULL);
    wait_for(it, rank, *send, &it->last[rank], 1);
}

/* The indices of this iteration have arrived: they were asked for in the one before, or are now. Those of the next one
 * take their place when they have been read. */
static void add_lookup(const struct iteration *it, uint32_t rank)
{
    const struct dlrm_exchanges *indices = &it->traffic.indices;
    uint32_t *arrived = &it->prefetched[(size_t)rank * DLRM_EXCHANGES_MAX], *count = &it->prefetched_count[rank];
    bool ahead = it->j->parameters->prefetch;
    if (!ahead)
        *count = exchange(it, indices, rank, arrived);
    if (it->lookup[rank] != NONE) {
        uint32_t loaded = it->move[rank] != NONE ? add_load(it, rank, arrived, *count) : NONE;
        uint32_t id = add_compute(it, rank, STAGESIM_FORWARD, 0, it->lookup[rank]);
        wait_for(it, rank, id, arrived, *count);
        wait_for(it, rank, id, &loaded, loaded != NONE);
    }
    if (ahead)
        *count = exchange(it, indices, rank, arrived);
}

/* Sums of the ranks of a node meet, and are added by a kernel: what is computed after it waits for them, too. */
static void add_node_sums(const struct iteration *it, uint32_t rank)
{
    uint32_t arrived[DLRM_EXCHANGES_MAX];
    uint32_t count = exchange(it, &it->traffic.node, rank, arrived);
    if (it->add[rank] != NONE)
        wait_for(it, rank, add_compute(it, rank, STAGESIM_FORWARD, 0, it->add[rank]), arrived, count);
}

static void add_forward(const struct iteration *it, uint32_t rank)
{
    const struct dlrm_job *j = it->j;
    uint32_t arrived[DLRM_EXCHANGES_MAX];
    add_lookup(it, rank);
    add_node_sums(it, rank);
    uint32_t count = exchange(it, &it->traffic.sums, rank, arrived);
    for (uint32_t layer = 0; layer < j->layer_count; layer++) {
        uint32_t id = add_compute(it, rank, STAGESIM_FORWARD, layer + 1, it->forward[layer]);
        if (layer == (j->parameters->overlap ? j->bottom_count : 0))
            wait_for(it, rank, id, arrived, count);
    }
}

/* Returns how many all-reduces of dense gradients there are, whose operations it writes into `syncs`. */
static uint32_t add_backward(const struct iteration *it, uint32_t rank, uint32_t *syncs)
{
    const struct dlrm_job *j = it->j;
    uint32_t arrived[DLRM_EXCHANGES_MAX], count = 0, sync_count = 0;
    for (uint32_t layer = j->layer_count; layer-- > 0;) {
        uint32_t id = add_compute(it, rank, STAGESIM_BACKWARD, layer + 1, it->backward[layer]);
        if (layer + 1 == j->bottom_count && !j->parameters->overlap)
            wait_for(it, rank, id, arrived, count);
        if (layer == j->bottom_count)
            count = exchange(it, &it->traffic.gradients, rank, arrived);
        if (it->sync[layer] == NONE)
            continue;
        uint32_t sum = j->api->collective(j->job, rank, it->dense_group, STAGESIM_ALL_REDUCE,
                                          identity(it, STAGESIM_GRADIENT_SYNC, NONE), it->sync[layer]);
        wait_for(it, rank, sum, &id, 1);
        syncs[sync_count++] = sum;
    }
    if (it->update[rank] != NONE)
        wait_for(it, rank, add_compute(it, rank, STAGESIM_OPTIMIZER, 0, it->update[rank]), arrived, count);
    if (it->move[rank] != NONE)
        add_store(it, rank);
    return sync_count;
}

static void add_rank(const struct iteration *it, uint32_t rank, uint32_t *syncs)
{
    add_forward(it, rank);
    uint32_t count = add_backward(it, rank, syncs);
    wait_for(it, rank, add_compute(it, rank, STAGESIM_OPTIMIZER, NONE, it->optimizer), syncs, count);
}

static void finish(struct iteration *it)
{
    void *arrays[] = {it->forward,    it->backward,         it->sync, it->lookup, it->update, it->add,
                      it->prefetched, it->prefetched_count, it->last, it->move,   it->stored};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    dlrm_traffic_finish(&it->traffic);
}

bool dlrm_build(struct dlrm_job *j)
{
    struct iteration it = {.j = j};
    struct dlrm_rank *costs = array_zeroed(j->ranks, sizeof *costs);
    uint32_t *syncs = array_zeroed(j->layer_count, sizeof *syncs);
    for (uint32_t i = 0; i < j->ranks; i++)
        costs[i] = dlrm_sparse_cost(j, i);
    add_layer_costs(&it);
    add_buckets(&it);
    dlrm_traffic_init(&it.traffic, j, costs);
    add_rank_costs(&it, costs);
    for (it.number = 0; it.number < j->api->iterations(j->job); it.number++)
        for (uint32_t i = 0; i < j->ranks; i++)
            add_rank(&it, i, syncs);
    finish(&it);
    free(syncs);
    free(costs);
    return true;
}
