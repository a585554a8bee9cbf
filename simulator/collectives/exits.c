/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/collectives/exits.h"

#include "base/arena.h"
#include "platforms/detour.h"

#include <stdlib.h>
#include <string.h>

/* Marks the members that have no way of their own out of their node, or into it, seen from their counterparts in the
 * nodes beside. */
static bool mark_lost(struct platform *platform, const uint32_t *hosts, uint32_t ranks, uint32_t node_size, bool *lost)
{
    bool any = false;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        uint32_t next = (rank + node_size) % ranks;
        struct detour there = detour_of(platform, hosts[rank], hosts[next]),
                      back = detour_of(platform, hosts[next], hosts[rank]);
        lost[rank] |= there.sender || back.receiver;
        lost[next] |= there.receiver || back.sender;
        any |= lost[rank] || lost[next];
    }
    return any;
}

/* Members that have one, the fewest of all nodes. */
static uint32_t fewest(const bool *lost, uint32_t ranks, uint32_t node_size)
{
    uint32_t least = node_size;
    for (uint32_t first = 0; first < ranks; first += node_size) {
        uint32_t own = 0;
        for (uint32_t i = 0; i < node_size; i++)
            own += !lost[first + i];
        least = own < least ? own : least;
    }
    return least;
}

/* First those that have one in every node, so that data stay on their rails. */
static void list(const bool *lost, uint32_t ranks, uint32_t node_size, uint32_t count, uint32_t *members)
{
    bool *somewhere = array_zeroed(node_size, sizeof *somewhere);
    for (uint32_t rank = 0; rank < ranks; rank++)
        somewhere[rank % node_size] |= lost[rank];
    for (uint32_t node = 0; node < ranks / node_size; node++) {
        uint32_t listed = 0;
        for (uint32_t turn = 0; turn < 2; turn++)
            for (uint32_t i = 0; i < node_size && listed < count; i++)
                if (!lost[node * node_size + i] && somewhere[i] == (turn == 1))
                    members[node * count + listed++] = i;
    }
    free(somewhere);
}

const struct exits *exits_of(struct platform *platform, const uint32_t *hosts, uint32_t ranks, uint32_t node_size)
{
    struct arena *arena;
    if (!detour_has(platform, &arena))
        return NULL;
    bool *lost = array_zeroed(ranks, sizeof *lost);
    bool any = mark_lost(platform, hosts, ranks, node_size, lost);
    uint32_t count = any ? fewest(lost, ranks, node_size) : 0;
    struct exits *exits = NULL;
    if (count) {
        uint32_t nodes = ranks / node_size, *members = arena_array(arena, (size_t)nodes * count, sizeof *members);
        list(lost, ranks, node_size, count, members);
        exits = arena_alloc(arena, sizeof *exits);
        *exits = (struct exits){count, nodes, members};
    }
    free(lost);
    return exits;
}

bool exits_same(const struct exits *a, const struct exits *b)
{
    if (!a || !b)
        return a == b;
    return a->count == b->count && a->nodes == b->nodes &&
           !memcmp(a->members, b->members, (size_t)a->count * a->nodes * sizeof *a->members);
}
