/* SPDX-License-Identifier: Apache-2.0 */
/* Which devices hold the same part of a layer's weights, and what their gradients' all-reduce takes. */
#ifndef STAGESIM_REPLICAS_H
#define STAGESIM_REPLICAS_H

#include "studies/operators/operators.h"

/* Sets of devices that all-reduce with each other, numbered as they appear; times are remembered. */
struct replica_groups;

struct replica_groups *replica_groups_create(const struct operators *o);
void replica_groups_destroy(struct replica_groups *groups);
uint32_t replica_groups_count(const struct replica_groups *groups);

/* The devices with one part of the weights. */
struct replica_set {
    struct range channels; /* of the outputs that the weights are for */
    uint32_t *devices;     /* ascending, count of them */
    uint32_t count;
    double parameters;
    uint32_t group; /* STAGESIM_NONE: one device alone */
    double seconds; /* of the all-reduce */
    double ready;   /* when all gradients are there; the caller's */
};

struct replicas {
    struct replica_set *sets;
    uint32_t count, made;
    size_t capacity;
    uint32_t devices; /* at most as many in a set */
};

struct replicas *replicas_create(uint32_t devices);
void replicas_destroy(struct replicas *replicas);

/* First begin, then add every part that uses the weights, then end, which finds groups and times. */
void replicas_begin(struct replicas *replicas);
void replicas_add(struct replicas *replicas, const struct layer_part *part, uint32_t device, double parameters);
void replicas_end(struct replicas *replicas, struct replica_groups *groups);
/* The set of a part's weights. */
struct replica_set *replicas_find(const struct replicas *replicas, const struct layer_part *part);

#endif
