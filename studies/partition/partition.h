/* SPDX-License-Identifier: Apache-2.0 */
/* How each layer of a network is divided between two groups of devices, and again within the groups: AccPar (Song et
 * al., HPCA 2020, DOI 10.1109/HPCA47549.2020.00036) with its types, costs and dynamic program; and what it is compared
 * with. On each of H levels every group is divided in two, so that 2^H devices share the network. */
#ifndef STAGESIM_PARTITION_PARTITION_H
#define STAGESIM_PARTITION_PARTITION_H

#include "studies/partition/exchange.h"
#include "studies/partition/pairwise.h"

enum { PARTITION_LEVELS_MAX = 12, PARTITION_KINDS = 2 };

/* What a layer is to a method. A layer without weights, or that works channel by channel, is divided by samples or by
 * channels (type III), and nothing is summed. */
enum partition_role { PARTITION_PASSIVE, PARTITION_CONVOLUTION /* or any that is not dense */, PARTITION_DENSE };

/* A layer and the elements of its tensors, of all samples. */
struct partition_layer {
    enum partition_role role;
    double weights, inputs, outputs;
    double seconds[PARTITION_KINDS]; /* of all its computing, on all devices of a kind together */
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

/* The devices, two to the power of `levels`. With two kinds each has half of them: on level 0 the kinds are divided, on
 * the levels below both alike. */
struct partition_devices {
    uint32_t levels, kinds;
    double element_bytes;
    double fixed[PARTITION_KINDS]; /* seconds of the devices of each kind that no share changes */
    /* Bytes per second that all devices of the first and of the second group of a pair receive from the other one; on
     * level 0 of its one pair, below of a pair of each kind: [level][kind][side]. */
    double bandwidth[PARTITION_LEVELS_MAX][PARTITION_KINDS][2];
};

enum partition_method { PARTITION_DATA, PARTITION_OWT, PARTITION_HYPAR, PARTITION_ACCPAR };

struct partition_level {
    uint8_t *types;                     /* [layer]: enum partition_type */
    double share;                       /* of the first group of a pair */
    double seconds[PARTITION_KINDS];    /* of communication, of the devices of each kind */
    struct partition_exchange elements; /* of a pair of the first kind */
};

struct partition {
    uint32_t levels, kinds;
    struct partition_level level[PARTITION_LEVELS_MAX];
    double computing[PARTITION_KINDS]; /* seconds, with those that no share changes */
    bool balanced; /* the share of level 0 makes both groups' computing and communication there equally long */
};

/* One of two groups: seconds of all computing on it, seconds that its share does not change, bytes per second. */
struct partition_side {
    double seconds, fixed, bandwidth;
};

/* The first group's share a of the work with which both groups take equally long,
 *
 *     a C_1 + K_1 + V_1(a) / B_1 = (1 - a) C_2 + K_2 + V_2(1 - a) / B_2
 *
 * with the seconds C of all computing on one group, what K its share does not change, the bytes V that a group
 * receives, and its bandwidth B: a quadratic equation. Of two such shares that with the shorter time; where there is
 * none, C_2 / (C_1 + C_2) and *balanced is false. */
double partition_share(const struct partition_side sides[2], const struct partition_exchange *exchange,
                       double element_bytes, bool *balanced);

/* Level by level: the types with which the mean of both groups' times is least. Data is type I everywhere, OWT type I
 * for convolutions and II for dense layers (Krizhevsky, arXiv 1404.5997), HyPar types I and II (Song et al., HPCA
 * 2019), all in halves. AccPar takes all three types, and between two kinds the share that makes both groups' times
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
