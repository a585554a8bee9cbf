/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of the lowering of split layers share. */
#ifndef STAGESIM_LAYERS_SPLIT_STEPS_H
#define STAGESIM_LAYERS_SPLIT_STEPS_H

#include "workloads/layers/transfers.h"

/* A transfer in the running micro-batch. */
struct split_transfer {
    const struct layers_transfer *transfer;
    uint32_t cost;
    uint32_t arrived;  /* what the reader waits for, on its rank; STAGESIM_NONE: nothing */
    uint32_t returned; /* the same of the gradient, on the source's rank */
};

/* A layer in the running micro-batch. Arrays are [part]. */
struct split_layer {
    const struct layer_split *split;
    const struct layer_part *parts;
    uint32_t *forward, *backward; /* costs */
    uint32_t *group, *exchange;   /* parts whose results are exchanged, and the cost of that; STAGESIM_NONE */
    uint32_t *computed;           /* the newest computation */
    uint32_t *ended;              /* what ends with its result: itself, or the exchange behind it */
    struct split_transfer *read;  /* that the layer reads */
    size_t read_count;
    struct split_transfer **written; /* that others read of the layer */
    size_t written_count;
};

enum { GROUPS_TABLE = 1 << 16 };

/* Ranks that exchange something. */
struct split_group {
    uint32_t *ranks; /* ascending */
    uint32_t count, id;
    uint64_t hash;
    uint32_t next;  /* 1 + a group with the same place in the table; 0: none */
    double bytes;   /* of gradients that wait for more */
    uint32_t layer; /* the last layer of these */
};

/* Gradients that replicas of weights add up together. */
struct split_bucket {
    uint32_t group, cost;
    uint32_t layer; /* complete with the backward of this layer */
};

/* A rank. */
struct split_rank {
    const struct efficiency_device *device;
    double parameters;
    uint32_t optimizer; /* cost */
    uint32_t last;      /* newest computation */
    uint32_t step;      /* the optimizer's newest */
};

struct split_steps {
    const struct layers_job *j;
    const struct layers_strategy *strategy;
    struct split_layer *layers;
    struct split_rank *ranks;
    struct split_group *groups;
    size_t group_count, group_capacity;
    uint32_t *table;              /* [hash % GROUPS_TABLE]: 1 + a group; 0: none */
    struct split_bucket *buckets; /* in the order in which they are complete */
    size_t bucket_count, bucket_capacity;
    double samples; /* of a micro-batch of all ranks */
    uint32_t iteration;
};

/* ---- split_groups.c ---- */

/* The number of the group of these ranks, in any order; they are sorted. */
uint32_t split_group_find(struct split_steps *s, uint32_t *ranks, uint32_t count);
/* The groups of replicas of each layer's weights, their buckets, and what each rank holds of parameters. */
void split_buckets_create(struct split_steps *s);
void split_groups_destroy(struct split_steps *s);

/* ---- split_passes.c ---- */

/* All operations of an iteration. */
void split_add_iteration(struct split_steps *s);

#endif
