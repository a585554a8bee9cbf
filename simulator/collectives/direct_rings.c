/* SPDX-License-Identifier: Apache-2.0 */
/* The search is depth-first over cycles through device 0, wide links first, and starts anew in another order when it
 * has taken too many steps. First undirected cycles (each is two rings, there and back), then directed ones, where that
 * could hold more; then both once more with every link cut in two, so that rings share links: the three cycles of four
 * devices use each link twice. Complete directed graphs of n vertices fall into n - 1 Hamiltonian cycles but for n = 4
 * and 6: T. W. Tillson, A Hamiltonian decomposition of K*_2m, 2m >= 8, J. Comb. Theory B 29 (1980). */
#include "simulator/collectives/direct_rings.h"

#include "base/arena.h"
#include "platforms/device.h"

#include <math.h>
#include <string.h>

enum { STEPS_MAX = 20000, ATTEMPTS = 24 };

struct hunt {
    uint32_t devices, wanted, found;
    bool directed;
    uint32_t free[RING_DEVICES_MAX][RING_DEVICES_MAX]; /* what is left of each link and direction */
    bool passed[RING_DEVICES_MAX];
    uint8_t order[RINGS_MAX][RING_DEVICES_MAX];
    uint32_t steps, seed;
};

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Whether a device could have part in that many cycles: each passes two different neighbours, and takes a unit to and
 * from them. */
static bool device_allows(const struct hunt *hunt, uint32_t device, uint32_t cycles)
{
    uint32_t out = 0, in = 0, both = 0;
    for (uint32_t other = 0; other < hunt->devices; other++) {
        uint32_t to = hunt->free[device][other], from = hunt->free[other][device];
        out += least(to, cycles);
        in += least(from, cycles);
        both += least(hunt->directed ? to + from : to, cycles);
    }
    return out >= cycles && in >= cycles && both >= 2 * cycles;
}

static bool allows(const struct hunt *hunt, uint32_t cycles)
{
    for (uint32_t device = 0; device < hunt->devices; device++)
        if (!device_allows(hunt, device, cycles))
            return false;
    return true;
}

/* No more cycles than that exist. */
static uint32_t bound(const struct hunt *hunt)
{
    uint32_t cycles = RINGS_MAX;
    while (!allows(hunt, cycles))
        cycles--;
    return cycles;
}

/* Takes the link from one device to another, in both directions for undirected cycles, or gives it back. */
static void take(struct hunt *hunt, uint32_t from, uint32_t to, bool back)
{
    uint32_t change = back ? 1 : UINT32_MAX; /* minus one */
    hunt->free[from][to] += change;
    if (!hunt->directed)
        hunt->free[to][from] += change;
}

/* Neighbours that were not passed: the wide links first, among equal ones in the order of this attempt. */
static uint32_t neighbours(struct hunt *hunt, uint32_t device, uint8_t *list)
{
    uint32_t count = 0;
    hunt->seed = hunt->seed * 1664525 + 1013904223;
    for (uint32_t i = 0, turn = hunt->seed >> 16; i < hunt->devices; i++) {
        uint32_t other = (i + turn) % hunt->devices, place = count;
        if (hunt->passed[other] || !hunt->free[device][other])
            continue;
        for (; place > 0 && hunt->free[device][list[place - 1]] < hunt->free[device][other]; place--)
            list[place] = list[place - 1];
        list[place] = (uint8_t)other;
        count++;
    }
    return count;
}

static bool next_cycle(struct hunt *hunt);

/* From the device at `depth` of the cycle under way to all others, then home, then the cycles behind it. */
static bool extend(struct hunt *hunt, uint32_t depth)
{
    uint8_t *order = hunt->order[hunt->found], list[RING_DEVICES_MAX];
    uint32_t here = order[depth];
    if (++hunt->steps > STEPS_MAX)
        return false;
    if (depth + 1 == hunt->devices) {
        if (!hunt->free[here][0])
            return false;
        take(hunt, here, 0, false);
        hunt->found++;
        if (next_cycle(hunt))
            return true;
        hunt->found--;
        take(hunt, here, 0, true);
        return false;
    }
    uint32_t count = neighbours(hunt, here, list);
    for (uint32_t i = 0; i < count; i++) {
        order[depth + 1] = list[i];
        hunt->passed[list[i]] = true;
        take(hunt, here, list[i], false);
        if (extend(hunt, depth + 1))
            return true;
        take(hunt, here, list[i], true);
        hunt->passed[list[i]] = false;
    }
    return false;
}

static bool next_cycle(struct hunt *hunt)
{
    if (hunt->found == hunt->wanted)
        return true;
    bool passed[RING_DEVICES_MAX];
    memcpy(passed, hunt->passed, sizeof passed);
    if (allows(hunt, hunt->wanted - hunt->found)) {
        memset(hunt->passed, 0, sizeof hunt->passed);
        hunt->passed[0] = true;
        hunt->order[hunt->found][0] = 0;
        if (extend(hunt, 0))
            return true;
    }
    memcpy(hunt->passed, passed, sizeof passed);
    return false;
}

/* As many cycles as are found, at most `most` and more than `had`. */
static bool hunt_cycles(struct hunt *hunt, uint32_t most, uint32_t had)
{
    struct hunt start = *hunt;
    for (uint32_t wanted = most; wanted > had; wanted--)
        for (uint32_t attempt = 0; attempt < ATTEMPTS; attempt++) {
            *hunt = start;
            hunt->wanted = wanted;
            hunt->seed = attempt * 7919;
            if (next_cycle(hunt))
                return true;
            if (hunt->steps <= STEPS_MAX)
                break; /* all orders were tried */
        }
    return false;
}

/* The cycles as rings: an undirected one goes there and back. */
static void keep(const struct hunt *hunt, uint32_t parts, struct direct_rings *rings)
{
    rings->count = 0;
    rings->parts = parts;
    for (uint32_t cycle = 0; cycle < hunt->found; cycle++) {
        memcpy(rings->order[rings->count++], hunt->order[cycle], sizeof *rings->order);
        for (uint32_t i = 0; i < hunt->devices && !hunt->directed; i++)
            rings->order[rings->count][i] = hunt->order[cycle][(hunt->devices - i) % hunt->devices];
        rings->count += !hunt->directed;
    }
}

static struct hunt hunt_of(const uint32_t *links, uint32_t devices, uint32_t parts, bool directed)
{
    struct hunt hunt = {.devices = devices, .directed = directed};
    for (uint32_t a = 0; a < devices; a++)
        for (uint32_t b = 0; b < devices; b++)
            hunt.free[a][b] = a == b ? 0 : parts * links[a * devices + b];
    return hunt;
}

void direct_rings_search(const uint32_t *links, uint32_t devices, struct direct_rings *rings)
{
    *rings = (struct direct_rings){.devices = devices, .parts = 1};
    for (uint32_t parts = 1; parts <= 2 && devices > 2 && devices <= RING_DEVICES_MAX; parts++) {
        struct hunt directed = hunt_of(links, devices, parts, true), undirected = hunt_of(links, devices, parts, false);
        uint32_t had = rings->count * parts / rings->parts; /* in rings of these parts */
        if (had >= bound(&directed))
            return;
        if (hunt_cycles(&undirected, least(bound(&undirected), RINGS_MAX / 2), had / 2))
            keep(&undirected, parts, rings), had = rings->count;
        if (hunt_cycles(&directed, bound(&directed), had))
            keep(&directed, parts, rings);
    }
}

uint32_t direct_rings_from_to(const struct direct_rings *rings, uint32_t from, uint32_t to)
{
    uint32_t count = 0;
    for (uint32_t ring = 0; ring < rings->count; ring++)
        for (uint32_t i = 0; i < rings->devices; i++)
            count += rings->order[ring][i] == from && rings->order[ring][(i + 1) % rings->devices] == to;
    return count;
}

/* ---- on a platform ---- */

struct mesh {
    uint32_t devices;
    double rates[RING_DEVICES_MAX * RING_DEVICES_MAX];   /* bytes per second; 0: not joined directly */
    uint32_t links[RING_DEVICES_MAX * RING_DEVICES_MAX]; /* the same in units */
    double unit;
};

/* A route of one link that is no other pair's. False where no device is joined to the first one so: a switch. */
static bool measure(struct platform *platform, const uint32_t *hosts, struct mesh *mesh)
{
    uint32_t used[RING_DEVICES_MAX * RING_DEVICES_MAX], n = mesh->devices;
    for (uint32_t a = 0; a < n; a++) {
        bool joined = false;
        for (uint32_t b = 0; b < n; b++) {
            struct platform_route route;
            uint32_t place = a * n + b;
            used[place] = UINT32_MAX;
            mesh->rates[place] = 0;
            if (a == b)
                continue;
            platform->route(platform, hosts[a], hosts[b], &route);
            if (route.link_count != 1 || platform->links[route.links[0]].sharing == LINK_FATPIPE)
                continue;
            used[place] = route.links[0];
            mesh->rates[place] = route.bandwidth;
            joined = true;
            for (uint32_t before = 0; before < place; before++)
                if (used[before] == used[place])
                    return false;
        }
        if (!joined)
            return false;
    }
    return true;
}

/* Whether all links are whole numbers of units. */
static bool divides(const struct mesh *mesh, double unit)
{
    for (uint32_t i = 0; i < mesh->devices * mesh->devices; i++)
        if (mesh->rates[i] > 0 && fabs(mesh->rates[i] / unit - round(mesh->rates[i] / unit)) > 0.02)
            return false;
    return true;
}

/* A unit is one NVLink, where the devices' model says which; otherwise the narrowest link. */
static void count_units(const struct platform *platform, const uint32_t *hosts, struct mesh *mesh)
{
    const char *name = platform->hosts[hosts[0]].model;
    const struct device_model *model = name ? device_find(name) : NULL;
    double narrowest = INFINITY, nvlink = model ? nvlink_effective(model->nvlink_generation) * 1e9 : 0;
    for (uint32_t i = 0; i < mesh->devices * mesh->devices; i++)
        if (mesh->rates[i] > 0)
            narrowest = fmin(narrowest, mesh->rates[i]);
    mesh->unit = nvlink > 0 && nvlink < 1.02 * narrowest && divides(mesh, nvlink) ? nvlink : narrowest;
    for (uint32_t a = 0; a < mesh->devices; a++)
        for (uint32_t b = 0; b < mesh->devices; b++) {
            double both = fmin(mesh->rates[a * mesh->devices + b], mesh->rates[b * mesh->devices + a]);
            mesh->links[a * mesh->devices + b] = (uint32_t)fmin(both / mesh->unit + 0.02, RINGS_MAX);
        }
}

/* What one ring in order carries. */
static double plain_rate(const struct mesh *mesh)
{
    double rate = INFINITY;
    for (uint32_t i = 0; i < mesh->devices; i++)
        rate = fmin(rate, mesh->rates[i * mesh->devices + (i + 1) % mesh->devices]);
    return rate;
}

/* What was found before: no result depends on it. */
struct kept {
    struct mesh mesh;
    struct direct_rings rings;
    struct kept *next;
};
static struct kept *kept_first;

static bool same_mesh(const struct mesh *a, const struct mesh *b)
{
    return a->devices == b->devices && a->unit >= b->unit && a->unit <= b->unit &&
           memcmp(a->links, b->links, sizeof *a->links * a->devices * a->devices) == 0;
}

static const struct direct_rings *find(const struct mesh *mesh)
{
    struct kept *kept = kept_first;
    while (kept && !same_mesh(&kept->mesh, mesh))
        kept = kept->next;
    if (!kept) {
        kept = array_zeroed(1, sizeof *kept);
        kept->mesh = *mesh;
        kept->next = kept_first;
        kept_first = kept;
        direct_rings_search(mesh->links, mesh->devices, &kept->rings);
        direct_rings_find_paths(mesh->links, &kept->rings);
        kept->rings.rate = mesh->unit / kept->rings.parts;
    }
    return &kept->rings;
}

const struct direct_rings *direct_rings_of(struct platform *platform, const uint32_t *hosts, uint32_t devices)
{
    struct mesh mesh = {.devices = devices};
    if (platform->library.rings != PLATFORM_RINGS_ON_LINKS || devices < 3 || devices > RING_DEVICES_MAX ||
        !measure(platform, hosts, &mesh))
        return NULL;
    count_units(platform, hosts, &mesh);
    const struct direct_rings *rings = find(&mesh);
    return rings->count * rings->rate > 1.02 * plain_rate(&mesh) ? rings : NULL;
}
