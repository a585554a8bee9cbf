/* SPDX-License-Identifier: Apache-2.0 */
/* A search for the best strategy of a scenario of the workload layers: from data parallelism, from what experts do,
 * from what other methods find and from random strategies. */
#ifndef STAGESIM_STRATEGY_SEARCH_H
#define STAGESIM_STRATEGY_SEARCH_H

#include "job/scenario/scenario.h"
#include "studies/operators/outcome.h"

#include <stdio.h>

enum { STRATEGY_RESTARTS_MAX = 1000 };

/* A strategy of another method to start from, as near as the configurations of the search come to it. */
struct strategy_seed {
    const char *name;
    const uint32_t (*degrees)[2]; /* [layer]: parts along samples, and along channels, which the search takes for those
                                   * of outputs */
};

struct strategy_request {
    const struct scenario *scenario;
    uint64_t budget, seed;             /* evaluations of all starts together */
    uint32_t restarts;                 /* random starts */
    const struct strategy_seed *seeds; /* seed_count of them */
    uint32_t seed_count;
    double temperature; /* seconds; 0: a hundredth of the iteration by data parallelism */
    double time_limit;  /* seconds; 0: none. Ends the search by the clock */
    bool full;          /* without delta simulation */
    bool apart;         /* messages do not wait for links that others use */
};

/* Where a search began and what it came to. */
struct strategy_start {
    char name[24];
    struct metropolis_outcome outcome;
};

/* A strategy. */
struct strategy_row {
    struct task_result result;
    double sent;                          /* bytes */
    struct configuration *configurations; /* [layer] */
};

enum { STRATEGY_DATA, STRATEGY_EXPERT, STRATEGY_BEST, STRATEGY_ROWS };
extern const char *const strategy_names[STRATEGY_ROWS];

struct strategy_table {
    struct strategy_row rows[STRATEGY_ROWS]; /* STRATEGY_BEST: by the task graph */
    struct strategy_start *starts;
    struct strategy_row *bests; /* [start_count]: what each start came to */
    uint32_t start_count, layers;
    uint64_t configurations; /* of all layers together */
    double temperature;
    double processor_seconds; /* that the search took */
    bool stopped;
};

/* In a process of its own, on the platform: what it finds goes to `results`; `request` is a struct strategy_request. */
int strategy_search_body(void *request, struct platform *platform, FILE *results, struct diag *diag);

/* Returns an exit code after every mistake was reported on standard error. The table is the arena's. */
int strategy_search(const struct strategy_request *request, struct strategy_table *table, struct arena *arena);

/* The rows of `split.layers`, one for each layer: "{layer: conv1, sample: 4, devices: [0, 1, 2, 3]}", each behind
 * `before`, apart by `between`. Text of the arena. */
const char *strategy_text(const struct scenario *scenario, const struct strategy_row *row, uint32_t layers,
                          const char *before, const char *between, struct arena *arena);

#endif
