/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/program/stream_route.h"

#include "platforms/host_memory.h"

void stream_route(const struct program *program, struct platform *platform, const uint32_t *hosts, uint32_t rank,
                  const struct stream *stream, struct platform_route *route)
{
    const struct mesh *mesh = program->mesh;
    if (stream_offloads(stream))
        host_memory_route(platform, hosts[rank], stream->kind == STAGESIM_OFFLOAD, route);
    else
        platform->route(platform, hosts[rank], hosts[mesh_rank(mesh, stream->peer, mesh->replica_of[rank])], route);
}

bool program_offloads(const struct program *program)
{
    for (uint32_t position = 0; position < program->mesh->positions; position++)
        for (uint32_t i = 0; i < program->positions[position].stream_count; i++) {
            const struct stream *stream = &program->positions[position].streams[i];
            if (stream->type == OPERATION_SEND && stream_offloads(stream))
                return true;
        }
    return false;
}
