/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of a profile's graph share. */
#ifndef STAGESIM_PROFILE_KERNEL_GRAPH_PARTS_H
#define STAGESIM_PROFILE_KERNEL_GRAPH_PARTS_H

#include "studies/explain/replay_build.h"
#include "studies/profile/kernel_replay.h"

/* A moment of the host: a call begins, or one that it waited in ends, or a step does. */
struct moment_of_host {
    double time;
    uint32_t operation;
    bool ends;
};

struct call {
    uint32_t correlation, operation;
};

/* A member of a collective, or an end of a message. */
struct member {
    uint64_t key;
    uint32_t step, number, rank, operation;
};

struct graph {
    struct replay_build *build;
    const struct recorded *recorded;
    struct call *calls; /* of the rank: by correlation */
    size_t call_count, call_capacity;
    struct moment_of_host *moments; /* of the rank: by time */
    size_t moment_count, moment_capacity;
    double *launched;   /* [operation] of the device: when its launch began; NaN: not known */
    uint32_t *launch;   /* [operation] of the device: node of its launch; RECORDED_NONE: not known */
    uint32_t *device;   /* [operation] that is a launch: of the device; RECORDED_NONE: none */
    uint32_t *line;     /* operations of the device with nodes, by stream and begin */
    size_t *line_first; /* [stream]: line[line_first[stream] .. line_first[stream + 1]) are of it */
    size_t *passed;     /* [stream]: into the line; those before it were launched before the moment that is looked at */
    double *noted;      /* [sync]: when the host recorded the event that is waited for; NaN: not known */
    struct member *members;
    size_t member_count, member_capacity;
    bool stepless; /* the trace has no steps: all of it is one */
};

/* ---- kernel_waits.c: the device ---- */

/* Fills the lines, once all its operations have nodes. */
void graph_line_up(struct graph *graph);
/* What a call that synchronises may wait for: of each stream the last operation that was launched before it and ended
 * before it did. Calls of a rank are given in their order. */
void graph_await_device(struct graph *graph, uint32_t rank, const struct recorded_operation *call, uint32_t node);
/* Operations of a stream are in order, each behind its launch. */
void graph_chain_streams(struct graph *graph);
/* What streams wait for in each other, as the trace says, or, where it says nothing, as their beginnings show. */
void graph_join_streams(struct graph *graph);

#endif
