/* SPDX-License-Identifier: Apache-2.0 */
/* Shardings of the embedding tables of a scenario of the workload dlrm: proposed, timed and ranked. */
#ifndef STAGESIM_SHARDINGS_H
#define STAGESIM_SHARDINGS_H

#include "job/scenario/scenario.h"

struct arena;

/* What is proposed. */
enum shardings_method {
    SHARDINGS_GREEDY,   /* whole tables */
    SHARDINGS_BALANCED, /* these, tables cut by rows, HugeCTR's planner */
    SHARDINGS_SEARCH,   /* these, and local search from the fastest ones */
};

/* One plan. Times are seconds of an iteration. */
struct sharding_row {
    const char *name;
    double analytic, simgrid; /* NaN: was not asked, or the plan does not fit */
    double computing, mean;   /* seconds that the busiest rank computes, and the mean of all */
    double memory;            /* bytes of the rank that needs most; 0: not known */
    double cost;              /* of HugeCTR's planner, sharding_balanced_cost; NaN of the scenario's own */
    uint32_t cut, replicated; /* tables */
    bool fits;                /* true where the capacity is not known */
    const char *yaml, *csv;   /* the plan as rules; yaml is empty of the scenario's own */
};

struct sharding_rows {
    struct sharding_row *rows; /* those that fit by the analytic engine's time, then the others; from the arena */
    size_t count, fitting, simulated; /* SimGrid was asked for the first `simulated` */
    /* No sharding of whole tables is faster than `whole`, seconds: what a rank without tables computes, and the larger
     * of the mean of all tables' lookups and updates and those of the largest table. `mean`: the same without the
     * largest table, which cutting can divide. */
    double whole, mean;
    bool stopped; /* before it was done */
};

/* Proposes, times and orders; then SimGrid simulates the first `top` that fit. Returns an exit code after every mistake
 * was reported on standard error. Stops early when the command awaits interruptions and one comes. */
int shardings_find(const struct scenario *scenario, enum shardings_method method, size_t top,
                   struct sharding_rows *rows, struct arena *arena);

#endif
