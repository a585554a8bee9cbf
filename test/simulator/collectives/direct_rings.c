/* SPDX-License-Identifier: Apache-2.0 */
/* Rings over direct links: as many as known for published nodes, each a Hamiltonian cycle, no link overfull, in less
 * than a second. */
#include "simulator/collectives/direct_rings.h"

#include <criterion/criterion.h>
#include <string.h>

struct cable {
    uint32_t a, b, links;
};

/* Each path passes every device along links, and no two end at the same one. The most paths on one link's unit. */
static uint32_t check_paths(const uint32_t *links, const struct direct_rings *rings)
{
    uint32_t n = rings->devices, load[RING_DEVICES_MAX * RING_DEVICES_MAX] = {0}, most = 0, ends = 0;
    for (uint32_t start = 0; start < n; start++) {
        const uint8_t *path = rings->path[start];
        uint32_t passed = 1u << path[0];
        cr_assert_eq(path[0], start);
        for (uint32_t place = 1; place < n; place++) {
            uint32_t arc = path[place - 1] * n + path[place];
            cr_assert(links[arc], "the path from %u goes from %u to %u", start, path[place - 1], path[place]);
            passed |= 1u << path[place];
            load[arc]++;
            most = (load[arc] + links[arc] - 1) / links[arc] > most ? (load[arc] + links[arc] - 1) / links[arc] : most;
        }
        ends |= 1u << path[n - 1];
        cr_assert_eq(passed, (1u << n) - 1);
    }
    cr_assert_eq(ends, (1u << n) - 1);
    return most;
}

static uint32_t most_on_a_link; /* of the last search */

/* Searches, and checks what was found. */
static struct direct_rings search(uint32_t devices, const struct cable *cables, size_t count)
{
    uint32_t links[RING_DEVICES_MAX * RING_DEVICES_MAX] = {0};
    struct direct_rings rings;
    for (size_t i = 0; i < count; i++)
        links[cables[i].a * devices + cables[i].b] = links[cables[i].b * devices + cables[i].a] = cables[i].links;
    direct_rings_search(links, devices, &rings);
    direct_rings_find_paths(links, &rings);
    for (uint32_t ring = 0; ring < rings.count; ring++) {
        uint32_t passed = 0;
        for (uint32_t i = 0; i < devices; i++)
            passed |= 1u << rings.order[ring][i];
        cr_assert_eq(passed, (1u << devices) - 1, "ring %u does not pass every device", ring);
    }
    for (uint32_t a = 0; a < devices; a++)
        for (uint32_t b = 0; b < devices; b++)
            cr_assert_leq(direct_rings_from_to(&rings, a, b), a == b ? 0 : rings.parts * links[a * devices + b]);
    most_on_a_link = rings.count ? check_paths(links, &rings) : 0;
    return rings;
}

/* All pairs joined by so many links. */
static struct direct_rings search_mesh(uint32_t devices, uint32_t links)
{
    struct cable cables[RING_DEVICES_MAX * RING_DEVICES_MAX];
    size_t count = 0;
    for (uint32_t a = 0; a < devices; a++)
        for (uint32_t b = a + 1; b < devices; b++)
            cables[count++] = (struct cable){a, b, links};
    return search(devices, cables, count);
}

#define SEARCH(devices, ...)                                                                                           \
    search(devices, (const struct cable[]){__VA_ARGS__},                                                               \
           sizeof(const struct cable[]){__VA_ARGS__} / sizeof(struct cable))

/* Every link of both hybrid cube meshes is used: 3 cycles of 8 links are all 24. */
Test(direct_rings, hybrid_cube_meshes)
{
    struct direct_rings dgx_1v =
        SEARCH(8, {0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1}, {1, 5, 2}, {2, 3, 2}, {2, 6, 1},
               {3, 7, 1}, {4, 5, 1}, {4, 6, 1}, {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2});
    cr_assert_eq(dgx_1v.count, 6);
    cr_assert_eq(dgx_1v.parts, 1);
    cr_assert_leq(most_on_a_link, 2);
    struct direct_rings other =
        SEARCH(8, {0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 6, 2}, {1, 2, 2}, {1, 3, 1}, {1, 7, 2}, {2, 3, 2}, {2, 4, 1},
               {3, 5, 1}, {4, 5, 2}, {4, 6, 1}, {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 1});
    cr_assert_eq(other.count, 6);
}

/* Four A100 or GH200 with 2, 4 or 6 NVLinks a pair: 3 rings for each. */
Test(direct_rings, four_devices_with_even_links)
{
    for (uint32_t links = 2; links <= 6; links += 2) {
        struct direct_rings rings = search_mesh(4, links);
        cr_assert_eq(rings.count, 3 * links);
        cr_assert_eq(rings.parts, 1);
    }
}

/* Complete digraphs: p - 1 directed rings, but for 4 and 6, where rings share links. */
Test(direct_rings, xgmi_meshes)
{
    struct direct_rings eight = search_mesh(8, 1), four = search_mesh(4, 1), six = search_mesh(6, 1);
    cr_assert_eq(eight.count, 7);
    cr_assert_eq(eight.parts, 1);
    cr_assert_eq(four.count, 6);
    cr_assert_eq(four.parts, 2);
    cr_assert_eq(six.count, 10);
    cr_assert_eq(six.parts, 2);
    for (uint32_t devices = 3; devices <= RING_DEVICES_MAX; devices++) {
        struct direct_rings rings = search_mesh(devices, 1);
        cr_assert_geq(rings.count, (devices - 2) * rings.parts, "%u devices: %u rings", devices, rings.count);
        cr_assert(devices % 2 || most_on_a_link == 1, "paths of %u devices share links", devices);
    }
}

/* MI250X as Frontier is wired: every second die has two links out of its module, so 4. p3.8xlarge: 1, 1 and 2 links. */
Test(direct_rings, uneven_links)
{
    cr_assert_eq(SEARCH(8, {0, 1, 4}, {2, 3, 4}, {4, 5, 4}, {6, 7, 4}, {0, 6, 2}, {2, 4, 2}, {0, 2, 1}, {1, 3, 1},
                        {1, 5, 1}, {3, 7, 1}, {4, 6, 1}, {5, 7, 1})
                     .count,
                 4);
    cr_assert_eq(SEARCH(4, {0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {1, 2, 2}, {1, 3, 1}, {2, 3, 1}).count, 4);
}

Test(direct_rings, nothing_to_find)
{
    cr_assert_eq(search_mesh(2, 4).count, 0);
    cr_assert_eq(SEARCH(6, {0, 1, 2}, {0, 2, 2}, {1, 2, 2}, {3, 4, 2}, {3, 5, 2}, {4, 5, 2}).count, 0);
    cr_assert_eq(SEARCH(4, {0, 1, 1}, {0, 2, 1}, {0, 3, 1}).count, 0);
}
