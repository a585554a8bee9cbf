/* SPDX-License-Identifier: Apache-2.0 */
/* Which devices hold the same part of a layer's weights, and what their all-reduces take. */
#ifndef STAGESIM_REPLICAS_H
#define STAGESIM_REPLICAS_H

#include "studies/operators/operators.h"

/* Sets of devices that all-reduce with each other, numbered as they appear; times are remembered. */
struct replica_groups;

struct replica_groups *replica_groups_create(const struct operators *o);
void replica_groups_destroy(struct replica_groups *groups);
uint32_t replica_groups_count(const struct replica_groups *groups);
/* The queues that stand in the way of a ring through its devices, *count of them, each once. */
const uint32_t *replica_group_queues(const struct replica_groups *groups, uint32_t group, uint32_t *count);
/* Seconds of an all-reduce of so many bytes. */
double replica_group_seconds(struct replica_groups *groups, uint32_t group, double bytes);

/* The devices with one part of the weights. */
struct replica_set {
    struct range channels; /* of the outputs that the weights are for */
    uint32_t *devices;     /* ascending, count of them */
    size_t capacity;
    uint32_t count;
    double parameters;
    uint32_t group; /* STAGESIM_NONE: one device alone */
};

struct replicas {
    struct replica_set *sets;
    uint32_t count, made, last; /* last: the set that was found last */
    size_t capacity;
};

struct replicas *replicas_create(void);
void replicas_destroy(struct replicas *replicas);

/* First begin, then add every part that uses the weights, then end, which finds groups. */
void replicas_begin(struct replicas *replicas);
void replicas_add(struct replicas *replicas, const struct layer_part *part, uint32_t device, double parameters);
void replicas_end(struct replicas *replicas, struct replica_groups *groups);
#endif
