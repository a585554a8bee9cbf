/* SPDX-License-Identifier: Apache-2.0 */
/* The way from a host that holds a rank to the memory of its node. A platform does not say where that memory is; but
 * routes to other hosts begin with the way out of the device: its PCI Express link and, where one is shared by what
 * hangs on a switch, the root's link. */
#ifndef STAGESIM_HOST_MEMORY_H
#define STAGESIM_HOST_MEMORY_H

#include "platforms/platform.h"

struct arena;

/* The way from the host to its node's memory (out), or back. Links are those of the classes pcie and root at the host's
 * end of a route; where none of its routes has any, the link pcie that has the host's number. No link where the
 * platform has neither. Route links are valid until the next call. */
void host_memory_route(struct platform *platform, uint32_t host, bool out, struct platform_route *route);

/* A platform whose hosts from host_count on are the memories of the hosts before, in their order, with these ways to
 * them and no others. The one given has to live as long; memory from the arena. */
struct platform *host_memory_platform(struct platform *platform, struct arena *arena);

#endif
