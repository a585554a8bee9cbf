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
#include "simulator/engines/refine.h"
#include "simulator/program/program.h"

#include <stdbool.h>

struct arena;

struct classes {
    uint32_t *first_of; /* [rank]: the first rank of its class */
    uint32_t count;
};

/* For the contention-free engine: of routes only latencies and bandwidths matter, and which links the flows of one
 * collective share with each other. `latencies` false: routes that differ in nothing else are taken for equal, as is
 * good for counting only. Memory from the arena. */
struct classes classes_without_contention(const struct program *program, struct platform *platform,
                                          const uint32_t *hosts, bool latencies, struct arena *arena);

/* What can be seen of a rank alone: its operations and how fast it computes them. */
uint64_t classes_rank_colour(const struct program *program, const struct platform *platform, const uint32_t *hosts,
                             uint32_t rank);

/* Latencies are sums in any order: what differs in rounding alone is equal. */
static inline uint64_t classes_mix_latency(uint64_t hash, double latency)
{
    return refine_mix(hash, (uint64_t)(latency * 1e15 + 0.5));
}

#endif
