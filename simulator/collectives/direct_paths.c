/* SPDX-License-Identifier: Apache-2.0 */
/* Rings over nodes enter a node at one device and leave it at another, from which the network interface is near: paths
 * through all devices, one from each, that end at different devices. */
#include "simulator/collectives/direct_rings.h"

#include <string.h>

enum { STEPS_MAX = 10000 };

/* s, s + 1, s - 1, s + 2, s - 2, ...: of an even number of devices these paths together use every link of all pairs
 * once in each direction, for the steps of a path are all different numbers (E. Lucas, Recreations mathematiques II,
 * 1883, after Walecki). False where two that follow each other are not joined. */
static bool zigzag(const uint32_t *links, struct direct_rings *rings)
{
    uint32_t n = rings->devices;
    for (uint32_t start = 0; start < n; start++)
        for (uint32_t place = 0; place < n; place++) {
            uint32_t device = (start + (place % 2 ? (place + 1) / 2 : n - place / 2)) % n;
            rings->path[start][place] = (uint8_t)device;
            if (place && !links[rings->path[start][place - 1] * n + device])
                return false;
        }
    return n % 2 == 0;
}

/* Cutting rings before their starts: of which ring each path is a part. */
struct cuts {
    const struct direct_rings *rings;
    uint32_t place[RINGS_MAX][RING_DEVICES_MAX]; /* of a device in a ring */
    uint32_t ring[RING_DEVICES_MAX];             /* [start] */
    uint32_t used[RINGS_MAX], most;
    bool ends[RING_DEVICES_MAX];
    uint32_t steps;
};

static uint32_t device_at(const struct cuts *cuts, uint32_t ring, uint32_t start, uint32_t place)
{
    return cuts->rings->order[ring][(cuts->place[ring][start] + place) % cuts->rings->devices];
}

/* Rings for the starts from `start` on, each at most `most` times, so that all paths have ends of their own. */
static bool cut(struct cuts *cuts, uint32_t start)
{
    uint32_t n = cuts->rings->devices, count = cuts->rings->count;
    if (start == n)
        return true;
    for (uint32_t i = 0; i < count && cuts->steps < STEPS_MAX; i++) {
        uint32_t ring = (start + i) % count, end = device_at(cuts, ring, start, n - 1);
        if (cuts->used[ring] == cuts->most || cuts->ends[end])
            continue;
        cuts->steps++;
        cuts->used[ring]++;
        cuts->ends[end] = true;
        cuts->ring[start] = ring;
        if (cut(cuts, start + 1))
            return true;
        cuts->used[ring]--;
        cuts->ends[end] = false;
    }
    return false;
}

void direct_rings_find_paths(const uint32_t *links, struct direct_rings *rings)
{
    uint32_t n = rings->devices;
    struct cuts cuts = {.rings = rings};
    if (!rings->count || zigzag(links, rings))
        return;
    for (uint32_t ring = 0; ring < rings->count; ring++)
        for (uint32_t place = 0; place < n; place++)
            cuts.place[ring][rings->order[ring][place]] = place;
    for (cuts.most = (n + rings->count - 1) / rings->count; cuts.most < n && !cut(&cuts, 0); cuts.most++) {
        memset(cuts.used, 0, sizeof cuts.used);
        memset(cuts.ends, 0, sizeof cuts.ends);
        cuts.steps = 0;
    }
    if (cuts.most >= n) /* one ring cut everywhere always does */
        memset(cuts.ring, 0, sizeof cuts.ring);
    for (uint32_t start = 0; start < n; start++)
        for (uint32_t place = 0; place < n; place++)
            rings->path[start][place] = (uint8_t)device_at(&cuts, cuts.ring[start], start, place);
}
