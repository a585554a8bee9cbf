/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/dlrm/exchanges.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

static const uint32_t NONE = STAGESIM_NONE;
static const double index_bytes = 8;

/* Which ranks meet: all, those of a node, those with the same place in their nodes. */
enum span { ALL, WITHIN, ACROSS };

/* Who sends what: a rank its sums to each other; gradients and indices go to the ranks of tables. */
enum direction { FROM_TABLES, TO_TABLES };

struct maker {
    const struct dlrm_job *j;
    const double *each;  /* [rank]: bytes of a rank's tables for the samples of one rank */
    const double *added; /* [rank]: of those of its node, where they are added; NULL: they are not */
    enum direction direction;
    uint32_t node; /* ranks of a node; that of all where exchanges have one step */
};

/* ---- groups ---- */

static uint32_t group_size(const struct maker *m, enum span span)
{
    return span == ALL ? m->j->ranks : span == WITHIN ? m->node : m->j->ranks / m->node;
}

/* The i-th member of a rank's group. */
static uint32_t member(const struct maker *m, enum span span, uint32_t rank, uint32_t i)
{
    return span == ALL ? i : span == WITHIN ? rank - rank % m->node + i : rank % m->node + i * m->node;
}

static struct dlrm_exchange new_exchange(const struct maker *m, enum stagesim_collective collective, enum span span)
{
    const struct dlrm_job *j = m->j;
    uint32_t size = group_size(m, span), *positions = array_zeroed(size, sizeof *positions);
    struct dlrm_exchange exchange = {.collective = collective,
                                     .groups = array_zeroed(j->ranks, sizeof *exchange.groups),
                                     .costs = array_zeroed(j->ranks, sizeof *exchange.costs)};
    for (uint32_t rank = 0; rank < j->ranks; rank++) {
        exchange.costs[rank] = NONE;
        exchange.groups[rank] = exchange.groups[member(m, span, rank, 0)];
        if (member(m, span, rank, 0) != rank)
            continue;
        for (uint32_t i = 0; i < size; i++)
            positions[i] = member(m, span, rank, i);
        exchange.groups[rank] = j->api->group(j->job, "", positions, size);
    }
    free(positions);
    return exchange;
}

/* ---- all-to-alls ---- */

/* Bytes of the tables of a member of a group for one other member. In two steps a rank's sums for all samples of a
 * place go to the rank of this place in its node, which then has those of the whole node for one node. */
static double member_bytes(const struct maker *m, enum span span, uint32_t rank)
{
    if (span != ACROSS)
        return m->each[rank] * (span == WITHIN ? m->j->ranks / m->node : 1);
    double sum = 0;
    if (m->added)
        return m->added[rank];
    for (uint32_t i = 0; i < m->node; i++)
        sum += m->each[rank - rank % m->node + i];
    return sum;
}

/* The cost of one group's all-to-all. */
static uint32_t pairs_cost(const struct maker *m, enum span span, uint32_t first, uint32_t group)
{
    uint32_t size = group_size(m, span);
    double most = 0, least = INFINITY, *bytes = array_zeroed((size_t)size * size, sizeof *bytes);
    for (uint32_t i = 0; i < size; i++) {
        double each = member_bytes(m, span, member(m, span, first, i));
        most = fmax(most, each);
        least = fmin(least, each);
        for (uint32_t other = 0; other < size; other++)
            bytes[m->direction == FROM_TABLES ? (size_t)i * size + other : (size_t)other * size + i] = each;
    }
    struct stagesim_cost cost = {.bytes = most * size};
    uint32_t entry = NONE;
    if (most > 0 && most == least)
        entry = m->j->api->cost(m->j->job, &cost);
    else if (most > 0)
        entry = m->j->api->pairs_cost(m->j->job, &cost, group, bytes);
    free(bytes);
    return entry;
}

static void add_all_to_all(const struct maker *m, struct dlrm_exchanges *list, enum span span, bool second)
{
    if (group_size(m, span) == 1)
        return;
    struct dlrm_exchange *exchange = &list->items[list->count++];
    *exchange = new_exchange(m, STAGESIM_ALL_TO_ALL, span);
    exchange->second = second;
    for (uint32_t rank = 0; rank < m->j->ranks; rank++) {
        uint32_t first = member(m, span, rank, 0);
        exchange->costs[rank] =
            first == rank ? pairs_cost(m, span, rank, exchange->groups[rank]) : exchange->costs[first];
    }
}

/* In one step, or in two: sums meet within nodes first, what goes to tables across nodes first. */
static void add_pairs(struct maker *m, struct dlrm_exchanges *list, enum direction direction, const double *each)
{
    enum span first = direction == FROM_TABLES ? WITHIN : ACROSS;
    m->direction = direction;
    m->each = each;
    if (m->node == m->j->ranks) {
        add_all_to_all(m, list, ALL, false);
        return;
    }
    add_all_to_all(m, list, first, false);
    add_all_to_all(m, list, first == WITHIN ? ACROSS : WITHIN, m->node > 1);
}

/* ---- the rest ---- */

/* A collective of all ranks, unless there is nothing to send. */
static void add_whole(const struct maker *m, struct dlrm_exchanges *list, enum stagesim_collective collective,
                      double bytes)
{
    const struct stagesim_cost cost = {.bytes = bytes};
    if (bytes <= 0)
        return;
    struct dlrm_exchange *exchange = &list->items[list->count++];
    *exchange = new_exchange(m, collective, ALL);
    uint32_t entry = m->j->api->cost(m->j->job, &cost);
    for (uint32_t rank = 0; rank < m->j->ranks; rank++)
        exchange->costs[rank] = entry;
}

/* Sums meet on their node, each rank adds those for its place, and then they cross to others. */
static void add_added(struct maker *m, struct dlrm_traffic *traffic, const struct dlrm_rank *ranks)
{
    const struct dlrm_job *j = m->j;
    double samples = j->samples * (j->ranks / m->node);
    traffic->add = array_zeroed(j->ranks, sizeof *traffic->add);
    m->direction = FROM_TABLES;
    add_all_to_all(m, &traffic->node, WITHIN, false);
    add_all_to_all(m, &traffic->sums, ACROSS, false);
    for (uint32_t first = 0; first < j->ranks; first += m->node) {
        double parts = 0;
        for (uint32_t i = first; i < first + m->node; i++)
            parts += samples * ranks[i].sums;
        double sums = m->added[first] / j->exchange_bytes * (j->ranks / m->node);
        double seconds = dlrm_sparse_add_seconds(j, parts, sums);
        for (uint32_t i = first; i < first + m->node; i++)
            traffic->add[i] = seconds;
    }
}

/* [rank]: bytes for the samples of one rank of all tables of its node, sums of parts added. */
static double *added_bytes(const struct dlrm_job *j, uint32_t node)
{
    double *bytes = array_zeroed(j->ranks, sizeof *bytes);
    for (uint32_t i = 0; i < j->ranks; i++)
        bytes[i] = i % node ? bytes[i - 1] : j->samples * j->exchange_bytes * dlrm_sparse_added(j, i, node);
    return bytes;
}

void dlrm_traffic_init(struct dlrm_traffic *traffic, const struct dlrm_job *j, const struct dlrm_rank *ranks)
{
    *traffic = (struct dlrm_traffic){.sums = {.count = 0}};
    if (j->ranks == 1)
        return;
    double *sums = array_zeroed(j->ranks, sizeof *sums), *indices = array_zeroed(j->ranks, sizeof *indices);
    for (uint32_t i = 0; i < j->ranks; i++) {
        sums[i] = j->samples * j->exchange_bytes * ranks[i].sums;
        indices[i] = j->samples * index_bytes * ranks[i].indices;
    }
    struct maker maker = {.j = j, .node = j->parameters->node ? (uint32_t)j->parameters->node : j->ranks};
    double reduced = dlrm_sparse_reduced(j) * j->batch * j->exchange_bytes;
    double *added = dlrm_sparse_adds(j) ? added_bytes(j, maker.node) : NULL;
    maker.each = sums;
    maker.added = added;
    if (added)
        add_added(&maker, traffic, ranks);
    else
        add_pairs(&maker, &traffic->sums, FROM_TABLES, sums);
    add_whole(&maker, &traffic->sums, STAGESIM_REDUCE_SCATTER, reduced);
    add_pairs(&maker, &traffic->gradients, TO_TABLES, sums);
    add_whole(&maker, &traffic->gradients, STAGESIM_ALL_GATHER, reduced + dlrm_sparse_replicas(j, STAGESIM_ALL_GATHER));
    add_whole(&maker, &traffic->gradients, STAGESIM_ALL_REDUCE, dlrm_sparse_replicas(j, STAGESIM_ALL_REDUCE));
    maker.added = NULL;
    add_pairs(&maker, &traffic->indices, TO_TABLES, indices);
    free(added);
    free(sums);
    free(indices);
}

static void finish_list(struct dlrm_exchanges *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        free(list->items[i].groups);
        free(list->items[i].costs);
    }
}

void dlrm_traffic_finish(struct dlrm_traffic *traffic)
{
    free(traffic->add);
    finish_list(&traffic->node);
    finish_list(&traffic->sums);
    finish_list(&traffic->gradients);
    finish_list(&traffic->indices);
}

uint32_t dlrm_exchanges_add(const struct dlrm_exchanges *list, const struct dlrm_job *j, uint32_t rank,
                            struct stagesim_identity identity, uint32_t after, uint32_t *ids)
{
    uint32_t count = 0, before = after;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct dlrm_exchange *exchange = &list->items[i];
        if (exchange->costs[rank] == NONE)
            continue;
        uint32_t awaited = exchange->second ? before : after;
        before = j->api->collective(j->job, rank, exchange->groups[rank], exchange->collective, identity,
                                    exchange->costs[rank]);
        if (awaited != NONE)
            j->api->wait(j->job, rank, before, awaited);
        ids[count++] = before;
    }
    return count;
}
