/* SPDX-License-Identifier: Apache-2.0 */
/* The fastest layouts that processes of a search have timed so far, and which layouts need not be timed for that. */
#ifndef STAGESIM_SEARCH_BOUNDS_H
#define STAGESIM_SEARCH_BOUNDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { SEARCH_KEPT_MAX = 1000, SEARCH_FRONT_MAX = 4096 };

struct search_point {
    double time, bytes;
};

/* In memory that the processes share, zeroed at first. */
struct search_bounds {
    atomic_flag lock;
    uint32_t kept;  /* K: how many of the fastest are asked for */
    bool fastest;   /* the front is not asked for */
    double ceiling; /* of what takes longer nothing is asked; 0: any time */
    double probed;  /* the least bound that promised much; 0: none did */
    uint32_t best_count, front_count;
    struct search_point best[SEARCH_KEPT_MAX];   /* the fastest different ones, the fastest first */
    struct search_point front[SEARCH_FRONT_MAX]; /* nothing is both faster and smaller; the fastest first */
};

/* Notes a layout that fits. */
void search_bounds_note(struct search_bounds *bounds, double time, double bytes);

/* Whether a layout that takes at least `bound` seconds and that many bytes is slower than the K-th best so far and than
 * one that needs no more memory: it is neither among the best nor on the Pareto front. Where that front is not asked
 * for, the first is enough; where there is a ceiling, so is a bound above it. What this says of fewer layouts it also
 * says of more. */
bool search_bounds_exclude(struct search_bounds *bounds, double bound, double bytes);

/* Whether a layout that fits may be so much faster than the fastest so far that it is better timed at once: then fewer
 * others need be looked at. Says so of few, for each of them has a bound well below those before. */
bool search_bounds_promise(struct search_bounds *bounds, double bound);

#endif
