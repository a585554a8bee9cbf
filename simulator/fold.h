/* SPDX-License-Identifier: Apache-2.0 */
/* Folding: data-parallel replicas that provably run the same timeline are simulated once.
 *
 * A slice is all ranks of one coordinate along the data axis. Slice 0 is simulated; the others take part in what couples
 * them: collectives whose group spans the data axis (coupling groups) run with all their flows. That slices cannot disturb
 * each other otherwise is proven from the platform:
 *   - hosts of equal speed, no profiles;
 *   - routes that map link by link onto those of slice 0, one to one;
 *   - every link that several slices use is SHARED and roomy: at least as fast as all flows that can use it at once, each
 *     bounded by the narrowest of its other links.
 * One thing is seen only in the timeline: whether a message of a slice moves while a coupling collective moves on a link of
 * its route. Such messages are marked; a further simulation sends them from every slice (ghost messages), until no more are
 * found. Ghost messages must end when those of slice 0 do, or the slices are not alike after all. */
#ifndef STAGESIM_FOLD_H
#define STAGESIM_FOLD_H

#include "platforms/platform.h"
#include "simulator/timeline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct folding {
    uint32_t slices;  /* of which one is simulated; 1: nothing is folded */
    uint32_t stride;  /* ranks between a rank and its equal in the next slice */
    char reason[256]; /* slices 1: why nothing is folded */
    bool **ghosts;    /* [position][operation id]: messages that every slice sends */
    uint32_t ghost_count;
    struct fold_proof *proof;
};

/* Decides what can be folded for SimGrid, or (`contention` false) for the analytic engine, to which only hosts, latencies and
 * bandwidths matter. Memory from the arena. */
struct folding *folding_create(const struct program *program, struct platform *platform, const uint32_t *hosts, bool contention,
                               struct arena *arena);

/* No folding, for the given reason. */
struct folding *folding_none(const char *reason, struct arena *arena);

enum fold_verdict {
    FOLD_PROVEN,  /* the timeline is that of the whole job */
    FOLD_AGAIN,   /* more messages were marked: simulate again */
    FOLD_REFUTED, /* the slices are not alike: simulate all */
};

/* Looks at a folded timeline of the SimGrid engine. */
enum fold_verdict folding_verify(struct folding *folding, const struct timeline *timeline);

#endif
