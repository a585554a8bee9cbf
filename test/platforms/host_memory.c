/* SPDX-License-Identifier: Apache-2.0 */
/* A platform with host memories is the platform that it was made of between its hosts, in all that can be asked of it,
 * also where that one was changed before; and each host reaches its own memory, and no other, over its own links. */
#include "platforms/host_memory.h"

#include "base/arena.h"
#include "platforms/presets/presets.h"
#include "platforms/what_if.h"
#include "test/support/same_platform.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct platform *preset(const char *name, uint32_t nodes, const char *change_text, struct arena *arena)
{
    struct platform_request request = {.preset = name, .nodes = nodes};
    struct fault fault = {""};
    struct what_if change;
    size_t wrong;
    struct platform *platform = preset_platform(&request, name, arena, &fault);
    cr_assert(platform, "%s", fault.text);
    if (!change_text)
        return platform;
    cr_assert(what_if_parse(change_text, &change, arena, &fault), "%s", fault.text);
    platform = what_if_platform(platform, &change, 1, arena, &wrong, &fault);
    cr_assert(platform, "%s", fault.text);
    return platform;
}

/* PCI Express there and back: links of the host's own number, and the rate and latency that they have together. */
static void check_memory(struct platform *whole, uint32_t host)
{
    uint32_t hosts = whole->host_count, links[2][2];
    for (unsigned back = 0; back < 2; back++) {
        struct platform_route route;
        uint32_t ends[] = {host, host + hosts};
        whole->route(whole, ends[back], ends[1 - back], &route);
        cr_assert(route.link_count == 1 || route.link_count == 2, "%s: %u links", whole->hosts[host].name,
                  route.link_count);
        double rate = INFINITY, latency = 0;
        for (uint32_t i = 0; i < route.link_count; i++) {
            links[back][i] = route.links[i];
            rate = fmin(rate, whole->links[route.links[i]].bandwidth);
            latency += whole->links[route.links[i]].latency;
        }
        cr_expect(route.bandwidth == rate && fabs(route.latency - latency) < 1e-15);
        cr_expect(strstr(whole->links[links[back][0]].name, back ? "_DOWN" : "_UP"));
        cr_expect_eq(strncmp(whole->links[links[back][0]].name, "pcie-", 5), 0);
    }
    for (uint32_t other = 0; other < hosts; other++) {
        cr_expect_eq(whole->reaches(whole, host, other + hosts), host == other);
        cr_expect_eq(whole->reaches(whole, other + hosts, host), host == other);
    }
}

static void check(const char *name, uint32_t nodes, const char *change)
{
    struct arena *arena = arena_create();
    struct platform *base = preset(name, nodes, change, arena), *whole = host_memory_platform(base, arena);
    char difference[512] = "";
    cr_expect(same_platform(whole, base, 0, 1, difference, sizeof difference), "%s: %s", name, difference);
    for (uint32_t host = 0; host < whole->host_count; host++)
        check_memory(whole, host);
    arena_destroy(arena);
}

Test(host_memory, hosts_are_as_before)
{
    check("dgx-h100", 2, NULL);
    check("dgx-a100", 3, NULL);
    check("dgx-h100", 2, "nic-0-0=down");
    check("dgx-a100", 2, "pcie=0.5");
}

/* A link that is down carries no stash: neither as the beginning of a route nor found by the host's number. */
Test(host_memory, links_that_are_down)
{
    struct arena *arena = arena_create();
    struct platform *platform = preset("dgx-a100", 2, "pcie-0-3=down", arena);
    for (uint32_t host = 0; host < platform->host_count; host++)
        for (unsigned out = 0; out < 2; out++) {
            struct platform_route route;
            host_memory_route(platform, host, out, &route);
            cr_expect_eq(route.link_count == 0, host == 3, "%s: %u links", platform->hosts[host].name,
                         route.link_count);
            for (uint32_t i = 0; i < route.link_count; i++)
                cr_expect(!platform->down[route.links[i]], "%s goes over %s", platform->hosts[host].name,
                          platform->links[route.links[i]].name);
        }
    arena_destroy(arena);
}
