/* SPDX-License-Identifier: Apache-2.0 */
/* A set of nodes by number, of which the lowest is taken quickly. */
#ifndef STAGESIM_NODE_SET_H
#define STAGESIM_NODE_SET_H

#include <stdbool.h>
#include <stdint.h>

struct arena;

struct node_set {
    uint64_t *words;
    uint32_t word_count, count; /* count: of members */
};

/* The empty set of nodes below `nodes`; memory from the arena. */
struct node_set node_set_create(uint32_t nodes, struct arena *arena);
bool node_set_has(const struct node_set *set, uint32_t node);
/* The node must not be in the set. */
void node_set_add(struct node_set *set, uint32_t node);
/* The node must be in the set. */
void node_set_remove(struct node_set *set, uint32_t node);
/* Removes the lowest of a set that is not empty. */
uint32_t node_set_take(struct node_set *set);

#endif
