/* SPDX-License-Identifier: Apache-2.0 */
/* Rings over the links that join the devices of a node directly: as many Hamiltonian cycles as the links hold, each
 * link divided among those that pass it. Libraries for accelerators lay such rings and send equal parts of the data
 * round all of them at once. */
#ifndef STAGESIM_DIRECT_RINGS_H
#define STAGESIM_DIRECT_RINGS_H

#include "platforms/platform.h"

#include <stdbool.h>
#include <stdint.h>

/* Devices of a node, and rings: NCCL has at most 64 channels (MAXCHANNELS, src/include/device.h). */
enum { RING_DEVICES_MAX = 16, RINGS_MAX = 64 };

struct direct_rings {
    uint32_t devices, count;
    uint32_t parts; /* each ring takes 1/parts of a link's unit: above 1 where more rings fit when links are shared */
    double rate;    /* bytes per second of each ring */
    uint8_t order[RINGS_MAX]
                 [RING_DEVICES_MAX]; /* the devices in the order of travel; the last one sends to the first */
    uint8_t path[RING_DEVICES_MAX][RING_DEVICES_MAX]; /* [first device]: all devices along links, each path with a last
                                                         one of its own: how rings over nodes pass a node */
};

/* links[a * devices + b] units join a and b, in both directions: fills count, parts and order; count 0 where no ring
 * passes all devices, or there are fewer than 3. The result depends on the links alone. */
void direct_rings_search(const uint32_t *links, uint32_t devices, struct direct_rings *rings);

/* Fills path, where there are rings. */
void direct_rings_find_paths(const uint32_t *links, struct direct_rings *rings);

/* The rings of members on the platform's hosts, which are in one node. NULL where the library lays none
 * (platform_library.rings), where the members are no mesh, or where they are no faster than one ring in order. What was
 * found is kept: the same links are searched once. Valid as long as the process. */
const struct direct_rings *direct_rings_of(struct platform *platform, const uint32_t *hosts, uint32_t devices);

/* How many rings go from one device to another. */
uint32_t direct_rings_from_to(const struct direct_rings *rings, uint32_t from, uint32_t to);

#endif
