/* SPDX-License-Identifier: Apache-2.0 */
/* Folding: data-parallel replicas that provably run the same timeline are simulated once.
 *
 * A slice is all ranks of one coordinate along the data axis. Slices fall into classes of equals; the first slice of
 * each class is simulated, the others take part in what couples them: collectives whose group spans the data axis
 * (coupling groups) run with all their flows. That slices cannot disturb each other otherwise is proven from the
 * platform:
 *   - hosts of a class have equal speeds, no profiles;
 *   - routes of a class map link by link onto those of its first slice, one to one;
 *   - every link that several slices use is SHARED and roomy: at least as fast as all flows that can use it at once,
 * each bounded by a narrower link of its route. One thing is seen only in the timeline: whether a message of a slice
 * moves while a coupling collective moves on a link of its route. Such messages are marked; a further simulation sends
 * them from every slice (ghost messages), until no more are found. Slices whose ghost messages end at other times than
 * those of their class are split off. */
#ifndef STAGESIM_FOLD_H
#define STAGESIM_FOLD_H

#include "platforms/platform.h"
#include "simulator/program/timeline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct class_network;

/* Ghost of a message: position.operation number `operation` of the folding; GHOST_NONE: the message has none. */
#define GHOST_NONE UINT32_MAX

struct folding {
    uint32_t slices, classes;      /* classes 0: nothing is folded */
    uint32_t *equals;              /* [rank]: the rank that stands for it; NULL: slices say so */
    struct class_network *network; /* for SimGrid: what is simulated in place of the platform; NULL: the platform */
    uint32_t stride;               /* ranks between a rank and its equal in the next slice */
    uint32_t *class_of;            /* [slice]: the first slice of its class */
    char reason[256];              /* classes 0: why nothing is folded */
    bool distinct;                 /* classes 0: no two ranks are alike in everything that can disturb them */
    uint32_t **ghosts;             /* [position][operation id]: number of its ghost message, GHOST_NONE */
    uint32_t ghost_count;
    double *ghost_ends; /* [ghost * ranks + rank]: when the rank's ghost message ended, filled by the engine; shared
                           memory */
    size_t ghost_bytes; /* of ghost_ends */
    struct fold_proof *proof;
};

/* Decides which replicas can be folded for SimGrid. Memory from the arena; folding_finish frees the rest. */
struct folding *folding_create(const struct program *program, struct platform *platform, const uint32_t *hosts,
                               struct arena *arena);
void folding_finish(struct folding *folding);

/* No folding, for the given reason. */
struct folding *folding_none(const char *reason, struct arena *arena);

/* A timeline for the simulated ranks of a folding. */
struct timeline *folding_timeline(const struct folding *folding, const struct program *program, bool shared);

/* Room for what the engine says of ghost messages; before each simulation. */
void folding_prepare(struct folding *folding);

enum fold_verdict {
    FOLD_PROVEN,  /* the timeline is that of the whole job */
    FOLD_AGAIN,   /* messages were marked or classes split: simulate again, with a new timeline */
    FOLD_REFUTED, /* not worth it: simulate all */
};

/* Marks the messages that move while collectives across slices go on, according to a folded timeline of either engine.
 * True: there are some that were not marked before. */
bool folding_meets(struct folding *folding, const struct timeline *timeline);

/* Looks at a folded timeline of the SimGrid engine. */
enum fold_verdict folding_verify(struct folding *folding, const struct timeline *timeline);

#endif
