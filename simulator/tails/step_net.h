/* SPDX-License-Identifier: Apache-2.0 */
/* A program's step as a graph that one pass goes through: when some of its durations change, the ends of all follow.
 * Made of a timeline, whose durations are those that nothing has changed. */
#ifndef STAGESIM_STEP_NET_H
#define STAGESIM_STEP_NET_H

#include "simulator/program/timeline.h"

struct arena;

/* What a node is of. */
struct step_task {
    uint32_t rank;      /* of a collective the first of its members */
    uint32_t operation; /* its id at the rank's position */
    uint32_t meeting;   /* collectives: which list of members; STEP_ALONE: none */
    uint32_t micro_batch;
    uint16_t stage;
    uint8_t type, kind; /* enum operation_type, enum stagesim_kind */
};

#define STEP_ALONE UINT32_MAX

/* Nodes stand behind those that they wait for. */
struct step_net {
    const struct program *program;
    uint32_t count;
    uint32_t *first_wait; /* [count + 1], into waits */
    uint32_t *waits;
    double *seconds; /* [node] */
    struct step_task *tasks;
    uint32_t meetings;      /* instances of groups */
    uint32_t *first_member; /* [meetings + 1], into members */
    uint32_t *members;      /* ranks */
    double length;          /* of the timeline */
    bool exact; /* data of all collectives move once all members have come, and end together: what comes of members that
                   come at other times follows exactly */
};

/* More nodes than this are refused: what a pass needs of memory. */
enum { STEP_NODES_MAX = 24000000 };

/* Of a timeline that simulates every rank. NULL with the fault filled: it has too many operations. Memory from the
 * arena. */
struct step_net *step_net_create(const struct timeline *timeline, struct arena *arena, struct fault *fault);

#endif
