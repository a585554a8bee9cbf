/* SPDX-License-Identifier: Apache-2.0 */
/* In which order the ranks of a recorded trace run forwards, backwards and weight gradients, in a form that is compared
 * with the orders of plans. */
#ifndef STAGESIM_ORDERS_ORDER_H
#define STAGESIM_ORDERS_ORDER_H

#include "schedules/plan/plan.h"
#include "traces/recorded.h"

struct arena;

/* Larger orders are not compared. */
enum { ORDER_SLOTS_MAX = 1 << 20, ORDER_WORKERS_MAX = 4096, ORDER_SPARSE_MOST = 64 };

/* What a rank does in a step: keys[first] .. keys[first + count]. */
struct order_part {
    uint32_t step, replica, worker;
    size_t first, count;
};

struct order {
    uint32_t workers, stages, micro_batches; /* of a step and replica, the most that there are; 0: nothing is known */
    uint32_t replicas;                       /* of the pipeline in the trace */
    size_t weights;                          /* gradients that are apart */
    bool blocks;              /* some run as one with another: how long each of the two takes is not recorded */
    struct order_part *parts; /* by step, then replica, then worker; none if there are too many slots to compare */
    size_t part_count;
    uint64_t *keys; /* see order_key */
};

/* What is run. */
static inline uint64_t order_key(enum slot_kind kind, uint32_t stage, uint32_t micro_batch)
{
    return (uint64_t)kind << 48 | (uint64_t)stage << 32 | micro_batch;
}

static inline enum slot_kind order_kind(uint64_t key)
{
    return (enum slot_kind)(key >> 48);
}

static inline uint32_t order_stage(uint64_t key)
{
    return key >> 32 & UINT16_MAX;
}

static inline uint32_t order_micro_batch(uint64_t key)
{
    return (uint32_t)key;
}

/* Of each rank in each step, memory from the arena. Pieces of one forward (layers) are one, and so are a backward and
 * the weight gradient right behind it. */
void order_find(const struct recorded *recorded, struct arena *arena, struct order *order);

/* Writes a worker's order in a plan in the same form to keys, which has room for all of its slots; how many. */
size_t order_of_plan(const struct plan *plan, uint32_t worker, uint64_t *keys);

/* How many of `count` things would have to stand elsewhere, or are not there, to make the one order the other. */
size_t order_apart(const uint64_t *left, size_t count, const uint64_t *right, size_t right_count);

#endif
