/* SPDX-License-Identifier: Apache-2.0 */
/* The way that is being found: its links, and their latencies in the order in which they are passed. */
#include "platforms/network/network.h"

#include "base/arena.h"

#include <string.h>

void network_pass(struct network *network, uint32_t link)
{
    if (network->found_count == network->found_capacity) {
        uint32_t *larger = arena_array(network->arena, 2 * network->found_capacity + 64, sizeof *larger);
        if (network->found_count)
            memcpy(larger, network->found, network->found_count * sizeof *larger);
        network->found = larger;
        network->found_capacity = 2 * network->found_capacity + 64;
    }
    network->found[network->found_count++] = link;
    network->latency += network->links[link].latency;
}
