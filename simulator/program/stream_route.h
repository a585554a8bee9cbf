/* SPDX-License-Identifier: Apache-2.0 */
/* The way that messages of a stream take. */
#ifndef STAGESIM_STREAM_ROUTE_H
#define STAGESIM_STREAM_ROUTE_H

#include "platforms/platform.h"
#include "simulator/program/program.h"

/* Stashes on their way to host memory or back: messages of a position to itself. */
static inline bool stream_offloads(const struct stream *stream)
{
    return stream->kind == STAGESIM_OFFLOAD || stream->kind == STAGESIM_LOAD;
}

/* Of a stream of sends, from the rank on its host to the rank that receives them, or between the host and its node's
 * memory; hosts[rank]. */
void stream_route(const struct program *program, struct platform *platform, const uint32_t *hosts, uint32_t rank,
                  const struct stream *stream, struct platform_route *route);

/* Whether some position has such a stream. */
bool program_offloads(const struct program *program);

#endif
