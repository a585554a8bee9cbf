/* SPDX-License-Identifier: Apache-2.0 */
/* What the contention-free engine knows while it walks along the streams, for its sources alone: engine_analytic.c
 * (computations and messages, the order of things), collective.c and setup.c. */
#ifndef STAGESIM_ANALYTIC_WALK_H
#define STAGESIM_ANALYTIC_WALK_H

#include "simulator/collectives/arrivals.h"
#include "simulator/collectives/estimate.h"
#include "simulator/engines/analytic/analytic_overlap.h"
#include "simulator/engines/engine.h"

#include "base/arena.h"

#include <math.h>

enum { AHEAD = 8 }; /* operations that are fetched before their turn */

struct instance;

/* Flows of a group, and their times on an instance's hosts. */
struct known_flows {
    const struct collective_flows *flows;
    const uint32_t *hosts;    /* of the members */
    struct estimate estimate; /* of flows that start together, once one of their collectives ends */
    bool estimated;
    struct arrivals *arrivals; /* of the others */
    struct known_flows *next;
};

/* A collective of an instance whose members begin by and by. */
struct meeting {
    uint32_t number;         /* among the instance's collectives */
    uint32_t arrived, ended; /* members */
    double *ready;           /* [member of the group]: INFINITY: it has not come */
    double *taken;           /* [participant]: from when on it takes a share of compute, INFINITY: not yet */
    struct meeting *next;
};

struct cursor {
    uint32_t next, end;   /* ids: the first operation of the stream that is not done, the one behind its last */
    uint8_t type;         /* enum operation_type */
    bool queued, arrived; /* on the list of streams to try; collective: counted as arrived at the current one */
    double free;          /* end of the operation before */
    double latency, seconds_per_byte; /* send: of the route */
    double ahead;                     /* send: by how much its next message leaves before the one before has arrived */
    uint32_t peer, opposite;          /* send: entry that receives, its stream */
    uint32_t participant;             /* collective: its place among the instance's */
    struct instance *instance;        /* collective */
};

/* A simulated rank. */
struct entry {
    const struct position *position;
    uint32_t replica;
    double slowness; /* how much longer its host computes than that of the position's first replica */
    struct moment *times;
    struct cursor *cursors;
};

struct participant {
    uint32_t entry, stream;
    uint32_t member; /* of an instance: first of those in the group that it stands for */
    struct instance *instance;
};

/* What a kind and cost of collectives come to on an instance. */
struct known_collective {
    int collective;
    uint32_t cost;
    struct known_flows *flows; /* NULL: there are none */
    struct arrivals_size size;
    double delay;    /* before data move */
    double duration; /* of flows that start together, with the delay; NaN: nobody asked */
    struct known_collective *next;
};

/* One instance of a group. Members that are folded away arrive with the entry that stands for them. */
struct instance {
    const struct group *group;
    uint32_t *ranks;
    uint32_t rank_count;
    struct participant *participants; /* the simulated members */
    uint32_t participant_count;
    uint32_t *next_alike; /* [member]: the next one that the same participant stands for, MEMBER_NONE */
    uint32_t arrived;
    double data_start; /* of the current collective: the latest arrival so far */
    double share;      /* of compute that its collectives take while they move */
    struct known_flows *known;
    struct known_collective *newest; /* that was met, with the others behind it; NULL: none was */
    /* Collectives that are under way, oldest first, where members begin by and by. */
    struct meeting *meetings, *spare;
    bool queued; /* on the list of instances to look at */
    struct instance *next_queued;
};

#define MEMBER_NONE UINT32_MAX

struct walk {
    const struct program *program;
    struct platform *platform;
    const uint32_t *hosts;
    struct timeline *timeline;
    const struct engine_progress *progress;
    struct fault *fault;
    struct arena *arena;
    struct entry *entries;
    struct participant *stack; /* streams to try, each at most once */
    size_t stack_count;
    struct instance *queued; /* with new arrivals at collectives whose members end apart */
    double *starts, *ends;   /* scratch, [member] of the largest group */
    uint32_t members_max;    /* of that group */
    uint64_t done, total, report_at;
    bool resumes;              /* some operations are done before it begins */
    bool free;                 /* transfers take no time */
    struct overlaps *overlaps; /* NULL: no collective takes a share of compute */
};

static inline void push(struct walk *walk, uint32_t entry, uint32_t stream)
{
    struct cursor *cursor = &walk->entries[entry].cursors[stream];
    if (cursor->queued)
        return;
    cursor->queued = true;
    walk->stack[walk->stack_count++] = (struct participant){entry, stream, 0, NULL};
}

/* An operation is done: streams whose next operation waits for it are tried again. */
static inline void set_off(struct walk *walk, uint32_t index, uint32_t id)
{
    const struct entry *entry = &walk->entries[index];
    const struct position *position = entry->position;
    uint32_t end = position->first_dependent[id + 1];
    walk->done++;
    for (uint32_t i = position->first_dependent[id]; i < end; i++) {
        uint32_t dependent = position->dependents[i], stream = position->operations[dependent].stream;
        if (entry->cursors[stream].next == dependent)
            push(walk, index, stream);
    }
}

/* Many streams are walked along in turn, too many for the processor to foresee. */
static inline void foresee(const struct entry *entry, uint32_t id)
{
    __builtin_prefetch(&entry->position->operations[id] + AHEAD);
    __builtin_prefetch(&entry->times[id] + AHEAD, 1);
}

/* When everything that the operation waits for is done; NaN while something is not. */
static inline double ready_at(const struct entry *entry, const struct operation *operation, double free)
{
    double ready = free;
    for (uint32_t i = 0; i < operation_wait_count(operation); i++) {
        double end = entry->times[operation_wait(entry->position, operation, i)].end;
        if (isnan(end))
            return NAN;
        ready = end > ready ? end : ready;
    }
    return ready;
}

/* Makes streams and instances ready. False with walk->fault filled: a route is missing. */
bool analytic_init(struct walk *walk);

/* The rank comes to the next collective of a stream of collectives; where that was all that others waited for, it ends
 * for them. */
void analytic_arrive(struct walk *walk, uint32_t index, struct cursor *cursor);
/* The time has come when all have arrived at a collective that takes a share of compute, or, where members begin by and
 * by, one. */
void analytic_begin_collective(struct walk *walk, struct participant *who);
/* An instance from walk->queued, whose members end apart: all that arrived while anything else went on are looked at
 * together. */
void analytic_evaluate_instance(struct walk *walk, struct instance *instance);

#endif
