/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that leave ranks and pass over links, means per measured iteration. */
#ifndef STAGESIM_TRAFFIC_H
#define STAGESIM_TRAFFIC_H

#include "analysis/figures/frame.h"
#include "platforms/platform.h"

struct arena;

/* Bytes that one rank of the position sends for an operation: the message, or the collective's total divided by its
 * members, or its own where each pair of members has its own bytes; 0 for anything else. */
double traffic_sent(const struct program *program, const struct operation *operation, const struct position *position);

/* Bytes sent per iteration, all ranks of the mesh. */
double traffic_total(const struct frame *frame);

/* Bytes per iteration over each of platform->links; `hosts` maps ranks to platform hosts. Asks for the route of each
 * pair of hosts once (of many millions of pairs now and then again). Memory from the arena. */
double *traffic_links(const struct frame *frame, struct platform *platform, const uint32_t *hosts, struct arena *arena);

#endif
