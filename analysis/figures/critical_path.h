/* SPDX-License-Identifier: Apache-2.0 */
/* The chain of operations that determines the iteration time, and how much later every operation could end without
 * making the iteration longer. */
#ifndef STAGESIM_CRITICAL_PATH_H
#define STAGESIM_CRITICAL_PATH_H

#include "analysis/figures/frame.h"

#include <stddef.h>

struct critical_step {
    uint32_t entry, id; /* simulated rank, operation */
    double later;       /* seconds by which the step comes later than the timeline says, where frame->more */
    uint32_t
        skipped; /* operations that the stream has more than the timeline between this step and the one behind it */
};

struct critical_path {
    struct critical_step *steps; /* in the order of time */
    size_t step_count;
    /* Seconds; each step counts from the end of the step before it to its own end, so they add up to `length`. */
    double length, compute, receive, collective, delay;
    double begin; /* when the first step begins */
    bool lost;    /* frame->more: it leads to what does not come back in the cycle, and there are no steps */
};

/* When a step ends. */
static inline double critical_end(const struct timeline *timeline, struct critical_step step)
{
    return timeline->moments[step.entry][step.id].end + step.later;
}

/* Walks back from the last end of the last measured iteration: from each operation to the one whose end let it begin
 * (for a receive its send, for a collective the member that arrived last). A message is one step, its receive. Where
 * the frame has more than its timeline, the path goes through the cycle again and again. Memory from the arena. */
struct critical_path *critical_path_create(const struct frame *frame, struct arena *arena);

/* Slack of every operation against the end of all iterations, seconds: [simulated rank][id]. Times of all operations
 * are kept, so that it says what may be delayed, not what may be gained. NULL when the dependencies have a cycle. The
 * caller frees it with slack_destroy. */
double **slack_create(const struct frame *frame);
void slack_destroy(double **slack);

#endif
