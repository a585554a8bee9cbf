/* SPDX-License-Identifier: Apache-2.0 */
/* Ways around links that are down, against graphs searched here: in a mesh and in a ring breadth first, in nodes with
 * network interfaces by hand. */
#include "platforms/detour.h"

#include "base/arena.h"
#include "platforms/presets/presets.h"
#include "platforms/what_if.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct platform *preset(const char *name, uint32_t nodes, struct arena *arena)
{
    struct platform_request request = {.preset = name, .nodes = nodes};
    struct fault fault = {""};
    struct platform *platform = preset_platform(&request, name, arena, &fault);
    cr_assert(platform, "%s", fault.text);
    return platform;
}

/* Both directions of a link by its name. */
static void take_down(const struct platform *platform, const char *name, bool *down)
{
    size_t length = strlen(name);
    unsigned found = 0;
    for (uint32_t i = 0; i < platform->link_count; i++) {
        const char *own = platform->links[i].name;
        if (strncmp(own, name, length) || (strcmp(own + length, "_UP") && strcmp(own + length, "_DOWN")))
            continue;
        down[i] = true;
        found++;
    }
    cr_assert_eq(found, 2, "%s", name);
}

static uint64_t random_state;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

/* Hops between hosts joined by the edges that are left; UINT32_MAX: none. */
static void search(uint32_t hosts, const bool *joined, uint32_t from, uint32_t *hops)
{
    uint32_t queue[64], first = 0, past = 0;
    for (uint32_t i = 0; i < hosts; i++)
        hops[i] = UINT32_MAX;
    hops[from] = 0;
    queue[past++] = from;
    while (first < past) {
        uint32_t at = queue[first++];
        for (uint32_t next = 0; next < hosts; next++)
            if (joined[at * hosts + next] && hops[next] == UINT32_MAX) {
                hops[next] = hops[at] + 1;
                queue[past++] = next;
            }
    }
}

/* In a mesh a way over one other host is found wherever there is one. */
Test(detour, mesh)
{
    enum { HOSTS = 6, CABLES = HOSTS * (HOSTS - 1) / 2 };
    struct arena *arena = arena_create();
    struct platform *base = preset("mesh", HOSTS, arena);
    uint32_t ways = 0, none = 0;
    for (unsigned round = 0; round < 200; round++) {
        bool *down = arena_array(arena, base->link_count, sizeof *down), joined[HOSTS * HOSTS] = {false};
        for (uint32_t a = 0; a < HOSTS; a++)
            for (uint32_t b = a + 1; b < HOSTS; b++) {
                struct platform_route there, back;
                bool up = draw(3) > 0;
                base->route(base, a, b, &there);
                cr_assert_eq(there.link_count, 1);
                uint32_t link = there.links[0];
                base->route(base, b, a, &back);
                down[link] = down[back.links[0]] = !up;
                joined[a * HOSTS + b] = joined[b * HOSTS + a] = up;
            }
        struct platform *platform = detour_platform(base, down, arena);
        for (uint32_t a = 0; a < HOSTS; a++) {
            uint32_t hops[HOSTS];
            search(HOSTS, joined, a, hops);
            for (uint32_t b = 0; b < HOSTS; b++) {
                struct platform_route route;
                if (a == b)
                    continue;
                bool there = platform->reaches(platform, a, b);
                cr_assert_eq(there, hops[b] <= 2, "%u to %u: %u hops", a, b, hops[b]);
                ways += there;
                none += !there;
                platform->route(platform, a, b, &route);
                cr_assert_eq(route.link_count, there ? hops[b] : 0);
                for (uint32_t i = 0; i < route.link_count; i++)
                    cr_assert(!down[route.links[i]]);
            }
        }
    }
    cr_expect(ways > 1000 && none > 10, "%u ways and %u times none", ways, none);
    arena_destroy(arena);
}

/* Around the ring the other way: as many links as there are, but for those that were passed before. */
Test(detour, ring)
{
    enum { HOSTS = 9 };
    struct arena *arena = arena_create();
    struct platform *base = preset("ring", HOSTS, arena);
    struct platform_route broken;
    base->route(base, 3, 4, &broken);
    cr_assert_eq(broken.link_count, 1);
    bool *down = arena_array(arena, base->link_count, sizeof *down);
    down[broken.links[0]] = true;
    struct platform *platform = detour_platform(base, down, arena);
    for (uint32_t a = 0; a < HOSTS; a++)
        for (uint32_t b = 0; b < HOSTS; b++) {
            struct platform_route before, after;
            uint32_t forward = (b + HOSTS - a) % HOSTS, to_it = (3 + HOSTS - a) % HOSTS;
            bool passes = forward <= HOSTS / 2 && to_it < forward;
            if (a == b)
                continue;
            base->route(base, a, b, &before);
            uint32_t count = before.link_count;
            double latency = before.latency;
            platform->route(platform, a, b, &after);
            cr_expect_eq(after.link_count, passes ? HOSTS - count : count, "%u to %u: %u links", a, b,
                         after.link_count);
            cr_expect(fabs(after.latency - latency / count * after.link_count) < 1e-12);
        }
    arena_destroy(arena);
}

/* An interface is down: its GPU sends over NVLink through the neighbour, at both ends through the same one. */
Test(detour, interface)
{
    struct arena *arena = arena_create();
    struct platform *base = preset("dgx-h100", 3, arena);
    bool *down = arena_array(arena, base->link_count, sizeof *down);
    take_down(base, "nic-0-3", down);
    take_down(base, "nic-2-3", down);
    struct platform *platform = detour_platform(base, down, arena);
    static const struct {
        uint32_t from, to;
        bool sender, receiver;
        const char *ways[3];
    } cases[] = {{3, 11, true, false, {"nvlink-0-3_UP", "nvlink-0-2_DOWN", "nic-0-2_UP"}},
                 {11, 3, false, true, {"nic-0-2_DOWN", "nvlink-0-2_UP", "nvlink-0-3_DOWN"}},
                 {3, 19, true, true, {"nic-0-2_UP", "nic-2-2_DOWN", "nvlink-2-3_DOWN"}},
                 {2, 10, false, false, {"nic-0-2_UP", "nic-1-2_DOWN", "pcie-1-2_DOWN"}},
                 {3, 4, false, false, {"nvlink-0-3_UP", "nvlink-0-4_DOWN", "nvlink-0-4_DOWN"}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct platform_route route;
        struct detour detour = detour_of(platform, cases[i].from, cases[i].to);
        cr_expect(detour.sender == cases[i].sender && detour.receiver == cases[i].receiver, "%u to %u", cases[i].from,
                  cases[i].to);
        platform->route(platform, cases[i].from, cases[i].to, &route);
        double rate = INFINITY, latency = 0;
        unsigned passed = 0;
        for (uint32_t k = 0; k < route.link_count; k++) {
            const struct platform_link *link = &platform->links[route.links[k]];
            rate = fmin(rate, link->bandwidth);
            latency += link->latency;
            for (unsigned way = 0; way < 3; way++)
                passed |= (unsigned)!strcmp(link->name, cases[i].ways[way]) << way;
        }
        cr_expect_eq(passed, 7, "%u to %u: not over the expected links", cases[i].from, cases[i].to);
        cr_expect_eq(route.bandwidth, rate);
        cr_expect(fabs(route.latency - latency) < 1e-12, "%g s and %g s", route.latency, latency);
    }
    cr_expect(detour_has(platform, &arena) && !detour_has(base, &arena));
    arena_destroy(arena);
}

/* What would come to a device and leave it by the same cable turns round before it. */
Test(detour, turns_round)
{
    struct arena *arena = arena_create();
    struct platform *base = preset("pcie-a100", 2, arena);
    struct platform_route route;
    base->route(base, 0, base->host_count / 2, &route);
    bool *down = arena_array(arena, base->link_count, sizeof *down);
    for (uint32_t i = 0; i < route.link_count; i++)
        if (!strncmp(base->links[route.links[i]].name, "nic-0-", 6))
            down[route.links[i]] = true;
    struct platform *platform = detour_platform(base, down, arena);
    for (uint32_t from = 0; from < base->host_count / 2; from++)
        for (uint32_t to = base->host_count / 2; to < base->host_count; to++) {
            if (!platform->reaches(platform, from, to))
                continue;
            platform->route(platform, from, to, &route);
            for (uint32_t i = 0; i < route.link_count; i++)
                for (uint32_t k = i + 1; k < route.link_count; k++) {
                    const char *a = platform->links[route.links[i]].name, *b = platform->links[route.links[k]].name;
                    size_t stem = strcspn(a, "_");
                    cr_expect(strncmp(a, b, stem + 1) != 0, "%u to %u: %s and %s", from, to, a, b);
                }
        }
    arena_destroy(arena);
}

/* A node without any interface is named, whichever it is. */
Test(detour, cut_off)
{
    static const char *const culprits[] = {"node-0", "node-1", "node-2", "node-3"};
    for (uint32_t node = 0; node < 4; node++) {
        struct arena *arena = arena_create();
        struct platform *base = preset("dgx-a100", 4, arena);
        char text[64];
        struct what_if change;
        struct fault fault = {""};
        size_t wrong = 9;
        snprintf(text, sizeof text, "nic-%u-*=down", node);
        cr_assert(what_if_parse(text, &change, arena, &fault));
        cr_expect_null(what_if_platform(base, &change, 1, arena, &wrong, &fault));
        cr_expect(strstr(fault.text, culprits[node]) && strstr(fault.text, "cuts off"), "%s: %s", text, fault.text);
        cr_expect_eq(wrong, 0);
        arena_destroy(arena);
    }
}
