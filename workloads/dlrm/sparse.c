/* SPDX-License-Identifier: Apache-2.0 */
/* What embedding tables cost a rank: lookups, updates of the rows that were read, and what ranks exchange for them. */
#include "base/rounded/rounded.h"
#include "workloads/dlrm/dlrm.h"

#include <math.h>

static const double number_bytes = 4, index_bytes = 8; /* tables are in fp32; indices have 64 bits */

double dlrm_sparse_state(const struct dlrm_job *j, const struct dlrm_table *table)
{
    static const double numbers[] = {[DLRM_SGD] = 0, [DLRM_ADAGRAD] = 1, [DLRM_ADAM] = 2};
    if (j->parameters->optimizer == DLRM_ROWWISE_ADAGRAD)
        return 1 / (double)table->width;
    return numbers[j->parameters->optimizer];
}

double dlrm_sparse_seconds(const struct dlrm_job *j, double bytes)
{
    struct transformer_operator work = {.name = "lookup", .bytes = bytes};
    if (bytes <= 0)
        return 0;
    if (j->curve.straight <= 0)
        return efficiency_operator_time(&j->device, &work);
    return memory_curve_seconds(&j->curve, bytes) + (j->parameters->launch > 0 ? j->parameters->launch : 0);
}

bool dlrm_sparse_adds(const struct dlrm_job *j)
{
    return j->parameters->node_sums == DLRM_NODE_ADDED && j->parameters->node > 1 && j->parameters->node < j->ranks;
}

static bool reduces(const struct dlrm_job *j, uint32_t table)
{
    const struct dlrm_place *place = &j->placement.places[table];
    return place->split == DLRM_ROWS && place->count == j->ranks && j->ranks > 1 &&
           j->parameters->partial == DLRM_PARTIAL_ALL && !dlrm_sparse_adds(j);
}

double dlrm_sparse_reduced(const struct dlrm_job *j)
{
    double numbers = 0;
    for (uint32_t i = 0; i < j->table_count; i++)
        numbers += reduces(j, i) ? (double)j->tables[i].width : 0;
    return numbers;
}

/* The bytes of all tables of a rank, and of them those that narrow rows make slower, by how much. */
struct traffic {
    double memory, slow_memory, cache, update, slow_update;
    double sums; /* numbers of all sums that it computes */
};

/* The share of samples that have a row in this part of the table, where only those are looked at. */
static double present_share(const struct dlrm_job *j, uint32_t index, const struct dlrm_share *share)
{
    const struct dlrm_table *table = &j->tables[index];
    if (j->placement.places[index].split != DLRM_ROWS || j->parameters->partial == DLRM_PARTIAL_ALL)
        return 1;
    return 1 - rounded_pow(1 - share->pooling / table->pooling, table->pooling);
}

double dlrm_sparse_added(const struct dlrm_job *j, uint32_t first, uint32_t count)
{
    double numbers = 0;
    for (uint32_t i = 0; i < j->table_count; i++) {
        struct dlrm_share all = {.any = false};
        for (uint32_t rank = first; rank < first + count; rank++) {
            struct dlrm_share share = dlrm_placement_share(&j->placement, &j->tables[i], i, rank);
            if (!share.any)
                continue;
            bool rows = all.any && j->placement.places[i].split == DLRM_ROWS;
            all = (struct dlrm_share){.any = true,
                                      .pooling = fmin(j->tables[i].pooling, all.pooling + share.pooling),
                                      .sums = rows ? share.sums : all.sums + share.sums};
        }
        numbers += all.any ? all.sums * present_share(j, i, &all) : 0;
    }
    return numbers;
}

double dlrm_sparse_add_seconds(const struct dlrm_job *j, double parts, double sums)
{
    struct transformer_operator add = {.name = "add", .bytes = (parts + sums) * j->exchange_bytes};
    return parts > 0 ? efficiency_operator_time(&j->device, &add) : 0;
}

static struct lookup lookup_of(const struct dlrm_job *j, uint32_t index, const struct dlrm_share *share)
{
    bool copy = j->placement.places[index].split == DLRM_REPLICATED;
    double present = present_share(j, index, share);
    return (struct lookup){.rows = share->rows,
                           .width = share->width,
                           .pooling = share->pooling / present,
                           .samples = (copy ? j->samples : j->batch) * present,
                           .unique = j->unique[copy][index] * share->rows / j->tables[index].rows};
}

static void add_table(const struct dlrm_job *j, uint32_t index, const struct dlrm_share *share, struct dlrm_rank *cost,
                      struct traffic *sum)
{
    const struct dlrm_table *table = &j->tables[index];
    const struct lookup lookup = lookup_of(j, index, share);
    double state = dlrm_sparse_state(j, table), lookups = lookup.samples * lookup.pooling;
    struct lookup_traffic traffic = lookup_traffic(&lookup, &j->curve, state);
    /* Gradients of rows are written and read once more where the step is a kernel of its own. */
    double update = traffic.update + (j->parameters->fused & DLRM_FUSED_LOOKUP ? 0 : 2 * traffic.touched);
    sum->memory += traffic.memory;
    sum->slow_memory += traffic.memory * traffic.slower;
    sum->cache += traffic.cache * traffic.slower;
    sum->update += update;
    sum->slow_update += update * traffic.slower;
    sum->sums += lookup.samples * share->width;
    cost->hits += traffic.hit_rate * lookups;
    cost->lookups += lookups;
    cost->sums += reduces(j, index) ? 0 : share->sums * present_share(j, index, share);
    cost->indices += j->placement.places[index].split == DLRM_REPLICATED ? 0 : share->pooling;
    if (j->placement.places[index].split == DLRM_HOST) {
        cost->moved += lookup.unique * number_bytes * share->width * (1 + state);
        return;
    }
    cost->parameters += share->rows * share->width;
    cost->state += share->rows * share->width * state;
}

/* Sums in fp32 become numbers of the dense layers' size, and gradients the other way round. */
static double cast_seconds(const struct dlrm_job *j, double numbers)
{
    struct transformer_operator cast = {.name = "cast", .bytes = numbers * (number_bytes + j->element_bytes)};
    if (j->element_bytes >= number_bytes || j->parameters->fused & DLRM_FUSED_LOOKUP)
        return 0;
    return efficiency_operator_time(&j->device, &cast);
}

struct dlrm_rank dlrm_sparse_cost(const struct dlrm_job *j, uint32_t rank)
{
    struct dlrm_rank cost = {0};
    struct traffic sum = {0};
    for (uint32_t i = 0; i < j->table_count; i++) {
        struct dlrm_share share = dlrm_placement_share(&j->placement, &j->tables[i], i, rank);
        if (share.any)
            add_table(j, i, &share, &cost, &sum);
    }
    if (sum.memory <= 0)
        return cost;
    double cached = j->curve.cache_rate > 0 ? sum.cache / j->curve.cache_rate : 0;
    double cast = cast_seconds(j, sum.sums);
    cost.lookup = fmax(dlrm_sparse_seconds(j, sum.memory) * sum.slow_memory / sum.memory, cached) + cast;
    cost.update = dlrm_sparse_seconds(j, sum.update) * sum.slow_update / sum.update + cast;
    return cost;
}

double dlrm_sparse_replicas(const struct dlrm_job *j, enum stagesim_collective collective)
{
    double bytes = 0;
    for (uint32_t i = 0; i < j->table_count; i++) {
        const struct dlrm_table *table = &j->tables[i];
        double row = j->exchange_bytes * (double)table->width, whole = table->rows * row;
        double gathered = j->ranks * j->unique[1][i] * (row + index_bytes);
        bool gathers = gathered < 2 * whole; /* a rank sends (n - 1)/n of the one, 2 (n - 1)/n of the other */
        if (j->placement.places[i].split == DLRM_REPLICATED && gathers == (collective == STAGESIM_ALL_GATHER))
            bytes += gathers ? gathered : whole;
    }
    return bytes;
}
