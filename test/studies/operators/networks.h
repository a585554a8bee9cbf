/* SPDX-License-Identifier: Apache-2.0 */
/* Small networks on made-up devices for tests of strategies per operator. */
#ifndef STAGESIM_TEST_NETWORKS_H
#define STAGESIM_TEST_NETWORKS_H

#include "studies/operators/operators.h"

enum { CASE_LAYERS = 40, CASE_DEVICES = 16 };

struct network_case {
    struct layer layers[CASE_LAYERS];
    char names[CASE_LAYERS][16];
    const char *from[CASE_LAYERS][4], *added[CASE_LAYERS][1];
    double windows[CASE_LAYERS][3];
    uint32_t count;
    struct layers_graph *graph;
    struct operator_route routes[CASE_DEVICES * CASE_DEVICES];
    uint32_t kinds[CASE_DEVICES];
    double speeds[CASE_DEVICES]; /* flop/s */
    struct operators operators;
};

/* A row: `sources` numbers of layers that it reads, the one before where there are none. Returns its number. */
uint32_t case_layer(struct network_case *c, unsigned type, struct layer_shape output, double flops, double parameters,
                    const uint32_t *sources, uint32_t source_count);
/* Five convolutions and poolings, and three dense layers. */
void case_chain(struct network_case *c);
/* Three blocks of four branches, which are concatenated, and a dense layer; a shortcut within each. */
void case_branches(struct network_case *c);
/* Embedding, two recurrent layers and a projection in three pieces each; pieces of a layer share weights. */
void case_recurrent(struct network_case *c);

/* Makes the graph and the problem: `devices` devices, of which every third is half as fast, two in a
 * node; messages of a node to others stand in a queue, and those from others to it. */
void case_finish(struct network_case *c, uint32_t devices, double samples);
void case_destroy(struct network_case *c);

#endif
