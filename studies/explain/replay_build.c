/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/explain/replay_build.h"

#include "base/arena.h"

uint32_t replay_add_node(struct replay_build *build, uint32_t operation, enum replay_kind kind, double seconds)
{
    build->nodes = array_grow(build->nodes, &build->node_capacity, build->node_count + 1, sizeof *build->nodes);
    build->nodes[build->node_count++] = (struct replay_node){operation, (uint8_t)kind, seconds, 0};
    return (uint32_t)build->node_count - 1;
}

void replay_add_edge(struct replay_build *build, uint32_t before, uint32_t after)
{
    if (before == RECORDED_NONE || after == RECORDED_NONE)
        return;
    build->edges = array_grow(build->edges, &build->edge_capacity, build->edge_count + 1, sizeof *build->edges);
    build->edges[build->edge_count++] = (struct replay_edge){before, after};
}
