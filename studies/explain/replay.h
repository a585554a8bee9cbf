/* SPDX-License-Identifier: Apache-2.0 */
/* One step of a recorded job as a graph: what each operation waited for, how long it took, and the gap between the two
 * that nothing in the trace explains. With the recorded times the recorded step comes out, to the rounding of doubles;
 * with others, what the step would have taken. */
#ifndef STAGESIM_EXPLAIN_REPLAY_H
#define STAGESIM_EXPLAIN_REPLAY_H

#include "traces/recorded.h"

enum replay_kind {
    REPLAY_WORK,    /* the operation itself; of a collective from when its last member has come */
    REPLAY_ARRIVAL, /* a member comes to its collective, which takes no time */
    REPLAY_MEETING  /* all have come */
};

struct replay_node {
    uint32_t operation; /* index into the trace; RECORDED_NONE: a meeting */
    uint8_t kind;       /* enum replay_kind */
    double seconds;     /* recorded */
    double gap;         /* recorded: seconds from the last end of what it waits for to its begin */
};

struct replay {
    const struct recorded *recorded;
    uint32_t step;
    double begin, measured; /* seconds: of the step in the trace, from its first begin to its last end */
    struct replay_node *nodes;
    uint32_t node_count;
    uint32_t *first_before, *before; /* [node]: before[first_before[node] .. first_before[node + 1]) end earlier */
    uint32_t *order;                 /* each node behind those that it waits for */
    uint32_t unmatched;              /* messages whose other end is not in the trace */
};

/* NULL with the fault filled where the step's operations wait for each other in a circle. The caller owns it. */
struct replay *replay_create(const struct recorded *recorded, uint32_t step, struct fault *fault);
void replay_finish(struct replay *replay); /* NULL is fine */

/* The step's seconds when nodes take these times and gaps, [node]; NULL: those recorded. `ends`, [node] or NULL, gets
 * their ends, seconds after the step's begin. */
double replay_time(const struct replay *replay, const double *seconds, const double *gaps, double *ends);

/* The steps of a job's timeline, ascending, each once; the caller frees them. */
uint32_t *replay_steps(const struct recorded *recorded, size_t *count);

#endif
