/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of the task graph share: its parts, and when each of them ends. */
#ifndef STAGESIM_TASK_GRAPH_PARTS_H
#define STAGESIM_TASK_GRAPH_PARTS_H

#include "studies/operators/replicas.h"
#include "studies/operators/task_graph.h"

/* What a message takes of its route: the link that sends it is busy for the time of its bytes. */
struct passage {
    double latency, seconds; /* of the way, and of its bytes */
    uint32_t out, in;        /* queues; 0: none */
};

/* A message from part to part; within a device it takes no time. */
struct message {
    uint16_t from, to;   /* parts */
    uint32_t pair, back; /* from device * devices + to device, and the reverse; NONE: within a device */
    double bytes;
    struct passage there, returned;
    double forward_end[2], backward_end[2]; /* arrival of the activation, and of the gradient back at the sender's */
};

/* All messages along an edge. */
struct exchange {
    struct message *messages;
    size_t count, capacity;
};

/* An operator under its configuration. */
struct shape {
    uint32_t choice, count;
    struct layer_part *parts;
    struct part_cost *costs;
    uint32_t *devices;
    double *forward_end[2], *backward_end[2];
};

/* Two of each: one in use, and the one before the newest change. */
struct operator_state {
    struct shape shapes[2];
    struct replicas *replicas[2]; /* of the weights that the layer owns; NULL: it owns none */
    bool shape_used, replicas_used;
};

struct edge_state {
    struct exchange exchanges[2];
    bool used;
};

/* What every `CHECKPOINT_STAGES`th stage begins with: when devices, queues and groups are free again; of pairs, the
 * messages before it say so. A stage is the forward or the backward of a layer. */
enum { CHECKPOINT_STAGES = 8 };

/* When a pair of devices is free, since the pass that used it last; before, from the start. */
struct pair_time {
    double free;
    uint64_t pass;
};

struct checkpoint {
    double *values[2];
    size_t sizes[2], capacities[2];
};

struct task_graph {
    const struct operators *o;
    struct operator_state *operators; /* [layer] */
    struct edge_state *edges;         /* [edge] */
    struct replica_groups *groups;
    uint32_t *choices;
    double *state;     /* device_free, synchronised, queue_free, group_states */
    size_t state_size; /* numbers in use; those of groups are last */
    size_t state_capacity;
    struct pair_time *pairs;        /* [from * devices + to] */
    uint64_t pass;                  /* number of the newest timing */
    struct checkpoint *checkpoints; /* [stage / CHECKPOINT_STAGES] */
    /* Times have two places, so that those of before the newest change can be taken back: [stage], which of them holds,
     * also for a checkpoint at the stage. */
    uint8_t *sides;
    uint32_t *last_owner; /* [group]: whose gradients are the last */
    size_t last_capacity;
    uint32_t changed, first; /* the layer of the newest change, the first stage that was timed again */
    bool together;           /* it was a change of all that are alike */
    uint32_t *previous;      /* the choices before it */
    double *ready;           /* scratch, [part] */
    double *sums;            /* scratch, [device] */
    double *left;            /* [device]: seconds that it has to compute yet */
    size_t room;             /* messages that the strategy may have yet */
    bool crowded;            /* it has more of them */
    double limit;            /* an iteration that takes longer need not be timed to its end */
    struct task_counts counts;
};

static inline struct shape *shape_of(const struct task_graph *g, uint32_t layer)
{
    return &g->operators[layer].shapes[g->operators[layer].shape_used];
}

static inline struct exchange *exchange_of(const struct task_graph *g, uint32_t edge)
{
    return &g->edges[edge].exchanges[g->edges[edge].used];
}

static inline struct replicas *replicas_of(const struct task_graph *g, uint32_t layer)
{
    return g->operators[layer].replicas[g->operators[layer].replicas_used];
}

static inline uint32_t stages_of(const struct task_graph *g)
{
    return 2 * g->o->graph->count;
}

/* Where the parts of the state begin. */
static inline double *device_free(const struct task_graph *g)
{
    return g->state;
}

static inline double *synchronised(const struct task_graph *g)
{
    return g->state + g->o->devices;
}

/* ---- task_times.c ---- */

/* Times all stages from `first`, or a little before it, on. `other`: the times before were in the other place. False
 * when it was seen on the way that the iteration takes longer than `limit`. */
bool task_times_from(struct task_graph *graph, uint32_t first, bool other);
/* Whether no device computes for longer than `limit` in all. */
bool task_times_may_keep(struct task_graph *graph);

#endif
