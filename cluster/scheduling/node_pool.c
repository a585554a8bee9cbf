/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/scheduling/node_pool.h"

#include "base/arena.h"

#include <assert.h>
#include <stdlib.h>

const char *const node_choice_names[] = {"packed", "first", "spread", "block", NULL};

struct node_pool {
    uint32_t nodes, free, block;
    enum node_choice choice;
    uint64_t *words; /* a bit a node: it is free */
};

struct node_pool *node_pool_create(uint32_t nodes, enum node_choice choice, uint32_t block)
{
    struct node_pool *pool = array_zeroed(1, sizeof *pool);
    *pool = (struct node_pool){nodes, nodes, block, choice, array_zeroed((size_t)nodes / 64 + 2, sizeof *pool->words)};
    for (uint32_t node = 0; node < nodes; node++)
        pool->words[node / 64] |= UINT64_C(1) << node % 64;
    return pool;
}

void node_pool_destroy(struct node_pool *pool)
{
    if (pool)
        free(pool->words);
    free(pool);
}

uint32_t node_pool_free(const struct node_pool *pool)
{
    return pool->free;
}

static void set(struct node_pool *pool, uint32_t node, bool is_free)
{
    uint64_t bit = UINT64_C(1) << node % 64;
    assert(!(pool->words[node / 64] & bit) == is_free);
    pool->words[node / 64] ^= bit;
    pool->free += is_free ? 1U : UINT32_MAX;
}

/* The first node from `from` on that is free, or is not; the number of nodes where there is none. */
static uint32_t seek(const struct node_pool *pool, uint32_t from, bool is_free)
{
    for (uint32_t word = from / 64; from < pool->nodes; from = ++word * 64) {
        uint64_t bits = (is_free ? pool->words[word] : ~pool->words[word]) >> from % 64;
        if (bits) {
            from += (uint32_t)__builtin_ctzll(bits);
            break;
        }
    }
    return from < pool->nodes ? from : pool->nodes;
}

static void take_run(struct node_pool *pool, uint32_t from, uint32_t count, uint32_t *nodes)
{
    for (uint32_t i = 0; i < count; i++) {
        nodes[i] = from + i;
        set(pool, nodes[i], false);
    }
}

/* The smallest run of at least `count` free neighbours; where there is none, the longest. Returns its length. */
static uint32_t find_run(const struct node_pool *pool, uint32_t count, uint32_t *from)
{
    uint32_t best = 0;
    for (uint32_t start = seek(pool, 0, true), end; start < pool->nodes; start = seek(pool, end, true)) {
        end = seek(pool, start, false);
        uint32_t length = end - start;
        bool better = best >= count ? length >= count && length < best : length > best;
        if (better) {
            best = length;
            *from = start;
        }
    }
    return best;
}

static int ascending(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

static void take_packed(struct node_pool *pool, uint32_t count, uint32_t *nodes)
{
    for (uint32_t taken = 0, from = 0; taken < count;) {
        uint32_t left = count - taken, length = find_run(pool, left, &from);
        take_run(pool, from, length < left ? length : left, nodes + taken);
        taken += length < left ? length : left;
    }
    qsort(nodes, count, sizeof *nodes, ascending);
}

/* Of F free nodes, number i F / count for each i. */
static void take_spread(struct node_pool *pool, uint32_t count, uint32_t *nodes)
{
    uint64_t available = pool->free;
    uint32_t number = 0, node = seek(pool, 0, true);
    for (uint32_t i = 0; i < count; i++) {
        for (uint64_t wanted = i * available / count; number < wanted; number++)
            node = seek(pool, node + 1, true);
        nodes[i] = node;
    }
    for (uint32_t i = 0; i < count; i++)
        set(pool, nodes[i], false);
}

/* The block as node_choice says for so many nodes; returns how many of its nodes are free. */
static uint32_t find_block(const struct node_pool *pool, uint32_t count, uint32_t *from)
{
    uint32_t best = 0;
    for (uint32_t start = 0; start < pool->nodes; start += pool->block) {
        uint32_t past = start + pool->block < pool->nodes ? start + pool->block : pool->nodes, length = 0;
        for (uint32_t node = seek(pool, start, true); node < past; node = seek(pool, node + 1, true))
            length++;
        bool better = best >= count ? length >= count && length < best : length > best;
        if (better) {
            best = length;
            *from = start;
        }
    }
    return best;
}

static void take_block(struct node_pool *pool, uint32_t count, uint32_t *nodes)
{
    for (uint32_t taken = 0, from = 0; taken < count;) {
        uint32_t left = count - taken, length = find_block(pool, left, &from);
        for (uint32_t i = 0; i < length && i < left; i++) {
            from = seek(pool, from, true);
            nodes[taken++] = from;
            set(pool, from, false);
        }
    }
    qsort(nodes, count, sizeof *nodes, ascending);
}

void node_pool_take(struct node_pool *pool, uint32_t count, uint32_t *nodes)
{
    assert(count <= pool->free);
    if (pool->choice == NODES_PACKED)
        take_packed(pool, count, nodes);
    else if (pool->choice == NODES_BLOCK)
        take_block(pool, count, nodes);
    else if (pool->choice == NODES_SPREAD)
        take_spread(pool, count, nodes);
    else
        for (uint32_t i = 0, node = 0; i < count; i++, node++) {
            node = seek(pool, node, true);
            nodes[i] = node;
            set(pool, node, false);
        }
}

void node_pool_take_node(struct node_pool *pool, uint32_t node)
{
    set(pool, node, false);
}

void node_pool_give(struct node_pool *pool, const uint32_t *nodes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        set(pool, nodes[i], true);
}
