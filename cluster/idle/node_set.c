/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/idle/node_set.h"

#include "base/arena.h"

#include <assert.h>

enum { WORD_BITS = 64 };

struct node_set node_set_create(uint32_t nodes, struct arena *arena)
{
    uint32_t words = nodes / WORD_BITS + 1;
    return (struct node_set){arena_array(arena, words, sizeof(uint64_t)), words, 0};
}

bool node_set_has(const struct node_set *set, uint32_t node)
{
    return set->words[node / WORD_BITS] >> node % WORD_BITS & 1;
}

void node_set_add(struct node_set *set, uint32_t node)
{
    assert(!node_set_has(set, node));
    set->words[node / WORD_BITS] |= UINT64_C(1) << node % WORD_BITS;
    set->count++;
}

void node_set_remove(struct node_set *set, uint32_t node)
{
    assert(node_set_has(set, node));
    set->words[node / WORD_BITS] &= ~(UINT64_C(1) << node % WORD_BITS);
    set->count--;
}

uint32_t node_set_take(struct node_set *set)
{
    uint32_t word = 0;
    assert(set->count);
    while (!set->words[word])
        word++;
    uint32_t node = word * WORD_BITS + (uint32_t)__builtin_ctzll(set->words[word]);
    node_set_remove(set, node);
    return node;
}
