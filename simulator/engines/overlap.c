/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/engines/overlap.h"

double overlap_share(const struct platform *platform, const uint32_t *hosts, const uint32_t *ranks, uint32_t count)
{
    const struct platform_library *library = &platform->library;
    if (count < 2 || (library->overlap_node <= 0 && library->overlap_network <= 0))
        return 0;
    for (uint32_t i = 1; i < count; i++)
        if (platform_scope_of(platform, hosts[ranks[0]], hosts[ranks[i]]) == SCOPE_NETWORK)
            return library->overlap_network;
    return library->overlap_node;
}
