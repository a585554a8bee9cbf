/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates the layouts of a search space on the analytic engine, in several processes, and ranks them. */
#ifndef STAGESIM_SEARCH_H
#define STAGESIM_SEARCH_H

#include "studies/search_space.h"

enum search_status { SEARCH_FITS, SEARCH_DOES_NOT_FIT, SEARCH_ILLEGAL };

enum { SEARCH_REASON_MAX = 240 };

/* One candidate's outcome; plain data, which processes hand over. */
struct search_result {
    uint32_t index; /* of the candidate */
    uint32_t micro_batches;
    enum search_status status;
    uint32_t like; /* a candidate that fits: the one in the ranking with the same time and memory, mostly itself */
    bool pareto;   /* fits, and nothing that fits is both faster and smaller */
    double iteration, samples_per_s;   /* seconds */
    double mfu, bubble;                /* mfu 0: not known */
    double peak_bytes, capacity_bytes; /* of the fullest rank; capacity 0: not known */
    double verified;                   /* iteration on the SimGrid engine; 0: not run */
    char reason[SEARCH_REASON_MAX];    /* SEARCH_ILLEGAL: the first mistake */
};

/* Why candidates are left out. */
struct search_reason {
    uint32_t count;
    const char *text; /* of the first of them; the others differ in numbers at most */
};

struct search {
    const struct scenario *scenario;
    struct search_space space;
    struct search_result *results; /* [space.count]; in the order of candidates */
    uint32_t *ranked; /* [ranked_count]: candidates that fit, the fastest first; of those with equal time and memory
                         only the first */
    uint32_t ranked_count, fit_count, unfit_count, illegal_count;
    struct search_reason *reasons; /* of the illegal ones, the most frequent first */
    size_t reason_count;
};

/* Evaluates all candidates in `jobs` processes and ranks them; the outcome does not depend on their number. Returns an
 * exit code after every mistake was reported on standard error. Memory from the arena. */
int search_run(struct search *search, const struct scenario *scenario, unsigned jobs, bool quiet, struct arena *arena);

/* Simulates the best `count` on the SimGrid engine and ranks them by it. Returns an exit code. */
int search_verify(struct search *search, uint32_t count, bool quiet, struct arena *arena);

#endif
