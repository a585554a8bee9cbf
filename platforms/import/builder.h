/* SPDX-License-Identifier: Apache-2.0 */
/* The making of a node from what an importer read, shared by build.c, builder.c and network.c. */
#ifndef STAGESIM_IMPORT_BUILDER_H
#define STAGESIM_IMPORT_BUILDER_H

#include "platforms/import/parts.h"

/* What PCI Express reaches of its line rate: 12 of 15.75 GB/s, NVIDIA/nccl src/graph/topo.h. */
#define PCIE_REACHED (12 / 15.753846)

struct builder {
    struct import *import;
    const struct import_options *options;
    struct node_graph *node;
    bool *used;       /* by place */
    uint32_t *vertex; /* by place: its part of the node, NODE_NONE before it is made */
    bool *wanted;     /* by network interface: it is used */
    uint32_t port;
    uint32_t *card_exit; /* by network interface: its cable to the port, NODE_NONE when unused */
};

/* A wire of this name and rate; one for all that are alike. `source` is copied when a new one is made. */
const struct wire *builder_wire(struct builder *builder, const char *name, double raw, double effective, double latency,
                                const char *source, enum confidence confidence);
/* The nearest socket or switch above: a device below a device hangs on what is above both. */
uint32_t builder_carrier(const struct import *import, uint32_t place);
/* How many parts that are used hang on a place. */
uint32_t builder_used_children(const struct builder *builder, uint32_t place);
/* The part of the node for the socket or switch above a place; *raw becomes the narrowest wire on the way over switches
 * that are left out. */
uint32_t builder_above(const struct builder *builder, uint32_t place, double *raw);

/* Rates of network interfaces, and which are wanted: not those that are down, nor those far slower than the fastest. */
void network_choose(struct builder *builder);
/* The port, a cable to it for each wanted card, and the one that each device uses. */
void network_add(struct builder *builder);

#endif
