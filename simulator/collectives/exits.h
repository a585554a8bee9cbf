/* SPDX-License-Identifier: Apache-2.0 */
/* Where the data of a collective over nodes leave them when network interfaces are down. A library that starts without
 * an interface lays as many rings and trees over nodes as the node with the fewest interfaces has, each over interfaces
 * that work, so that these share the load (NCCL counts the channels of all nodes and takes the least). */
#ifndef STAGESIM_COLLECTIVE_EXITS_H
#define STAGESIM_COLLECTIVE_EXITS_H

#include "platforms/platform.h"

struct exits {
    uint32_t count, nodes;
    const uint32_t *members; /* [node * count + number]: within the node */
};

/* Of groups of node_size members in each node, at least two nodes; lives as long as the platform. NULL where every
 * member has its own way out, or a node has none at all. */
const struct exits *exits_of(struct platform *platform, const uint32_t *hosts, uint32_t ranks, uint32_t node_size);
bool exits_same(const struct exits *a, const struct exits *b);

/* Without exits every member is one. */
static inline uint32_t exits_count(const struct exits *exits, uint32_t node_size)
{
    return exits ? exits->count : node_size;
}

static inline uint32_t exits_at(const struct exits *exits, uint32_t node, uint32_t number)
{
    return exits ? exits->members[node * exits->count + number] : number;
}

#endif
