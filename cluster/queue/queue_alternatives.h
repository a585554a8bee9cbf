/* SPDX-License-Identifier: Apache-2.0 */
/* What another cluster, policy or budget would bring: the same jobs once more for each. */
#ifndef STAGESIM_QUEUE_ALTERNATIVES_H
#define STAGESIM_QUEUE_ALTERNATIVES_H

#include "cluster/queue/queue_scenario.h"
#include "cluster/scheduling/figures.h"

enum { ALTERNATIVES_MAX = 16 };

struct queue_alternative {
    const char *what;   /* "with 18.8 % more nodes (19)" */
    const char *set;    /* the change of the scenario: KEY=VALUE */
    const char *reason; /* why it could not be; NULL: it was run */
    double wait, median, completion, allocated, useful, joules, grams, cost;
};

struct queue_alternatives {
    struct queue_alternative rows[ALTERNATIVES_MAX];
    size_t count;
};

/* Of a run with these figures on so many nodes. Memory from the arena. */
struct queue_alternatives queue_alternatives_run(const struct scenario *scenario, struct platform *platform,
                                                 const struct queue_run *run, struct arena *arena);

#endif
