/* SPDX-License-Identifier: Apache-2.0 */
/* How early an operation can start at least and how much has to follow it at least: longest paths, and on each worker
 * the work that has to come before or behind. From these the preemptive one-machine bound (Jackson 1955; Carlier 1982)
 * says when a worker can be done with all that is left, and with what follows it elsewhere. */
#ifndef STAGESIM_BEST_BOUND_H
#define STAGESIM_BEST_BOUND_H

#include "schedules/best/instance.h"

/* What has been decided so far. */
struct progress_state {
    uint32_t *done; /* [chain = kind x stages + stage]: operations that have a start */
    int64_t *ends;  /* [operation] of those */
    int64_t *free;  /* [worker] */
    uint32_t *held; /* [worker]: forwards begun and not released */
};

struct bound;

/* Memory is the arena's. */
struct bound *bound_create(const struct instance *instance, struct arena *arena);

/* Looks only at a part from now on: what has not been decided in `from`, up to the to[chain]-th operation of each
 * chain. What is behind keeps its place: after[worker] is the time that it needs from its start on that worker to the
 * end of everything, tails[operation] of each of its operations from its end. */
void bound_part(struct bound *bound, const struct progress_state *from, const uint32_t *to, const int64_t *after,
                const int64_t *tails);
/* Where the part ends: [chain]. */
const uint32_t *bound_to(const struct bound *bound);

/* From the end of each operation to the end of everything, at least: [operation]. Does not change. */
const int64_t *bound_tails(const struct bound *bound);
/* Earliest starts of what has not been decided, after bound_heads: [operation]. */
const int64_t *bound_earliest(const struct bound *bound);

/* Computes the earliest starts. The end of everything as far as they tell: where that is after `most` the rest is left
 * out; INT64_MAX: the limit leaves nothing possible. */
int64_t bound_heads(struct bound *bound, const struct progress_state *state, int64_t most);
/* The one-machine bound of a worker after bound_heads. */
int64_t bound_worker(struct bound *bound, const struct progress_state *state, uint32_t worker);

/* The bound before anything is decided: the largest of the above; INT64_MAX: nothing is possible. */
int64_t bound_root(struct bound *bound);

#endif
