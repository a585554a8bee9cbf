/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of one rank over time: what it holds for the whole run plus what operations take and give back. */
#ifndef STAGESIM_MEMORY_USE_H
#define STAGESIM_MEMORY_USE_H

#include "simulator/program/timeline.h"

struct arena;

struct memory_peak {
    double bytes;     /* static memory included */
    double in_flight; /* micro-batch activations of one worker's share */
};

/* A moment at which a rank's memory changes. */
struct memory_step {
    double time;
    double bytes, stash; /* taken (positive) or given back (negative) */
};

/* Operations with a memory effect, per position; the same for all replicas. */
struct memory_use;

/* Memory from the arena; the timeline is borrowed. */
struct memory_use *memory_use_create(const struct timeline *timeline, struct arena *arena);
/* The changes of a simulated rank's memory in the order of time, giving back before taking; `count` of them. Valid
 * until the next call. An operation takes at its start (a receive when data begin to arrive) and gives back at its end.
 */
const struct memory_step *memory_use_steps(struct memory_use *use, uint32_t entry, size_t *count);
/* The largest sums of a simulated rank. */
struct memory_peak memory_use_peak(struct memory_use *use, uint32_t entry);

#endif
