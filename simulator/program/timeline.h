/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline: when every operation started and ended on every simulated rank. Seconds. */
#ifndef STAGESIM_TIMELINE_H
#define STAGESIM_TIMELINE_H

#include "base/numbers/moment.h"
#include "platforms/platform.h"
#include "simulator/program/program.h"

#include <stdbool.h>

/* One entry per simulated rank, in the order of rank numbers. Replicas that are folded away have no entry of their own.
 */
struct timeline {
    const struct program *program;
    uint32_t rank_count; /* simulated ranks */
    uint32_t *ranks;     /* [rank_count]: their rank numbers, ascending */
    uint32_t *index_of;  /* [mesh ranks]: entry whose times are this rank's (its own, or that of the rank it equals) */
    struct moment **moments; /* [rank_count][operation id] */
    double **latencies;      /* [rank_count][stream]: of the routes of sends where messages are pipelined; NULL */
    uint64_t activities;     /* computations plus transfers that the engine executed */
    double rounding; /* share of a span of time by which the engine's times are not exact, see base/numbers/cycle.h */
    bool shared;     /* moments live in memory shared with child processes */
    double *joules;  /* [rank_count]: of their hosts from 0 to the end, where the program has states and the engine
                        measures them, otherwise NaN; in the block of moments. NULL: the program has none */
    size_t bytes;    /* of the block that holds all moments, moments[0] */
};

/* A timeline for all ranks of the program's mesh, times NaN. The caller owns it. */
struct timeline *timeline_create(const struct program *program);
/* One in which the times of rank r are those of rank equals[r], which equals itself. `shared`: a child process fills it
 * in. */
struct timeline *timeline_create_folded(const struct program *program, const uint32_t *equals, bool shared);
/* All times NaN again. */
void timeline_reset(struct timeline *timeline);
void timeline_destroy(struct timeline *timeline);

/* Whether a rank is simulated itself. */
static inline bool timeline_simulates(const struct timeline *timeline, uint32_t rank)
{
    return timeline->ranks[timeline->index_of[rank]] == rank;
}

/* Times of a rank's operations, indexed by id. */
static inline const struct moment *timeline_rank(const struct timeline *timeline, uint32_t rank)
{
    return timeline->moments[timeline->index_of[rank]];
}

/* For programs whose messages are pipelined: notes the latencies of the routes. hosts[rank] is the place in the
 * platform. Nothing otherwise. */
void timeline_note_latencies(struct timeline *timeline, struct platform *platform, const uint32_t *hosts);
/* Where messages are pipelined, the latency of the send's route; 0 for everything else: what a message's bytes, begun
 * at its start, come after. */
double timeline_send_latency(const struct timeline *timeline, uint32_t entry, const struct operation *operation);

/* [entry][stream], of streams of collectives: the number of the instance that the entry takes part in. Instances whose
 * members have the same entries are one, the first. One block, which the caller frees. */
uint32_t **timeline_instances(const struct timeline *timeline);

/* Fills in what follows from the times of sends: start, data_start and end of every receive; for engines. */
void timeline_finish_receives(struct timeline *timeline);

#endif
