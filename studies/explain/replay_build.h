/* SPDX-License-Identifier: Apache-2.0 */
/* How a step's graph is put together, for sources that build one. */
#ifndef STAGESIM_EXPLAIN_REPLAY_BUILD_H
#define STAGESIM_EXPLAIN_REPLAY_BUILD_H

#include "studies/explain/replay.h"

struct replay_edge {
    uint32_t before, after;
};

struct replay_build {
    const struct recorded *recorded;
    uint32_t step;
    uint32_t *operations; /* of the step, by stream and begin */
    size_t operation_count;
    uint32_t *work, *arrival; /* [operation of the trace less `lowest`]: node; RECORDED_NONE: none */
    uint32_t lowest;
    struct replay_node *nodes;
    size_t node_count, node_capacity;
    struct replay_edge *edges;
    size_t edge_count, edge_capacity;
    uint32_t unmatched;
};

/* Whether an operation of the trace is in what is built. */
static inline bool replay_has(const struct replay_build *build, const struct recorded_operation *operation)
{
    return build->step == REPLAY_ALL ? operation->step != RECORDED_NONE : operation->step == build->step;
}

uint32_t replay_add_node(struct replay_build *build, uint32_t operation, enum replay_kind kind, double seconds);
/* RECORDED_NONE for either: nothing is added. */
void replay_add_edge(struct replay_build *build, uint32_t before, uint32_t after);

/* The graph of what was built, which it takes; its times count from `begin`, and recorded is what lies up to `end`.
 * NULL with the fault filled where operations wait for each other in a circle. The caller owns it. */
struct replay *replay_of(struct replay_build *build, double begin, double end, struct fault *fault);

static inline uint32_t *replay_work_of(struct replay_build *build, uint32_t operation)
{
    return &build->work[operation - build->lowest];
}

static inline uint32_t *replay_arrival_of(struct replay_build *build, uint32_t operation)
{
    return &build->arrival[operation - build->lowest];
}

/* ---- replay_waits.c: the trace itself says what waits for what ---- */
void replay_build_waits(struct replay_build *build);

/* ---- replay_rules.c: it follows from what the operations are ---- */
void replay_build_rules(struct replay_build *build);

#endif
