/* SPDX-License-Identifier: Apache-2.0 */
/* Logs of idle nodes drawn from a seed, with the published lengths of idle fragments. */
#ifndef STAGESIM_IDLE_GENERATE_H
#define STAGESIM_IDLE_GENERATE_H

#include "cluster/idle/idle_log.h"

/* What to draw. */
struct idle_generation {
    uint64_t nodes;
    uint64_t together; /* so many nodes become idle and busy together, as those of a batch job do */
    uint64_t seed;
    double share;    /* of a node's time that it is idle, in the long run; above 0, below 1 */
    double duration; /* seconds */
};

/* Each group of nodes is idle and busy in turn. Idle times have the lengths of idle_fragment_length, busy times are
 * exponential with the mean that gives the share; all are whole seconds. The same seed gives the same log on every
 * machine. Memory from the arena. */
struct idle_log *idle_generate(const struct idle_generation *generation, struct arena *arena);

/* The length of an idle fragment in seconds of which a share `quantile` (0 .. 1) of all is shorter: two weeks of a
 * machine of 4,608 nodes. Between the published lengths, each class has its published mean. */
double idle_fragment_length(double quantile);

#endif
