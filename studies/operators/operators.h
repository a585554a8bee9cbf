/* SPDX-License-Identifier: Apache-2.0 */
/* Strategies per operator, as FlexFlow has them (Jia, Zaharia and Aiken, MLSys 2019, arXiv 1807.05358): every operator
 * of a network is divided along samples, height, width and output channels in a way of its own, and lies on devices of
 * its own. Here: the network on its devices, and the configurations that an operator may have. */
#ifndef STAGESIM_OPERATORS_H
#define STAGESIM_OPERATORS_H

#include "studies/operators/outcome.h"
#include "workloads/layers/split.h"

/* What a part of an operator takes on a device. */
struct part_cost {
    double forward, backward; /* seconds */
    double parameters;        /* that it holds */
    double activation;        /* bytes that it keeps from the forward to the backward */
};

/* Times come from the caller: those of the workload and the platform, or those of a test. Seconds and bytes. */
struct operator_costs {
    void *user;
    struct part_cost (*part)(void *user, uint32_t layer, const struct layer_part *part, uint32_t device);
    /* An all-reduce of so many bytes among devices, in ascending order. */
    double (*all_reduce)(void *user, const uint32_t *devices, uint32_t count, double bytes);
    /* The optimizer's step over so many parameters. */
    double (*update)(void *user, uint32_t device, double parameters);
};

/* A route between two devices. */
struct operator_route {
    double latency, seconds_per_byte;
    uint32_t out, in; /* queues that its messages stand in, of links that routes share; 0: none */
};

/* The configurations of an operator, and of all that share its weights: these change together. */
struct operator_space {
    struct configuration *configurations; /* those of few parts first */
    uint32_t count;
};

/* An edge of the network with both its ends. */
struct operator_edge {
    const struct layer_edge *edge;
    uint32_t source, reader;
};

struct operators {
    const struct layers_graph *graph;
    double samples;                     /* of an iteration */
    double element_bytes;               /* of activations */
    double gradient_bytes, state_bytes; /* of a parameter: what is synchronised; weight, gradient and optimizer */
    bool overlap;                       /* gradients are synchronised while the backward goes on; otherwise behind it */
    double bucket;                      /* bytes of gradients that are synchronised together, at least */
    uint32_t devices;
    const struct operator_route *routes; /* [from * devices + to] */
    uint32_t queues;                     /* their numbers are 1 to this */
    const uint32_t *kinds;               /* [device]: devices of one kind take the same time for the same work */
    double capacity;                     /* bytes of memory of a device; 0: not known */
    size_t messages_most;                /* strategies with more messages in a forward are not timed; 0: all are */
    struct operator_costs costs;

    /* Filled by operators_prepare. */
    struct operator_space *spaces; /* [layer]; the same for layers that change together, owned by the first of them */
    struct operator_edge *edges;   /* by reader, as the graph has them */
    uint32_t edge_count;
    uint32_t *first_read;              /* [layer + 1]: first of the edges that end at a layer */
    uint32_t *written, *first_written; /* numbers of edges that start at a layer, [first_written[layer]] and on */
    uint32_t *users, *first_user;      /* layers that use the weights of a layer */
    uint32_t *classes;                 /* [layer]: the first that is like it, of the units that may change together */
    uint32_t *alike;                   /* [edge]: the edge before it between layers of the same two classes that carries
                                          the same wherever both ends are divided alike; STAGESIM_NONE: none */
};

/* Lists the configurations and the edges. The fields above are set; operators_finish frees what this allocates. */
void operators_prepare(struct operators *o);
void operators_finish(struct operators *o);

/* Devices of the parts, at most OPERATORS_DEVICES_MAX of them, and the split itself, which borrows them. */
struct layer_split configuration_split(const struct configuration *configuration, uint32_t *devices);
/* The number of the configuration in a layer's space; STAGESIM_NONE where it is not there. */
uint32_t operator_find(const struct operators *o, uint32_t layer, const struct configuration *wanted);
/* The classes and edges that are alike, for operators_prepare. Operators are alike that have the same work, shape,
 * window and configurations, and read as many tensors of operators that are alike, or of themselves. */
void operators_classify(struct operators *o);
/* The first of the layers that change together with a layer. */
uint32_t operator_unit(const struct operators *o, uint32_t layer);

#endif
