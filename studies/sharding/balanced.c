/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/sharding/balanced.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double shard_cost = 3.35e12 / 450e9 / 4;
enum { ROUNDS = 20 };

double sharding_balanced_cost(const struct sharding_task *task, const struct dlrm_placement *placement)
{
    double most = 0;
    for (uint32_t rank = 0; rank < task->ranks; rank++) {
        double cost = 0;
        for (uint32_t i = 0; i < task->count; i++) {
            const struct dlrm_place *place = &placement->places[i];
            bool here = false;
            for (uint32_t k = 0; k < place->count; k++)
                here |= place->ranks[k] == rank;
            if (!here)
                continue;
            bool divided = place->split == DLRM_ROWS || place->split == DLRM_REPLICATED;
            cost += task->tables[i].pooling / (divided ? place->count : 1);
            cost += place->split == DLRM_REPLICATED ? 0 : shard_cost;
        }
        most = fmax(most, cost);
    }
    return most;
}

struct planner {
    const struct sharding_task *task;
    uint32_t *splits;         /* [table]; 0: all ranks have it */
    double *costs, *used;     /* [rank] */
    double copied;            /* bytes of tables that all ranks have */
    uint32_t *held, *holders; /* [table]: shards that found a rank so far; [table * ranks + i]: their ranks */
};

struct shard {
    double lookups;
    uint32_t table;
};

static int by_lookups(const void *left, const void *right)
{
    const struct shard *a = left, *b = right;
    if (a->lookups < b->lookups || a->lookups > b->lookups)
        return a->lookups > b->lookups ? -1 : 1;
    return (a->table > b->table) - (a->table < b->table);
}

static bool holds(const struct planner *planner, uint32_t table, uint32_t rank)
{
    for (uint32_t i = 0; i < planner->held[table]; i++)
        if (planner->holders[(size_t)table * planner->task->ranks + i] == rank)
            return true;
    return false;
}

/* False where no rank takes the shard. */
static bool place_shard(struct planner *planner, const struct shard *shard)
{
    const struct sharding_task *task = planner->task;
    double bytes = task->bytes[shard->table] / planner->splits[shard->table];
    uint32_t found = task->ranks;
    for (uint32_t rank = 0; rank < task->ranks; rank++)
        if ((task->room <= 0 || planner->used[rank] + bytes <= task->room) && !holds(planner, shard->table, rank) &&
            (found == task->ranks || planner->costs[rank] < planner->costs[found]))
            found = rank;
    if (found == task->ranks)
        return false;
    planner->costs[found] += shard->lookups + shard_cost;
    planner->used[found] += bytes;
    planner->holders[(size_t)shard->table * task->ranks + planner->held[shard->table]++] = found;
    return true;
}

/* Places all shards; returns the table that found no rank, or `count`. */
static uint32_t place_all(struct planner *planner)
{
    const struct sharding_task *task = planner->task;
    size_t count = 0, capacity = 0;
    struct shard *shards = NULL;
    memset(planner->costs, 0, task->ranks * sizeof *planner->costs);
    for (uint32_t rank = 0; rank < task->ranks; rank++)
        planner->used[rank] = planner->copied;
    memset(planner->held, 0, task->count * sizeof *planner->held);
    for (uint32_t i = 0; i < task->count; i++)
        for (uint32_t k = 0; k < planner->splits[i]; k++) {
            shards = array_grow(shards, &capacity, count + 1, sizeof *shards);
            shards[count++] = (struct shard){task->tables[i].pooling / planner->splits[i], i};
        }
    qsort(shards, count, sizeof *shards, by_lookups);
    uint32_t failed = task->count;
    for (size_t i = 0; i < count && failed == task->count; i++)
        if (!place_shard(planner, &shards[i]))
            failed = shards[i].table;
    free(shards);
    return failed;
}

/* The table of most lookups in a shard among those that can be cut further; `count` where there is none. */
static uint32_t hottest(const struct planner *planner)
{
    const struct sharding_task *task = planner->task;
    uint32_t found = task->count;
    for (uint32_t i = 0; i < task->count; i++)
        if (planner->splits[i] && 2 * planner->splits[i] <= task->ranks &&
            (found == task->count ||
             task->tables[i].pooling / planner->splits[i] > task->tables[found].pooling / planner->splits[found]))
            found = i;
    return found;
}

static void keep(const struct planner *planner, struct dlrm_placement *placement)
{
    for (uint32_t i = 0; i < planner->task->count; i++)
        dlrm_placement_set(placement, i,
                           !planner->splits[i]      ? DLRM_REPLICATED
                           : planner->splits[i] > 1 ? DLRM_ROWS
                                                    : DLRM_WHOLE,
                           &planner->holders[(size_t)i * planner->task->ranks], planner->splits[i]);
}

static double most_of(const double *values, uint32_t count)
{
    double most = 0;
    for (uint32_t i = 0; i < count; i++)
        most = fmax(most, values[i]);
    return most;
}

/* The plan if all have room and it is the best so far. Returns the table to be cut next; `count`: none can be. */
static uint32_t try_once(struct planner *planner, double *best, struct dlrm_placement *placement)
{
    const struct sharding_task *task = planner->task;
    uint32_t failed = place_all(planner);
    if (failed < task->count)
        return 2 * planner->splits[failed] <= task->ranks ? failed : task->count;
    double cost = most_of(planner->costs, task->ranks);
    if (cost < *best) {
        *best = cost;
        keep(planner, placement);
    }
    return hottest(planner);
}

/* Tables with fewer rows than `least` are copied. */
static bool plan(const struct sharding_task *task, double least, struct dlrm_placement *placement)
{
    struct planner planner = {task,
                              array_zeroed(task->count, sizeof(uint32_t)),
                              array_zeroed(task->ranks, sizeof(double)),
                              array_zeroed(task->ranks, sizeof(double)),
                              0,
                              array_zeroed(task->count, sizeof(uint32_t)),
                              array_zeroed((size_t)task->count * task->ranks, sizeof(uint32_t))};
    double best = INFINITY;
    for (uint32_t i = 0; i < task->count; i++) {
        planner.splits[i] = task->tables[i].rows < least ? 0 : task->ranks;
        planner.copied += planner.splits[i] ? 0 : task->bytes[i];
    }
    try_once(&planner, &best, placement);
    for (uint32_t i = 0; i < task->count; i++)
        planner.splits[i] = planner.splits[i] ? 1 : 0;
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t next = try_once(&planner, &best, placement);
        if (next == task->count)
            break;
        planner.splits[next] *= 2;
    }
    free(planner.splits);
    free(planner.costs);
    free(planner.used);
    free(planner.held);
    free(planner.holders);
    return !isinf(best);
}

bool sharding_place_balanced(const struct sharding_task *task, struct dlrm_placement *placement)
{
    return plan(task, 0, placement);
}

bool sharding_place_copies(const struct sharding_task *task, struct dlrm_placement *placement)
{
    return plan(task, task->batch / task->ranks, placement);
}
