/* SPDX-License-Identifier: Apache-2.0 */
/* Ways around links that are down. A route that passes one goes through other hosts instead: what a host cannot send
 * over its own network interface leaves by that of a neighbour in its node, as NCCL has it, and what two devices cannot
 * send each other goes through a third one. */
#ifndef STAGESIM_DETOUR_H
#define STAGESIM_DETOUR_H

#include "platforms/platform.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;

/* A platform like this one that avoids links: down[link], borrowed. Of the ways through one host of the sender's node,
 * one of the receiver's, or one of each, the one of fewest links is taken, and of these the one over the nearest
 * neighbour (of host k in its node k^1, k^2, ...); without any, the shortest through any other host, where the platform
 * has at most 4096. A message that would come to a host and leave it over the same cable turns round before. Memory
 * from the arena. */
struct platform *detour_platform(struct platform *platform, const bool *down, struct arena *arena);

/* Whether a transfer leaves the node of its sender through another host than the sender, or comes to that of its
 * receiver through another one than the receiver. False for platforms that nothing of is down. */
struct detour {
    bool sender, receiver;
};
struct detour detour_of(struct platform *platform, uint32_t from, uint32_t to);
/* Whether links of the platform are down, so that detour_of may find one; *arena is what it lives in. */
bool detour_has(const struct platform *platform, struct arena **arena);

/* Whether a host has no way to the first one, or back: the one to blame, and the other. */
bool detour_cuts_off(struct platform *platform, uint32_t *from, uint32_t *to);

#endif
