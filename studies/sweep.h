/* SPDX-License-Identifier: Apache-2.0 */
/* A scenario simulated with every combination of some values. */
#ifndef STAGESIM_SWEEP_H
#define STAGESIM_SWEEP_H

#include "analysis/output/comparison.h"
#include "base/files/journal.h"
#include "job/scenario/scenario.h"
#include "studies/sweep_axis.h"

struct arena;

enum { SWEEP_MOST = 100000 };

enum sweep_status { SWEEP_OPEN, SWEEP_RAN, SWEEP_NOT_RUN };

struct sweep_result {
    enum sweep_status status;
    struct comparison_row row; /* of the engine that simulates contention, where both ran; not run: with the reason */
};

struct sweep_request {
    struct scenario_request scenario; /* with the values that all combinations have */
    const struct sweep_axis *axes;    /* axis_count of them, the last one varying fastest */
    size_t axis_count;
    unsigned jobs;          /* processes at a time */
    bool quiet;             /* no progress */
    double time_limit;      /* seconds; 0: none */
    uint32_t shard, shards; /* only combinations shard - 1, shard - 1 + shards, ...; 1 of 1: all */
    const char *journal;    /* file; NULL: none */
    bool resume;            /* what the journal has need not be done again */
};

struct sweep {
    const struct sweep_request *request;
    struct arena *arena;
    const char *name;             /* of the scenario */
    const struct scenario *base;  /* without what varies; where it needs that, with the first values that make it whole;
                                     NULL: it never is */
    size_t count;                 /* of combinations */
    struct sweep_result *results; /* [count] */
    struct journal_identity identity;
    bool stopped; /* before all were run */
};

/* Prepares a sweep: an exit code after the mistake was reported on standard error. Everything is borrowed, memory is
 * from the arena. */
int sweep_create(struct sweep *sweep, const struct sweep_request *request, struct arena *arena);
/* Runs what is open. A combination that cannot be simulated, whatever the reason, is a result. Ends early when it is
 * interrupted or the time is up. An exit code after the mistake was reported. */
int sweep_run(struct sweep *sweep);
/* Takes the results of journals; *shards becomes the number of parts that they say there are. An exit code after the
 * mistake was reported. */
int sweep_read(struct sweep *sweep, const char *const *files, size_t count, uint32_t *shards);
/* Which of so many parts have combinations without a result; missing[part - 1]. Returns how many. */
uint32_t sweep_missing(const struct sweep *sweep, uint32_t shards, bool *missing);
/* Takes the results of journals, the parts of the same sweep; an exit code after the mistake was reported, also where
 * some are missing. */
int sweep_merge(struct sweep *sweep, const char *const *files, size_t count);

/* Which value of an axis a combination has. */
size_t sweep_value(const struct sweep *sweep, size_t combination, size_t axis);

#endif
