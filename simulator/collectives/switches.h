/* SPDX-License-Identifier: Apache-2.0 */
/* What algorithms that reduce in switches have in common. */
#ifndef STAGESIM_SWITCHES_H
#define STAGESIM_SWITCHES_H

#include "simulator/collectives/algorithm.h"

/* Whether the members are nodes of more than two, each of which may have a switch of its own. */
bool switches_are_within(const struct collective_shape *shape);

/* Every member's port carries the data once in both directions: as many flows from neighbour to neighbour, over members
 * `first` on. Where they are all of a node, a member's own part of the sums passes once more in an all-reduce. */
void switch_flows(const struct collective_shape *shape, enum stagesim_collective kind, uint32_t first, uint32_t members,
                  struct collective_flows *flows);

/* ---- double_tree.c: the two trees ---- */

/* Over `count` places, `stride` ranks apart from `first` on, each edge with `share` of the size in both directions.
 * With exits, `first` is the number of one of each node. */
void trees_flows(struct collective_flows *flows, uint32_t phase, uint32_t first, uint32_t count, uint32_t stride,
                 const struct exits *exits, double share);
/* The transfers over the nodes' ranks of number `local`, up and down, with the blocks of that part; rounds from
 * `first_round` on. The data is cut into trees_blocks for each rank of a node. Returns the round behind the last. */
uint32_t trees_steps(struct collective_steps *steps, uint32_t local, uint32_t size, uint32_t nodes,
                     uint32_t first_round);
enum { TREES_BLOCKS = 32 };

#endif
