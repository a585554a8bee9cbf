/* SPDX-License-Identifier: Apache-2.0 */
/* How each layer of a network is divided between two groups of devices, and again within the groups: AccPar (Song et
 * al., HPCA 2020, DOI 10.1109/HPCA47549.2020.00036) with its types, costs and dynamic program; and what it is compared
 * with. On each of H levels every group is divided, in two where the number of devices allows it. */
#ifndef STAGESIM_PARTITION_PARTITION_H
#define STAGESIM_PARTITION_PARTITION_H

#include "studies/partition/exchange.h"
#include "studies/partition/pairwise.h"

enum { PARTITION_LEVELS_MAX = 12, PARTITION_KINDS = 8 };

/* What a layer is to a method. A layer without weights, or that works channel by channel, is divided by samples or by
 * channels (type III), and nothing is summed. */
enum partition_role { PARTITION_PASSIVE, PARTITION_CONVOLUTION /* or any that is not dense */, PARTITION_DENSE };

/* A layer and the elements of its tensors, of all samples. */
struct partition_layer {
    enum partition_role role;
    double weights, inputs, outputs;
    double seconds[PARTITION_KINDS]; /* of all its computing, on the devices of a group of a kind together */
    uint64_t most[PARTITION_TYPES];  /* parts into which a type may divide it at most; 0: any number */
};

/* A layer reads what another one leaves. */
struct partition_edge {
    uint32_t from, to;
    double elements;
    bool added; /* to the layer's output, like a shortcut, in place of being its input */
    bool tied;  /* nothing is read: both have the same weights, and so the same type */
};

struct partition_network {
    const struct partition_layer *layers;
    uint32_t count;
    const struct partition_edge *edges;
    size_t edge_count;
};

/* The devices. With several kinds level 0 has groups of one kind each, all of as many devices, and the levels below
 * divide all of these alike. */
struct partition_devices {
    uint32_t levels, kinds;
    uint32_t ways[PARTITION_LEVELS_MAX]; /* into how many groups a level divides what the level above leaves */
    uint32_t groups[PARTITION_KINDS];    /* with several kinds: those of each on level 0 */
    double element_bytes;
    double fixed[PARTITION_KINDS]; /* seconds of the devices of each kind that no share changes */
    /* Bytes per second that all devices of a group receive from those beside it: on level 0, with several kinds, of a
     * group of each kind [0][kind][0], otherwise of the first and of the second of two of a kind: [level][kind][side].
     * Of more than two both are the least of them. */
    double bandwidth[PARTITION_LEVELS_MAX][PARTITION_KINDS][2];
};

enum partition_method { PARTITION_DATA, PARTITION_OWT, PARTITION_HYPAR, PARTITION_ACCPAR };

struct partition_level {
    uint8_t *types;                     /* [layer]: enum partition_type */
    double shares[PARTITION_KINDS];     /* of a group of each kind */
    double seconds[PARTITION_KINDS];    /* of communication, of the devices of each kind */
    struct partition_exchange elements; /* of a group of the first kind */
};

struct partition {
    uint32_t levels, kinds;
    struct partition_level level[PARTITION_LEVELS_MAX];
    double computing[PARTITION_KINDS]; /* seconds, with those that no share changes */
    bool balanced; /* the shares of level 0 make all groups' computing and communication there equally long */
};

/* Level by level: the types with which the mean of both groups' times is least. Data is type I everywhere, OWT type I
 * for convolutions and II for dense layers (Krizhevsky, arXiv 1404.5997), HyPar types I and II (Song et al., HPCA
 * 2019), all in equal parts. AccPar takes all three types, and between kinds the shares that make all groups' times
 * equal: the one after the other while the time becomes shorter, from several shares. Among equal costs a layer has the
 * lower type. Returns the number of a layer that cannot be divided so often in this way, or the number of layers when
 * all is well; then the caller frees the result with partition_finish. */
uint32_t partition_find(const struct partition_network *network, const struct partition_devices *devices,
                        enum partition_method method, const struct pairwise_step *order, struct partition *partition);
void partition_finish(struct partition *partition);

/* The order for partition_find; NULL where the network has too many ways beside each other. The caller frees it. */
struct pairwise_step *partition_order(const struct partition_network *network);

/* Seconds of an iteration as the model has it: of the kind that takes longer, computing and the communication of all
 * levels, none of which overlap. */
double partition_seconds(const struct partition *partition);

#endif
