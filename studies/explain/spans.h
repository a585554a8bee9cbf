/* SPDX-License-Identifier: Apache-2.0 */
/* How much of a step forwards, backwards and weight gradients explain by themselves: each replica's are replayed with
 * messages that take no time and without gaps, and compared with the recorded span of them. */
#ifndef STAGESIM_EXPLAIN_SPANS_H
#define STAGESIM_EXPLAIN_SPANS_H

#include "studies/explain/replay.h"

struct arena;

struct spans {
    size_t count;              /* steps of a replica that have such work */
    double measured, replayed; /* seconds from the first begin to the last end, the mean; NaN: there are none */
    double error;              /* the median of replayed over measured, less 1; NaN like them */
};

/* `replays`: of each step. Memory from the arena. */
void spans_find(const struct recorded *recorded, struct replay *const *replays, size_t step_count, struct arena *arena,
                struct spans *spans);

#endif
