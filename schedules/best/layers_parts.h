/* SPDX-License-Identifier: Apache-2.0 */
/* What layers keep; for layers*.c only. */
#ifndef STAGESIM_LAYERS_PARTS_H
#define STAGESIM_LAYERS_PARTS_H

#include "schedules/best/layers.h"

/* An operation on the way of a micro-batch through all stages and back, of a worker that does not only delay. */
struct point {
    uint32_t stage, kind, worker;
    int64_t length;
    int64_t lag;  /* from the end of the point before, through what only delays; of the first: from time 0 */
    int64_t rest; /* from its start to the end of everything, at least */
};

/* A stage on a worker that keeps to all. */
struct held_stage {
    uint32_t stage, worker;
    uint32_t forward, backward; /* points */
    int64_t weight;             /* length of its weight gradient; 0 where backwards are whole */
    int64_t stay;               /* of a stash at least */
};

/* What is the same for all states. */
struct way {
    const struct instance *instance;
    struct point *points;
    uint32_t count;
    struct held_stage *stages; /* by worker, then by stage */
    uint32_t stage_count;
    uint32_t *first_stage, *last_stage; /* [worker]: in `stages`; alike: none */
    enum layers_keeps *keeps;           /* [worker] */
    uint32_t most_under_way;            /* micro-batches, for which states have room */
    bool splits;                        /* backwards have weight gradients */
    bool ties; /* everything takes time: of what starts at the same time, that of the first worker is decided first */
    int64_t *work;     /* [point x workers + worker]: what a worker has to do from that point on */
    int64_t *release;  /* [point x stage_count + held stage]: from the start of the point to the end of its release */
    int64_t *all_work; /* [worker]: of a micro-batch */
    int64_t *all_stay; /* [worker] */
    int64_t *shortest; /* [worker]: what releases a stash */
};

/* Of a state: how far each micro-batch under way has come, in order; then everything by the address that state_* give.
 * All of it is in one piece of `size` bytes. */
struct state {
    uint64_t key;
    double seems;       /* smaller is better */
    uint32_t begun;     /* micro-batches that have started */
    uint32_t under_way; /* of these: not through; they are the last */
    uint32_t parent;    /* in the layer before */
    uint32_t chain;     /* what was done last */
    uint32_t next;      /* index + 1 of the next one with a similar key; 0: none */
    bool dead;          /* another one stands for it */
    int64_t numbers[];  /* [worker] free from; [under way] ready from; then uint16_t [under way] next point;
                           [held stage] weight gradients that are left to do */
};

static inline int64_t *state_free(struct state *state)
{
    return state->numbers;
}

static inline int64_t *state_ready(const struct way *way, struct state *state)
{
    return state->numbers + way->instance->workers;
}

static inline uint16_t *state_place(const struct way *way, struct state *state)
{
    return (uint16_t *)(state->numbers + way->instance->workers + way->most_under_way);
}

static inline uint16_t *state_left(const struct way *way, struct state *state)
{
    return state_place(way, state) + way->most_under_way;
}

static inline size_t state_size(const struct way *way)
{
    size_t numbers = way->instance->workers + (size_t)way->most_under_way;
    size_t bytes = (way->most_under_way + (size_t)way->stage_count) * sizeof(uint16_t);
    return sizeof(struct state) + (numbers + (bytes + sizeof(int64_t) - 1) / sizeof(int64_t)) * sizeof(int64_t);
}

/* ---- layers_way.c ---- */

struct way *way_create(const struct instance *instance, const enum layers_keeps *keeps);
void way_finish(struct way *way);

/* When everything can be done at the earliest after a state; fills what it seems. */
int64_t way_bound(const struct way *way, struct state *state, double lean);
/* Stashes that a worker holds that keeps to all. */
uint32_t way_held(const struct way *way, struct state *state, uint32_t worker);
/* Whether all micro-batches under way can still get through within the limit of a worker, the first one first. As none
 * overtakes another, there is no other way. */
bool way_is_open(const struct way *way, struct state *state, uint32_t worker);

#endif
