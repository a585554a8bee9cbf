/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/orders/replicas.h"

#include "base/arena.h"

static uint32_t root_of(uint32_t *parent, uint32_t rank)
{
    while (parent[rank] != rank)
        rank = parent[rank] = parent[parent[rank]];
    return rank;
}

uint32_t *orders_replicas(const struct recorded *recorded, struct arena *arena)
{
    uint32_t count = (uint32_t)recorded->rank_count, highest = count ? recorded->ranks[count - 1].number : 0;
    uint32_t *parent = arena_array(arena, count + 1, sizeof *parent),
             *index = arena_array(arena, highest + 1u, sizeof *index);
    for (uint32_t i = 0; i < count; i++) {
        parent[i] = i;
        index[recorded->ranks[i].number] = i + 1;
    }
    for (uint32_t i = 0; i < count; i++) /* where the trace says it */
        for (uint32_t j = 0; j < i && recorded->ranks[i].data != RECORDED_NONE; j++)
            if (recorded->ranks[j].data == recorded->ranks[i].data &&
                recorded->ranks[j].tensor == recorded->ranks[i].tensor) {
                parent[i] = j;
                break;
            }
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (operation->kind != RECORDED_SEND || operation->peer > highest || !index[operation->peer])
            continue;
        uint32_t a = root_of(parent, recorded_rank_of(recorded, operation)),
                 b = root_of(parent, index[operation->peer] - 1);
        parent[a > b ? a : b] = a < b ? a : b;
    }
    for (uint32_t i = 0; i < count; i++)
        parent[i] = root_of(parent, i);
    return parent;
}
