/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes of a cluster are free, and which of them a job is given. */
#ifndef STAGESIM_NODE_POOL_H
#define STAGESIM_NODE_POOL_H

#include <stdbool.h>
#include <stdint.h>

/* How nodes are chosen; every rule takes free nodes only and depends on nothing but which are free. */
enum node_choice {
    NODES_PACKED, /* the smallest run of neighbours that holds them, the first of equal ones; where there is none, the
                     longest runs first, the first of equal ones */
    NODES_FIRST,  /* the lowest numbers */
    NODES_SPREAD, /* evenly over the free ones */
    NODES_BLOCK,  /* the block with the fewest free nodes that holds them, the first of equal ones; where there is none,
                     blocks with the most free nodes first. The lowest numbers of a block */
    NODE_CHOICES
};
extern const char *const node_choice_names[NODE_CHOICES + 1]; /* NULL-terminated */

struct node_pool;

/* All free; `block` nodes in one, for NODES_BLOCK. The caller owns it. */
struct node_pool *node_pool_create(uint32_t nodes, enum node_choice choice, uint32_t block);
void node_pool_destroy(struct node_pool *pool); /* NULL is fine */

uint32_t node_pool_free(const struct node_pool *pool);
/* Takes `count` nodes, in ascending order; at least as many are free. */
void node_pool_take(struct node_pool *pool, uint32_t count, uint32_t *nodes);
/* Takes this one, which is free. */
void node_pool_take_node(struct node_pool *pool, uint32_t node);
/* Gives them back. */
void node_pool_give(struct node_pool *pool, const uint32_t *nodes, uint32_t count);

#endif
