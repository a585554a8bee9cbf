/* SPDX-License-Identifier: Apache-2.0 */
/* The section `split`: how every layer of a network is shared out. */
#ifndef STAGESIM_LAYERS_STRATEGY_H
#define STAGESIM_LAYERS_STRATEGY_H

#include "workloads/layers/row_mistakes.h"
#include "workloads/layers/split.h"

/* A row of split.layers, as given: 0 or no values where a key is not. */
struct split_row {
    const char *layer; /* a name, in which each * stands for any text */
    uint64_t degrees[SPLIT_DIMENSIONS];
    struct stagesim_list devices; /* ranks */
    struct stagesim_list shares;  /* of all divided dimensions, one behind the other */
};

extern const struct stagesim_row_type split_row_type;

struct layers_strategy {
    struct layer_split *splits; /* [layer] */
    uint32_t ranks;
    uint32_t *devices; /* that splits name */
};

/* Every layer's split among `ranks` ranks which compute `samples` together: that of the last row that names the layer,
 * or else by samples over all ranks. NULL after mistakes were reported; layers that no row names and that cannot be
 * shared out are reported with row STAGESIM_NONE. The caller frees it with strategy_destroy; rows and graph have to
 * live as long. */
struct layers_strategy *strategy_create(const struct layers_graph *graph, const struct stagesim_rows *rows,
                                        uint32_t ranks, double samples, const struct row_reporter *reporter);
/* NULL is fine. */
void strategy_destroy(struct layers_strategy *strategy);

#endif
