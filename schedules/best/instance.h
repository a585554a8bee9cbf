/* SPDX-License-Identifier: Apache-2.0 */
/* The search for the best order as a job shop in integers. Workers are machines. Each stage and micro-batch has an F, a
 * B and, where the backward is split, a W. They run in that order; F also waits for the F of the stage before, B for
 * the B of the stage behind, with `latency` in between where the worker is another one. A worker runs one operation at
 * a time. When it starts an F, fewer than its limit of its F may be begun and not released; the end of B releases, of W
 * where the backward is split. Micro-batches are alike, so the k-th operation of a kind and stage is that of
 * micro-batch k: exchanging two of them changes no time and no number of stashes. */
#ifndef STAGESIM_BEST_INSTANCE_H
#define STAGESIM_BEST_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum { BEST_FORWARD, BEST_BACKWARD, BEST_WEIGHT, BEST_KINDS };

struct instance {
    uint32_t workers, stages, batches;
    uint32_t kinds;              /* 2, or 3 where the backward is split */
    const uint32_t *worker_of;   /* [stage] */
    int64_t *length[BEST_KINDS]; /* [stage] of F, of B (the input gradient where it is split), of W; in units */
    int64_t latency;             /* in units */
    uint32_t *limits;            /* [worker]: stashes of a stage and micro-batch that it may hold; 0: any number */
    double unit;                 /* of the caller's time */
    bool exact;                  /* all times are whole multiples of `unit` */
    /* Derived. */
    uint32_t operations;   /* kinds x stages x batches */
    uint32_t *stage_count; /* [worker] */
    uint32_t **stages_of;  /* [worker][i]: its stages, rising */
    bool one_each;         /* no worker has more than one stage: the limit is then a precedence */
};

/* What an instance is made from; times in any one unit, arrays have an entry per stage, weight NULL: not split. */
struct instance_request {
    uint32_t workers, stages, batches;
    const uint32_t *worker_of;
    const double *forward, *backward, *weight; /* backward is the whole backward */
    double latency;
    uint32_t limit;         /* of every worker, in stashes of one stage and micro-batch; 0: none */
    const uint32_t *limits; /* [worker], in its place; NULL: they are alike */
};

/* Memory is the arena's. Where the times have no common unit that keeps sums exact, they are rounded to a unit of less
 * than 1e-7 of the longest one, and `exact` is false: every time is then off by up to half a unit. */
struct instance *instance_create(const struct instance_request *request, struct arena *arena);

static inline uint32_t operation_of(const struct instance *instance, uint32_t kind, uint32_t stage, uint32_t batch)
{
    return (kind * instance->stages + stage) * instance->batches + batch;
}

/* An operation's parts. */
static inline uint32_t operation_batch(const struct instance *instance, uint32_t operation)
{
    return operation % instance->batches;
}

static inline uint32_t operation_stage(const struct instance *instance, uint32_t operation)
{
    return operation / instance->batches % instance->stages;
}

static inline uint32_t operation_kind(const struct instance *instance, uint32_t operation)
{
    return operation / instance->batches / instance->stages;
}

static inline int64_t operation_length(const struct instance *instance, uint32_t operation)
{
    uint32_t chain = operation / instance->batches;
    return instance->length[chain / instance->stages][chain % instance->stages];
}

/* The time from the end of an operation in one stage to the arrival in another. */
static inline int64_t instance_lag(const struct instance *instance, uint32_t from, uint32_t to)
{
    return instance->worker_of[from] == instance->worker_of[to] ? 0 : instance->latency;
}

/* The limit of a stage's worker. */
static inline uint32_t instance_limit(const struct instance *instance, uint32_t stage)
{
    return instance->limits[instance->worker_of[stage]];
}

/* Whether a stage's worker shares its limit among several stages, or may: the limit is then no precedence. */
static inline bool instance_shares_limit(const struct instance *instance, uint32_t stage)
{
    return instance_limit(instance, stage) && !instance->one_each;
}

/* The kind whose end releases a stash. */
static inline uint32_t instance_release(const struct instance *instance)
{
    return instance->kinds - 1;
}

/* How long a stash of each stage stays at least: from the start of its forward, through all stages behind it and back,
 * to the end of what releases it ([stage]). */
void instance_stays(const struct instance *instance, int64_t *stays);

static inline int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A number that seems random, for the key of what is compared by it. */
static inline uint64_t instance_mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

/* What every worker does, in order: chains (kind x stages + stage) whose next operation is meant. */
struct words {
    uint32_t *count;   /* [worker] */
    uint16_t **chains; /* [worker][i] */
};

struct words *words_create(const struct instance *instance, struct arena *arena);
void words_copy(const struct instance *instance, struct words *to, const struct words *from);

/* Every worker does all of its operations. */
void words_full(const struct instance *instance, struct words *words);

/* The words of operations in the order in which they were decided: their chains. */
void words_of_chains(const struct instance *instance, const uint16_t *chains, uint32_t count, struct words *words);

/* How long the rest takes from the end of each operation of words that are valid, all in their order: [operation]. */
void words_tails(const struct instance *instance, const struct words *words, int64_t *tails);

/* When all is done if every worker runs its word as early as possible; -1 where the words dead-lock or break the limit.
 * `starts` ([operation]) is filled where it is not NULL; `scratch` holds `operations` numbers. */
int64_t words_makespan(const struct instance *instance, const struct words *words, int64_t *starts, int64_t *scratch);

#endif
