/* SPDX-License-Identifier: Apache-2.0 */
/* What the links of each kind reached in a measured step, fitted to its messages and collectives: the share of the
 * platform's rate and the factor on its latency with which the scenario's own transfers, alone, take what was measured.
 */
#ifndef STAGESIM_EXPLAIN_LINK_FIT_H
#define STAGESIM_EXPLAIN_LINK_FIT_H

#include "job/scenario/scenario.h"
#include "studies/calibrate/link_kinds.h"
#include "traces/recorded.h"

struct arena;

struct link_level {
    const char *kind;       /* of links: "nic" */
    double rate, low, high; /* of the rate that the scenario gives them: the value, and where it lies in 8 of 10
                               cases; NaN: too few transfers to say */
    double latency;         /* the same factor on their latency, where latency_count is not 0 */
    size_t rate_count;      /* transfers that they were fitted to; 0: nothing tells */
    size_t latency_count;
    double before, latency_before; /* what the scenario's own `links` make of both; `rate` and `latency` come on top */
    bool at_limit;                 /* no wire carries more */
};

struct link_fit {
    struct link_level levels[LINK_KINDS_MAX]; /* count of them: those of which something is known */
    size_t count;
    bool unseen; /* ranks are missing, whose transfers may have been in the way of others */
};

/* What is known of a trace's messages and collectives, [operation]; NaN: nothing. */
struct link_source {
    const double *own;    /* seconds as recorded, without waits */
    const double *shared; /* what they take beside each other on the scenario's network: those that others are in the
                             way of do not count */
    /* Fills what each takes alone on a scenario's network. An exit code, after every mistake was reported on standard
     * error. */
    int (*alone)(const struct scenario *scenario, const struct recorded *trace, double *seconds);
};

/* An exit code likewise. Memory from the arena. */
int link_fit_find(const struct scenario *scenario, const struct recorded *trace, const struct link_source *source,
                  struct arena *arena, struct link_fit *fit);

#endif
