/* SPDX-License-Identifier: Apache-2.0 */
/* How a layer is shared out among ranks: into equal or unequal parts along samples, height, width, input and output
 * channels. Samples alone are data parallelism; height and width are spatial parallelism; input and output channels are
 * channel and filter parallelism. These are the dimensions of FlexFlow (Jia et al., MLSys 2019) and, samples, input and
 * output channels, the types I, II and III of AccPar (Song et al., HPCA 2020). */
#ifndef STAGESIM_LAYERS_SPLIT_H
#define STAGESIM_LAYERS_SPLIT_H

#include "workloads/layers/graph.h"

enum split_dimension { SPLIT_SAMPLE, SPLIT_HEIGHT, SPLIT_WIDTH, SPLIT_IN, SPLIT_OUT, SPLIT_DIMENSIONS };

/* "sample", "height", ...: the keys of a row; NULL-terminated. */
extern const char *const split_names[SPLIT_DIMENSIONS + 1];

/* Part k lies on rank devices[k]. Parts are numbered with the samples outermost and the output channels innermost. */
struct layer_split {
    uint32_t degrees[SPLIT_DIMENSIONS];     /* parts along each dimension, at least 1 */
    uint32_t count;                         /* parts: the product of the degrees */
    const uint32_t *devices;                /* [count], each rank once; borrowed */
    const double *shares[SPLIT_DIMENSIONS]; /* [degree], in proportion to which the dimension is cut; NULL: equal;
                                               borrowed */
};

/* A part of a layer. */
struct layer_part {
    struct box output; /* what it computes. Parts that differ only in input channels compute sums of which each has
                          a summand */
    struct box owned;  /* what it holds once these are added: of `output` the part's share of channels. Every
                          element of an output has one owner */
    struct range in;   /* input channels that it reads */
    double computed;   /* share of the layer's flops */
    double weights;    /* share of its weights */
    uint32_t coordinates[SPLIT_DIMENSIONS];
};

/* Part k of a layer of which `samples` are computed together. */
struct layer_part split_part(const struct layers_graph *graph, uint32_t layer, const struct layer_split *split,
                             double samples, uint32_t k);
/* The number of the part at these coordinates. */
uint32_t split_index(const struct layer_split *split, const uint32_t *coordinates);
/* What a part reads along one of its layer's edges, as a box of the layer that the edge comes from. */
struct box split_input(const struct layers_graph *graph, uint32_t layer, const struct layer_edge *edge,
                       const struct layer_part *part);
/* What a part holds of its layer's output for others on the same rank: what it owns, or of a recurrent layer, which
 * gathers the outputs of its parts at every step, also what they own. */
struct box split_held(const struct layers_graph *graph, uint32_t layer, const struct layer_part *part);
/* The share of all that the layer reads which the part reads; more than that of its outputs where parts overlap. */
double split_read_share(const struct layers_graph *graph, uint32_t layer, const struct layer_part *part,
                        double samples);
/* How many parts a dimension of the layer can have at most: 1 where it cannot be divided. */
double split_most(const struct layers_graph *graph, uint32_t layer, enum split_dimension dimension, double samples);

#endif
