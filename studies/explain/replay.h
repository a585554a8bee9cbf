/* SPDX-License-Identifier: Apache-2.0 */
/* One step of a recorded job, or all if they overlap, as a graph: what each operation waited for, how long it took, and
 * the gap between the two that nothing in the trace explains. With the recorded times the recorded step comes out, to
 * the rounding of doubles; with others, what the step would have taken. */
#ifndef STAGESIM_EXPLAIN_REPLAY_H
#define STAGESIM_EXPLAIN_REPLAY_H

#include "traces/recorded.h"

#define REPLAY_ALL (UINT32_MAX - 1) /* in place of a step: all of them */

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
    double begin, measured;   /* seconds: of the step in the trace, from its first begin to its last end. Of all: from
                                 the first begin, and the mean time from the end of one to that of the next */
    double shortest, longest; /* step */
    uint32_t rounds;          /* of all: how many steps; otherwise 1 */
    uint32_t first_step;      /* of all: that which ends first */
    struct replay_node *nodes;
    uint32_t node_count;
    uint32_t *first_before, *before; /* [node]: before[first_before[node] .. first_before[node + 1]) end earlier */
    uint32_t *order;                 /* each node behind those that it waits for */
    uint32_t unmatched;              /* messages whose other end is not in the trace */
};

/* NULL with the fault filled where the step's operations wait for each other in a circle. The caller owns it. */
struct replay *replay_create(const struct recorded *recorded, uint32_t step, struct fault *fault);
void replay_finish(struct replay *replay); /* NULL is fine */

/* Seconds of a step when those of the first one end at `first`, and the last end is `last`. */
static inline double replay_step_seconds(const struct replay *replay, double first, double last)
{
    return replay->rounds > 1 ? (last - first) / (replay->rounds - 1) : last;
}
/* Whether a node is of the first of several steps. */
bool replay_is_first(const struct replay *replay, uint32_t node);

/* The step's seconds when nodes take these times and gaps, [node]; NULL: those recorded. `ends`, [node] or NULL, gets
 * their ends, seconds after the step's begin. */
double replay_time(const struct replay *replay, const double *seconds, const double *gaps, double *ends);

/* What is replayed in one piece: the steps as they are, or, where a trace says what waits for what and steps run into
 * each other, REPLAY_ALL in their place. */
void replay_join(const struct recorded *recorded, const uint32_t **steps, size_t *count);

/* The steps of a job's timeline, ascending, each once; the caller frees them. */
uint32_t *replay_steps(const struct recorded *recorded, size_t *count);

#endif
