/* SPDX-License-Identifier: Apache-2.0 */
/* The network as a graph: which layers' outputs a layer reads, the shapes of outputs, and which part of an input a part
 * of an output needs. */
#ifndef STAGESIM_LAYERS_GRAPH_H
#define STAGESIM_LAYERS_GRAPH_H

#include "workloads/layers/box.h"
#include "workloads/layers/layers.h"
#include "workloads/layers/row_mistakes.h"

/* Of one sample. */
struct layer_shape {
    uint64_t channels, height, width;
};

/* A tensor that a layer reads. */
struct layer_edge {
    uint32_t source;  /* a layer before it */
    uint64_t channel; /* the first of its channels among those of the layer's input: outputs that are read are
                         concatenated in the order of `from` */
    bool added;       /* not part of the input, but of the layer's shape and added to its output */
};

struct layer_operator {
    const struct layer *layer; /* as described; borrowed */
    struct layer_shape output;
    struct layer_shape input;        /* of the concatenation; all 0 where the network's input is read, and its shape is
                                        not given */
    struct box_window height, width; /* what of the input an output needs */
    bool mixes;                      /* an output channel needs all input channels, not only that of its number */
    const struct layer_edge *edges;  /* none: the layer reads the network's input */
    uint32_t edge_count;
    uint32_t weights; /* the layer whose weights it uses; itself, or an earlier one */
};

struct layers_graph {
    uint32_t count;
    struct layer_operator *operators;
    struct layer_edge *edges; /* of all layers */
    size_t edge_count;
};

/* The graph of layers; `input` is the shape of the network's input, all 0 where it is not known. NULL after mistakes
 * were reported. The caller frees it with graph_destroy; the layers have to live as long. */
struct layers_graph *graph_create(const struct layer *layers, uint32_t count, const struct layer_shape *input,
                                  const struct row_reporter *reporter);
/* NULL is fine. */
void graph_destroy(struct layers_graph *graph);

/* Numbers of one sample's output. */
double graph_outputs(const struct layer_operator *layer);

#endif
