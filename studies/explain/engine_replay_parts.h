/* SPDX-License-Identifier: Apache-2.0 */
/* How a recorded step is made a program, for the sources of engine_replay alone. */
#ifndef STAGESIM_EXPLAIN_ENGINE_REPLAY_PARTS_H
#define STAGESIM_EXPLAIN_ENGINE_REPLAY_PARTS_H

#include "simulator/program/program.h"
#include "studies/explain/engine_replay.h"

#define NOWHERE UINT32_MAX

/* An operation of the program. */
struct spot {
    uint32_t position, operation;
};

/* What stands for a node: one operation of its rank, or, of a meeting, one of each rank that comes to it. None: who
 * waits for it waits for what it waits for. */
struct node_place {
    struct spot *spots;
    uint32_t count;
    uint32_t cost;     /* that says how long it takes; NOWHERE: it takes no time */
    uint32_t transfer; /* cost of the message or collective of the program that moves its data; NOWHERE: nothing does */
    uint32_t received; /* of a send whose data are moved: the operation at the other end */
};

/* Ranks that meet again and again for the same, as a group of the program. */
struct circle {
    uint64_t key;
    const uint32_t *positions;
    uint32_t count, group;
};

struct building {
    const struct replay *replay;
    const struct replay_network *network; /* NULL: nothing moves data */
    struct program_builder *builder;
    struct node_place *places;     /* [node] */
    uint32_t *first_after, *after; /* [node]: after[first_after[node] .. first_after[node + 1]) wait for it */
    uint32_t *other_end;           /* [node] of a message; NOWHERE: it is none, or the other end is not there */
    struct spot *awaited;          /* of the node that is being placed */
    size_t awaited_count, awaited_capacity;
    struct circle *circles;
    size_t circle_count, circle_capacity;
    uint32_t nothing; /* cost */
    struct arena *arena;
};

/* ---- engine_replay_place.c ---- */

/* Gives the program all nodes of the step. False with the fault filled where they are more than it may have. */
bool engine_replay_place(struct building *b, struct fault *fault);

#endif
