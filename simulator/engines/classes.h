/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of ranks that provably do the same at the same time, along whichever axes of the mesh they lie.
 *
 * Two ranks are alike where they run the same operations equally fast, where each of their messages takes an equal
 * route to (and from) ranks that are alike, and where each of their collectives does, flow by flow, with members that
 * are alike. The coarsest partition of this kind is found by refinement (refine.h): it begins with what can be seen of
 * each rank, message and collective alone, and splits until all that they depend on is alike as well. */
#ifndef STAGESIM_CLASSES_H
#define STAGESIM_CLASSES_H

#include "platforms/platform.h"
#include "simulator/program/program.h"

struct arena;

struct classes {
    uint32_t *first_of; /* [rank]: the first rank of its class */
    uint32_t count;
};

/* For the contention-free engine: of routes only latencies and bandwidths matter, and which links the flows of one
 * collective share with each other. Memory from the arena. */
struct classes classes_without_contention(const struct program *program, struct platform *platform,
                                          const uint32_t *hosts, struct arena *arena);

#endif
