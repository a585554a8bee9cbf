/* SPDX-License-Identifier: Apache-2.0 */
/* What a preset's platform carries, from the routes of its node. */
#include "base/arena.h"
#include "platforms/presets/presets.h"

#include <math.h>

enum { STEPS_MAX = 64 };

/* GB/s of one transfer alone. */
static double rate_of(const struct node_graph *node, uint32_t from, uint32_t to)
{
    struct node_step steps[STEPS_MAX];
    uint32_t count = node_route(node, from, to, steps, STEPS_MAX);
    double rate = INFINITY;
    for (uint32_t i = 0; i < count; i++)
        rate = fmin(rate, node->cables[steps[i].cable].bandwidth);
    return count ? rate / 1e9 : 0;
}

/* GB/s of the slowest transfer of a ring over all devices: those that meet on a cable in one direction share it. */
static double ring_of(const struct node_graph *node, uint32_t devices, struct arena *arena)
{
    uint32_t *flows = arena_array(arena, 2 * (size_t)node->cable_count + 1, sizeof *flows);
    struct node_step steps[STEPS_MAX];
    double rate = INFINITY;
    for (uint32_t from = 0; from < devices; from++) {
        uint32_t count = node_route(node, from, (from + 1) % devices, steps, STEPS_MAX);
        for (uint32_t i = 0; i < count; i++)
            flows[2 * steps[i].cable + steps[i].up]++;
    }
    for (uint32_t i = 0; i < 2 * node->cable_count; i++)
        if (flows[i])
            rate = fmin(rate, node->cables[i / 2].bandwidth / flows[i]);
    return isinf(rate) ? 0 : rate / 1e9;
}

struct preset_rates preset_rates(const struct preset *preset)
{
    struct arena *arena = arena_create();
    const struct node_graph *node = preset_node(preset, preset->devices, arena);
    uint32_t port = node ? node_port(node) : NODE_NONE;
    struct preset_rates rates = {0};
    double neighbour = preset->fabric.wire ? preset->fabric.wire->effective : INFINITY;
    if (node && node->cable_count && preset->devices > 1) {
        rates.peer = rate_of(node, 0, 1);
        rates.ring = ring_of(node, preset->devices, arena);
    } else if (preset->devices > 1) { /* the fabric joins single devices */
        rates.peer = rates.ring = neighbour;
    }
    rates.network = port == NODE_NONE ? neighbour : fmin(neighbour, rate_of(node, 0, port));
    if (isinf(rates.network))
        rates.network = 0;
    arena_destroy(arena);
    return rates;
}
