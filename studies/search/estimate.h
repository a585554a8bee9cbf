/* SPDX-License-Identifier: Apache-2.0 */
/* How long a search still takes: what candidates of each class have cost in the last seconds, times those that are
 * left, of all steps to the end. What is not known yet follows from bounds and from what is like it. */
#ifndef STAGESIM_SEARCH_ESTIMATE_H
#define STAGESIM_SEARCH_ESTIMATE_H

#include "studies/search/bounds.h"
#include "studies/search/space.h"
#include "studies/search/table.h"

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

/* Of both steps in processes, the first of which looks at candidates and the second times some, and of what follows in
 * one process. */
struct search_forecast {
    struct search_estimate looks, timings;
    uint32_t exposed, simulated; /* layouts that are evaluated once more; that are simulated with contention */
};

/* Seconds; negative: nothing is known. `least`: perhaps more, for something was not done even once. */
struct search_rest {
    double seconds;
    bool least;
};

/* As search_estimate_left, of the whole search; spent[2] on looks and on timings. */
struct search_rest search_forecast_rest(struct search_forecast *forecast, struct search_spent *spent,
                                        unsigned processes, double now);

/* Candidates that have been looked at and wait: how many of each class will be asked for their time, beside those that
 * were. Bounds so far say it, and those that would be there if times were close to what is known of candidates. Of many
 * candidates a sample. */
struct search_waiting {
    const struct search_table *table;
    const struct search_space *space;
    const struct scenario *scenario;
    struct search_bounds *bounds; /* so far */
    uint32_t kept;                /* of the best */
    bool exhaustive;              /* bounds discard nothing */
    double looked;                /* share of all that has been looked at */
};
void search_forecast_timings(struct search_forecast *forecast, struct search_spent *timings,
                             const struct search_waiting *waiting);

/* Seconds of a processor that all candidates are likely to take. */
double search_likely_cost(const struct search_space *space, const struct scenario *scenario);

#endif
