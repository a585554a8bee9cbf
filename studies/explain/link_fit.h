/* SPDX-License-Identifier: Apache-2.0 */
/* What the links of each kind reached in a measured step, fitted to its messages and collectives: the share of the
 * platform's rate and the factor on its latency with which the scenario's own transfers, alone, take what was measured.
 */
#ifndef STAGESIM_EXPLAIN_LINK_FIT_H
#define STAGESIM_EXPLAIN_LINK_FIT_H

#include "job/scenario/scenario.h"
#include "studies/explain/expected.h"

struct arena;

enum { LINK_KINDS_MAX = 12 };

struct link_level {
    const char *kind;       /* of links: "nic" */
    double rate, low, high; /* of the rate that the scenario gives them: the value, and where it lies in 8 of 10
                               cases; NaN: too few transfers to say */
    double latency;         /* the same factor on their latency, where latency_count is not 0 */
    size_t rate_count;      /* transfers that they were fitted to; 0: nothing tells */
    size_t latency_count;
    bool at_limit; /* no wire carries more */
};

struct link_fit {
    struct link_level levels[LINK_KINDS_MAX]; /* count of them: those of which something is known */
    size_t count;
};

/* Of the trace's messages and collectives, by their own seconds, [operation]. `shared`, [operation], is what they take
 * beside each other on the scenario's network (NaN: not known): those that others are in the way of do not count.
 * Returns an exit code after every mistake was reported on standard error. Memory from the arena. */
int link_fit_find(const struct scenario *scenario, const struct recorded *trace, const double *own,
                  const double *shared, struct arena *arena, struct link_fit *fit);

#endif
