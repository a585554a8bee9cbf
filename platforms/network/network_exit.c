/* SPDX-License-Identifier: Apache-2.0 */
/* Zones that all routes leave and enter at one point. */
#include "base/arena.h"
#include "platforms/network/network.h"

#include <stdlib.h>
#include <string.h>

/* A route of an outer zone leads into this one at `gateway`. */
static void note(struct network *network, uint32_t gateway, uint8_t *many)
{
    if (gateway == NETWORK_NONE)
        return;
    uint32_t zone = network->points[gateway].zone;
    if (network->exits[zone] == NETWORK_NONE)
        network->exits[zone] = gateway;
    many[zone] |= network->exits[zone] != gateway;
}

static void find_exits(struct network *network)
{
    uint8_t *many = array_zeroed(network->zone_count + 1, sizeof *many);
    network->exits = arena_array(network->arena, network->zone_count + 1, sizeof *network->exits);
    memset(network->exits, 0xff, network->zone_count * sizeof *network->exits);
    for (size_t i = 0; i < network->route_count; i++)
        for (int end = 0; end < 2; end++)
            note(network, network->routes[i].gateways[end], many);
    for (size_t zone = 0; zone < network->zone_count; zone++)
        if (many[zone] || network->zones[zone].has_zones || network->zones[zone].parent == NETWORK_NONE)
            network->exits[zone] = NETWORK_NONE;
    free(many);
}

uint32_t network_exit(struct network *network, uint32_t zone)
{
    if (!network->exits)
        find_exits(network);
    return network->exits[zone];
}
