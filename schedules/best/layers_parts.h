/* SPDX-License-Identifier: Apache-2.0 */
/* What layers keep; for layers*.c only. */
#ifndef STAGESIM_LAYERS_PARTS_H
#define STAGESIM_LAYERS_PARTS_H

#include "schedules/best/layers.h"

enum { LAYERS_TRACES_MAX = 1 << 23, LAYERS_BYTES_MAX = 1 << 27 };

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

/* States of a layer, one behind the other. */
struct layer {
    char *states;
    size_t capacity;
    uint32_t count;
};

/* How a state of a layer came about. */
struct trace {
    uint32_t parent;
    uint16_t chain;
};

/* What may come next in a state. */
struct step {
    int64_t start, length;
    uint32_t worker;
    uint32_t batch; /* among those under way; the first behind them is new */
    uint32_t held;  /* whose weight gradient; UINT32_MAX: an operation on the way */
    bool limited;   /* a forward that takes room: what comes before it elsewhere on its worker matters */
};

struct layers {
    struct way *way;
    size_t size;      /* of a state */
    uint32_t of_each; /* layers of a micro-batch */
    uint32_t all;     /* layers */
    struct layer now, next;
    uint32_t *buckets; /* index + 1 in `next`; 0: none */
    uint32_t bucket_count;
    struct step *steps;
    size_t step_capacity;
    uint32_t *kept; /* scratch */
    size_t kept_capacity;
    struct trace *traces; /* [layer x width]; NULL: nobody asks */
    uint32_t made;        /* states since the budget was asked */
};

static inline struct state *layers_state(const struct layers *layers, const struct layer *layer, uint32_t index)
{
    return (struct state *)(layer->states + index * layers->size);
}

static inline uint32_t *layers_bucket(const struct layers *layers, const struct state *state)
{
    return &layers->buckets[state->key & (layers->bucket_count - 1)];
}

/* ---- layers.c ---- */

/* `now` is then the one state in which nothing has been done. */
void layers_start(struct layers *layers);
void layers_give_back(struct layers *layers);
/* From `now` to `next`; false: too many states, or the budget is spent. */
bool layers_pass(struct layers *layers, const struct layers_request *request, struct budget *budget);
/* `next` becomes `now`, as far as the request keeps it. */
void layers_turn(struct layers *layers, const struct layers_request *request, uint32_t layer);
/* Empty buckets, enough for `now`. */
void layers_begin_buckets(struct layers *layers);
/* Makes the numbers of a state and its key those of what has been done. */
void layers_settle(const struct way *way, struct state *state);
bool layers_same_done(const struct way *way, struct state *a, struct state *b);

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
