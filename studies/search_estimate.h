/* SPDX-License-Identifier: Apache-2.0 */
/* How long a search still takes: what candidates of each class have cost in the last seconds, times those that are
 * left. Before anything is known, what they are likely to cost. */
#ifndef STAGESIM_SEARCH_ESTIMATE_H
#define STAGESIM_SEARCH_ESTIMATE_H

#include "studies/search_space.h"

#include <stdatomic.h>

enum { ESTIMATE_SECONDS = 10 };

/* Filled by all processes, for each step of the search; zeroed at first. */
struct search_spent {
    _Atomic uint64_t count[SEARCH_CLASSES], nanoseconds[SEARCH_CLASSES];
};

/* Notes what a candidate took. */
void search_spent_add(struct search_spent *spent, unsigned class, double seconds);

/* What the one who estimates remembers: what had been spent at each of the last seconds. */
struct search_estimate {
    uint64_t total[SEARCH_CLASSES]; /* candidates of the step */
    struct {
        uint64_t count[SEARCH_CLASSES], nanoseconds[SEARCH_CLASSES];
    } past[ESTIMATE_SECONDS];
    unsigned pasts;
    double noted; /* when the last of them was noted */
};

/* To be asked at least every second, `now` in seconds: what is left of the step for so many processes, in seconds;
 * negative: nothing is known of what is left. */
double search_estimate_left(struct search_estimate *estimate, struct search_spent *spent, unsigned processes,
                            double now);

/* Seconds of a processor that all candidates are likely to take. */
double search_likely_cost(const struct search_space *space, const struct scenario *scenario);

#endif
