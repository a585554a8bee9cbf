/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/sharding/greedy.h"

#include "base/arena.h"
#include "base/rounded/rounded.h"
#include "studies/sharding/balanced.h"

#include <math.h>
#include <stdlib.h>

double sharding_load_of(const struct sharding_task *task, enum sharding_load load, uint32_t index)
{
    const struct dlrm_table *table = &task->tables[index];
    double width = (double)table->width, size = table->rows * width;
    switch (load) {
    case SHARDING_SIZE:
        return size;
    case SHARDING_LOOKUP:
        return table->pooling * width;
    case SHARDING_NORM_LOOKUP:
        return task->unique[index] * width / task->batch;
    case SHARDING_SIZE_LOOKUP:
        return table->pooling * width * rounded_log10(fmax(size, 1));
    }
    return 0;
}

/* ---- greedy ---- */

struct loaded {
    double load;
    uint32_t table;
};

static int by_load(const void *left, const void *right)
{
    const struct loaded *a = left, *b = right;
    if (a->load < b->load || a->load > b->load)
        return a->load > b->load ? -1 : 1;
    return (a->table > b->table) - (a->table < b->table);
}

/* The rank with the least load among those that have room; `ranks` where there is none. */
static uint32_t find_rank(const struct sharding_task *task, const double *loads, const double *used, double bytes)
{
    uint32_t found = task->ranks;
    for (uint32_t rank = 0; rank < task->ranks; rank++)
        if ((task->room <= 0 || used[rank] + bytes <= task->room) &&
            (found == task->ranks || loads[rank] < loads[found]))
            found = rank;
    return found;
}

bool sharding_place_greedily(const struct sharding_task *task, enum sharding_load load,
                             struct dlrm_placement *placement)
{
    struct loaded *order = array_zeroed(task->count, sizeof *order);
    double *loads = array_zeroed(task->ranks, sizeof *loads), *used = array_zeroed(task->ranks, sizeof *used);
    bool ok = true;
    for (uint32_t i = 0; i < task->count; i++)
        order[i] = (struct loaded){sharding_load_of(task, load, i), i};
    qsort(order, task->count, sizeof *order, by_load);
    for (uint32_t i = 0; ok && i < task->count; i++) {
        uint32_t table = order[i].table, rank = find_rank(task, loads, used, task->bytes[table]);
        ok = rank < task->ranks;
        if (!ok)
            break;
        dlrm_placement_set(placement, table, DLRM_WHOLE, &rank, 1);
        loads[rank] += order[i].load;
        used[rank] += task->bytes[table];
    }
    free(order);
    free(loads);
    free(used);
    return ok;
}

static bool by_size(const struct sharding_task *task, struct dlrm_placement *placement)
{
    return sharding_place_greedily(task, SHARDING_SIZE, placement);
}

static bool by_lookup(const struct sharding_task *task, struct dlrm_placement *placement)
{
    return sharding_place_greedily(task, SHARDING_LOOKUP, placement);
}

static bool by_norm_lookup(const struct sharding_task *task, struct dlrm_placement *placement)
{
    return sharding_place_greedily(task, SHARDING_NORM_LOOKUP, placement);
}

static bool by_size_lookup(const struct sharding_task *task, struct dlrm_placement *placement)
{
    return sharding_place_greedily(task, SHARDING_SIZE_LOOKUP, placement);
}

/* ---- without a look at the tables ---- */

static bool in_turn(const struct sharding_task *task, struct dlrm_placement *placement)
{
    for (uint32_t i = 0; i < task->count; i++)
        dlrm_placement_set(placement, i, DLRM_WHOLE, &(uint32_t){i % task->ranks}, 1);
    return sharding_fits(task, placement);
}

/* Neighbours together, the first ranks with one more. */
static bool in_pieces(const struct sharding_task *task, struct dlrm_placement *placement)
{
    uint32_t next = 0;
    for (uint32_t rank = 0; rank < task->ranks; rank++) {
        uint32_t piece = task->count / task->ranks + (rank < task->count % task->ranks);
        for (uint32_t i = 0; i < piece; i++)
            dlrm_placement_set(placement, next++, DLRM_WHOLE, &rank, 1);
    }
    return sharding_fits(task, placement);
}

/* The same numbers on every machine (SplitMix64; Steele, Lea, Flood 2014). */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static bool at_random(const struct sharding_task *task, struct dlrm_placement *placement)
{
    enum { TRIES = 100 };
    uint64_t state = 1;
    bool fits = false;
    for (int try = 0; try < TRIES && !fits; try++) {
        for (uint32_t i = 0; i < task->count; i++)
            dlrm_placement_set(placement, i, DLRM_WHOLE, &(uint32_t){(uint32_t)(draw(&state) % task->ranks)}, 1);
        fits = sharding_fits(task, placement);
    }
    return fits;
}

/* ---- cut ---- */

/* Over all ranks, or as many as a table has columns. */
static bool cut_columns(const struct sharding_task *task, struct dlrm_placement *placement)
{
    uint32_t *all = array_zeroed(task->ranks, sizeof *all);
    for (uint32_t rank = 0; rank < task->ranks; rank++)
        all[rank] = rank;
    for (uint32_t i = 0; i < task->count; i++)
        dlrm_placement_set(placement, i, DLRM_COLUMNS, all,
                           task->tables[i].width < task->ranks ? (uint32_t)task->tables[i].width : task->ranks);
    free(all);
    return sharding_fits(task, placement);
}

static bool cut_all(const struct sharding_task *task, struct dlrm_placement *placement)
{
    uint32_t *all = array_zeroed(task->ranks, sizeof *all);
    for (uint32_t rank = 0; rank < task->ranks; rank++)
        all[rank] = rank;
    for (uint32_t i = 0; i < task->count; i++)
        dlrm_placement_set(placement, i, DLRM_ROWS, all, task->ranks);
    free(all);
    return sharding_fits(task, placement);
}

#define WHOLE_TABLES                                                                                                   \
    {"naive", "tables on ranks in turn", in_turn}, {"naive-chunk", "neighbouring tables together", in_pieces},         \
        {"random", "drawn, with a fixed seed", at_random}, {"greedy-size", "numbers of the table", by_size},           \
        {"greedy-lookup", "numbers that a sample reads", by_lookup},                                                   \
        {"greedy-norm-lookup", "the same, each different row of a batch once", by_norm_lookup},                        \
    {                                                                                                                  \
        "greedy-size-lookup", "numbers that a sample reads, times log10 of the table's numbers", by_size_lookup        \
    }

const struct sharding_maker sharding_greedy[] = {WHOLE_TABLES, {NULL, NULL, NULL}};
const struct sharding_maker sharding_cutting[] = {
    WHOLE_TABLES,
    {"rows", "every table cut by rows over all ranks", cut_all},
    {"columns", "every table cut by columns over all ranks", cut_columns},
    {"balanced", "HugeCTR's planner", sharding_place_balanced},
    {"balanced-copies", "the same; tables of fewer rows than a rank has samples on all ranks", sharding_place_copies},
    {NULL, NULL, NULL},
};
