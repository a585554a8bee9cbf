/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of the lowering of split layers share. */
#ifndef STAGESIM_LAYERS_SPLIT_STEPS_H
#define STAGESIM_LAYERS_SPLIT_STEPS_H

#include "workloads/layers/transfers.h"

/* A transfer. Arrays are [flight]. */
struct split_transfer {
    const struct layers_transfer *transfer;
    uint32_t cost;
    uint32_t *arrived;  /* what the reader waits for, on its rank; STAGESIM_NONE: nothing */
    uint32_t *returned; /* the same of the gradient, on the source's rank */
};

/* A layer. Arrays are [part], or [flight * parts + part]. */
struct split_layer {
    const struct layer_split *split; /* with ranks of the job as devices */
    const struct layer_part *parts;
    uint32_t stage;
    uint32_t *forward, *backward; /* costs */
    uint32_t *input, *weight;     /* costs of a backward in two; STAGESIM_NONE: nothing is left for the second */
    uint32_t *group, *exchange;   /* parts whose results are exchanged, and the cost of that; STAGESIM_NONE */
    uint32_t *computed;           /* of each flight: the newest computation */
    uint32_t *ended;              /* what ends with its result: itself, or the exchange behind it */
    struct split_transfer *read;  /* that the layer reads */
    size_t read_count;
    struct split_transfer **written; /* that others read of the layer */
    size_t written_count;
    size_t bucket, bucket_count; /* those that are complete with its backward: the first one, and how many */
};

enum { GROUPS_TABLE = 1 << 16 };

/* Ranks that exchange something. */
struct split_group {
    uint32_t *ranks; /* ascending */
    uint32_t count, stage, id;
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
    uint32_t worker, place; /* place: among the worker's ranks */
    double parameters;
    uint32_t last; /* newest computation */
};

/* A collective that a rank's optimizer waits for. */
struct split_sync {
    uint32_t rank, operation;
};

/* Layers from `first` on before `end`, on one worker. */
struct split_stage {
    uint32_t first, end, worker;
    uint32_t *left;                /* [iteration]: backwards whose gradients are still to come */
    double *parameters;            /* [place] */
    uint32_t *optimizer, *stepped; /* [place]: a cost, and the newest step */
    struct split_sync *syncs;      /* that the next steps wait for */
    size_t sync_count, sync_capacity;
};

/* A worker of the pipeline: ranks that share the work of its stages. Without a pipeline all ranks are one. */
struct split_worker {
    uint32_t *ranks;                   /* ascending */
    uint32_t stages;                   /* that it has */
    const struct stagesim_slot *slots; /* its order */
    size_t count, next;
    uint32_t *left; /* [iteration]: slots to come */
};

/* What a layer takes on the slowest of its parts, in seconds. */
struct split_times {
    double forward, backward, weight;
};

struct split_steps {
    const struct layers_job *j;
    const struct layers_strategy *strategy; /* devices are ranks of the job */
    struct split_layer *layers;
    struct split_rank *ranks;
    struct split_stage *stages;
    struct split_worker *workers;
    uint32_t stage_count, worker_count, group_size; /* group_size: ranks of a worker */
    struct split_times *times;                      /* [stage * layers + layer] */
    uint32_t flights;    /* micro-batches that are told apart: all of an order, or one where one follows the other */
    uint32_t iterations; /* that an order spells out */
    bool halved;         /* orders have backwards without weight gradients */
    struct stagesim_slot *own; /* the order without a schedule */
    struct split_group *groups;
    size_t group_count, group_capacity;
    uint32_t *table;              /* [hash % GROUPS_TABLE]: 1 + a group; 0: none */
    struct split_bucket *buckets; /* in the order in which they are complete */
    size_t bucket_count, bucket_capacity;
    double samples;     /* of a micro-batch of all ranks of a worker */
    uint32_t iteration; /* the running one, or the first of those that orders spell out */
};

/* ---- split_stages.c ---- */

/* Stages with their layers, workers with their ranks, and the strategy on these ranks, of which each worker has
 * `strategy->ranks`. The caller frees that with strategy_destroy. NULL with the mistake reported. */
struct layers_strategy *split_stages_create(struct split_steps *s, const struct layers_strategy *strategy,
                                            struct layer_part *const *parts);
/* The order in which each worker goes through its stages. False with the mistake reported. */
bool split_orders_create(struct split_steps *s, const struct layers_transfers *transfers);
void split_stages_destroy(struct split_steps *s);

/* ---- split_groups.c ---- */

/* The number of a stage's group of these ranks, in any order; they are sorted. */
uint32_t split_group_find(struct split_steps *s, uint32_t stage, uint32_t *ranks, uint32_t count);
/* The groups of replicas of each layer's weights, their buckets, and what each rank holds of parameters. */
void split_buckets_create(struct split_steps *s);
void split_groups_destroy(struct split_steps *s);

/* ---- split_passes.c ---- */

/* All operations of an iteration, or of as many as orders spell out. */
void split_add_iterations(struct split_steps *s);

#endif
