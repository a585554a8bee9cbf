/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of a platform, and the shape of a choice of them: two choices of the same shape are equally good for a job.
 */
#ifndef STAGESIM_NODE_LAYOUT_H
#define STAGESIM_NODE_LAYOUT_H

#include "platforms/platform.h"

struct arena;

struct node_layout {
    struct platform *platform;
    uint32_t node_count;
    uint32_t *first;  /* [node_count + 1]: hosts of node i are first[i] .. first[i + 1] - 1 */
    uint32_t *gpus;   /* [node_count]: hosts of each */
    uint32_t *labels; /* of links, while a shape is taken */
};

/* A node is a run of hosts that name the same node. Memory from the arena. */
void node_layout_create(struct node_layout *layout, struct platform *platform, struct arena *arena);

/* A number that is the same for choices of nodes whose devices are alike and whose routes are alike: as many links, of
 * the same rates and latencies, and shared by the same pairs. Routes within each node and between equally numbered
 * devices of two nodes count: of all pairs of nodes up to 32, of more those at distances of powers of two, as rings,
 * trees and halving use them. */
uint64_t node_layout_shape(struct node_layout *layout, const uint32_t *nodes, uint32_t count);

/* The hosts of nodes, in their order; *host_count of them. Memory from the arena. */
uint32_t *node_layout_hosts(const struct node_layout *layout, const uint32_t *nodes, uint32_t count,
                            uint32_t *host_count, struct arena *arena);

#endif
