/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded steps on a scenario's network: computations, gaps, order and dependencies are the trace's, messages and
 * collectives move their bytes over the platform's links beside each other. What they take then holds the contention
 * that the trace makes for itself. */
#ifndef STAGESIM_EXPLAIN_SHARED_NETWORK_H
#define STAGESIM_EXPLAIN_SHARED_NETWORK_H

#include "job/scenario/scenario.h"
#include "studies/explain/expected.h"

struct shared_network {
    double step;      /* seconds, the mean over steps; NaN: not asked */
    double *seconds;  /* [operation of the trace]: of messages and collectives; NaN: it is none, or not known */
    size_t left_out;  /* collectives of groups that are not the scenario's: they took the recorded time */
    uint32_t missing; /* ranks of the scenario that are not in the trace: nothing was simulated, for theirs is the
                         traffic of the trace as well */
};

/* On the scenario's engine. Returns an exit code after every mistake was reported on standard error. Memory from the
 * arena. */
int shared_network_find(const struct scenario *scenario, const struct expected_table *model,
                        const struct recorded *trace, const uint32_t *steps, size_t step_count, struct arena *arena,
                        struct shared_network *shared);

#endif
