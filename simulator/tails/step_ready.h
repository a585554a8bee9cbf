/* SPDX-License-Identifier: Apache-2.0 */
/* Steps in which no order is fixed: a rank that is free runs the first of its order's computations whose inputs are
 * there, as a runtime could that looks at what has come. It never holds more stashes than its order does at most. */
#ifndef STAGESIM_STEP_READY_H
#define STAGESIM_STEP_READY_H

#include "simulator/tails/step_net.h"

/* Kinds of nodes: a micro-batch's computation, which waits for its rank; a message, which waits for those before it on
 * its way; all others begin when what they wait for is there. */
struct step_ready {
    const struct step_net *net;
    uint32_t *first_wait, *waits; /* what a node waits for, without the order: [node + 1], into waits */
    uint32_t *first_next, *nexts; /* the reverse */
    uint32_t *server;             /* [node]: the rank, or `ranks` and on: the way of a message; STEP_ALONE: none */
    uint32_t ranks, servers;
    uint32_t *place;           /* [node] of a computation: in its rank's order */
    uint32_t *first_own, *own; /* computations of a rank in its order: [ranks + 1], into own */
    int8_t *holds;             /* [node]: 1: a stash more, -1: one less */
    int32_t *limit;            /* [rank]: the most stashes in its order */
    double *ends;              /* [node]: when it ended in the step that was walked last */
    struct ready_scratch *scratch;
};

/* NULL: a micro-batch's computations are not each one node alone (slices, blocks, collectives inside), so that their
 * order says more than who is first. Memory from the arena. */
struct step_ready *step_ready_create(const struct step_net *net, struct arena *arena);
/* What a step takes whose nodes take so long: [node * stride]. */
double step_ready_seconds(struct step_ready *ready, const double *seconds, size_t stride);

#endif
