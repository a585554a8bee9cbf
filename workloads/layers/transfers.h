/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of a layer gets how much of which part of the layers that it reads. */
#ifndef STAGESIM_LAYERS_TRANSFERS_H
#define STAGESIM_LAYERS_TRANSFERS_H

#include "workloads/layers/strategy.h"

/* In the forward, part `to` of `layer` gets what it needs of part `from` of `source`; in the backward as much of the
 * gradient goes the other way. `bytes` are 0 where both parts lie on one rank. */
struct layers_transfer {
    uint32_t source, layer, from, to;
    double bytes;
};

struct layers_transfers {
    struct layers_transfer *items; /* by layer, edge and receiving part */
    size_t count, capacity;
    size_t most; /* none are looked for once there are as many */
};

/* All parts of all layers, [layer][part]. The caller frees them with parts_destroy. */
struct layer_part **parts_create(const struct layers_graph *graph, const struct layers_strategy *strategy,
                                 double samples);
void parts_destroy(const struct layers_graph *graph, struct layer_part **parts);

/* Adds the transfers along all edges of a layer: each part gets the indices that it needs (split_input) from the ranks
 * that own them, but those that its own rank holds. What is less than half a byte is the rounding of shares, and is
 * left out. `element_bytes`: of a number of each source layer's output, [layer]. */
void transfers_add(struct layers_transfers *list, const struct layers_graph *graph,
                   const struct layers_strategy *strategy, struct layer_part *const *parts, const double *element_bytes,
                   uint32_t layer);

#endif
