/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives over nodes some of whose interfaces are down: every interface that works carries as much as the others of
 * its node, as many of them as the poorest node has, and those that are down carry nothing. */
#include "simulator/collectives/exits.h"

#include "base/arena.h"
#include "platforms/presets/presets.h"
#include "platforms/what_if.h"
#include "simulator/collectives/communicator.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { NODES = 4, SIZE = 8, RANKS = NODES * SIZE };

static struct platform *broken(const char *const *changes, size_t count, struct arena *arena)
{
    struct platform_request request = {.preset = "dgx-h100", .nodes = NODES};
    struct what_if list[4];
    struct fault fault = {""};
    size_t wrong;
    for (size_t i = 0; i < count; i++)
        cr_assert(what_if_parse(changes[i], &list[i], arena, &fault));
    struct platform *platform = preset_platform(&request, "exits", arena, &fault);
    platform = platform ? what_if_platform(platform, list, count, arena, &wrong, &fault) : NULL;
    cr_assert(platform, "%s", fault.text);
    return platform;
}

/* Bytes over the size that an algorithm sends over each interface, out of the node. */
static void send(struct platform *platform, const struct collective_algorithm *algorithm, double *out,
                 struct arena *arena)
{
    uint32_t hosts[RANKS];
    for (uint32_t i = 0; i < RANKS; i++)
        hosts[i] = i;
    struct communicator *communicator = communicator_create(platform, hosts, RANKS, arena);
    const struct collective_flows *flows = communicator_flows(communicator, STAGESIM_ALL_REDUCE, algorithm);
    memset(out, 0, RANKS * sizeof *out);
    for (size_t i = 0; i < flows->count; i++) {
        struct platform_route route;
        platform->route(platform, flows->items[i].from, flows->items[i].to, &route);
        for (uint32_t k = 0; k < route.link_count; k++) {
            unsigned node, number;
            char way[8];
            if (sscanf(platform->links[route.links[k]].name, "nic-%u-%u_%7s", &node, &number, way) == 3 &&
                !strcmp(way, "UP"))
                out[node * SIZE + number] += flows->items[i].share;
        }
    }
}

/* Interfaces that are down, and how many of each node are used. */
static const struct {
    const char *changes[3];
    size_t count;
    const char *down; /* by node and number */
    uint32_t used;
} cases[] = {
    {{"nic-*-1=down"}, 1, "01000000010000000100000001000000", 7},
    {{"nic-2-5=down"}, 1, "00000000000000000000010000000000", 7},
    {{"nic-0-0=down", "nic-3-7=down"}, 2, "10000000000000000000000000000001", 7},
    {{"nic-1-?=1"}, 1, "00000000000000000000000000000000", 8},
    {{"nic-0-1=down", "nic-0-2=down", "nic-1-*7=down"}, 3, "01100000000000010000000000000000", 6},
};

Test(exits, shares)
{
    static const struct collective_algorithm *const algorithms[] = {&algorithm_ring, &algorithm_double_tree,
                                                                    &algorithm_switch_tree};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t a = 0; a < 3; a++) {
            struct arena *arena = arena_create();
            double before[RANKS], after[RANKS];
            send(broken(NULL, 0, arena), algorithms[a], before, arena);
            send(broken(cases[i].changes, cases[i].count, arena), algorithms[a], after, arena);
            for (uint32_t node = 0; node < NODES; node++) {
                double sent[2] = {0, 0};
                uint32_t used = 0;
                for (uint32_t k = 0; k < SIZE; k++) {
                    uint32_t at = node * SIZE + k;
                    sent[0] += before[at];
                    sent[1] += after[at];
                    used += after[at] > 0;
                    cr_expect(cases[i].down[at] == '0' || after[at] == 0, "case %zu, %s: %u-%u is down and carries %g",
                              i, algorithms[a]->name, node, k, after[at]);
                    cr_expect(after[at] == 0 || fabs(after[at] - before[at] * SIZE / cases[i].used) < 1e-12,
                              "case %zu, %s: %u-%u carries %g, before %g", i, algorithms[a]->name, node, k, after[at],
                              before[at]);
                }
                cr_expect_eq(used, cases[i].used, "case %zu, %s: node %u uses %u", i, algorithms[a]->name, node, used);
                cr_expect(fabs(sent[1] - sent[0]) < 1e-12, "case %zu, %s: node %u sends %g, before %g", i,
                          algorithms[a]->name, node, sent[1], sent[0]);
            }
            arena_destroy(arena);
        }
}

/* A rail that is down everywhere leaves the data on the other rails. */
Test(exits, rails)
{
    struct arena *arena = arena_create();
    struct platform *platform = broken((const char *const[]){"nic-1-4=down"}, 1, arena);
    uint32_t hosts[RANKS];
    for (uint32_t i = 0; i < RANKS; i++)
        hosts[i] = i;
    const struct exits *exits = exits_of(platform, hosts, RANKS, SIZE);
    cr_assert(exits && exits->count == SIZE - 1 && exits->nodes == NODES);
    for (uint32_t node = 0; node < NODES; node++)
        for (uint32_t k = 0; k < exits->count; k++)
            cr_expect_eq(exits_at(exits, node, k), k < 4 ? k : k + 1);
    cr_expect(exits_same(exits, exits_of(platform, hosts, RANKS, SIZE)) && !exits_same(exits, NULL) &&
              exits_same(NULL, NULL));
    cr_expect_null(exits_of(broken(NULL, 0, arena), hosts, RANKS, SIZE));
    cr_expect(exits_count(NULL, 5) == 5 && exits_at(NULL, 3, 4) == 4);
    arena_destroy(arena);
}
