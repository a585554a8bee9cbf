/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/host_memory.h"

#include "base/arena.h"
#include "platforms/view.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

enum { AROUND = 16, CLASS_BYTES = 96 }; /* hosts on either side whose routes are looked at */

static _Thread_local uint32_t found[2]; /* the links of the newest route */

static bool is_class(const struct platform *platform, uint32_t link, const char *name)
{
    char text[CLASS_BYTES];
    view_link_class(platform->links[link].name, text, sizeof text);
    return strcmp(text, name) == 0;
}

/* Takes the links at the host's end of its route to or from another one; how many. */
static uint32_t take_links(struct platform *platform, uint32_t host, uint32_t other, bool out, uint32_t links[2])
{
    static const char *const classes[] = {"pcie", "root"};
    struct platform_route route;
    if (other == host || other >= platform->host_count)
        return 0;
    platform->route(platform, out ? host : other, out ? other : host, &route);
    uint32_t count = 0;
    while (count < 2 && count < route.link_count) {
        uint32_t link = route.links[out ? count : route.link_count - 1 - count];
        if (!is_class(platform, link, classes[count]))
            break;
        links[count++] = link;
    }
    return count;
}

/* What follows the letters of a name: "-0-3" of gpu-0-3. */
static const char *number_of(const char *name)
{
    while (*name && !isdigit((unsigned char)*name))
        name++;
    return name;
}

static uint32_t find_by_number(const struct platform *platform, uint32_t host, bool out)
{
    const char *number = number_of(platform->hosts[host].name);
    char names[2][CLASS_BYTES];
    snprintf(names[0], sizeof names[0], "pcie-%s", number);
    snprintf(names[1], sizeof names[1], "pcie-%s_%s", number, out ? "UP" : "DOWN");
    for (uint32_t link = 0; *number && link < platform->link_count; link++) {
        const char *name = platform->links[link].name;
        bool down = platform->down && platform->down[link];
        if (!down && (!strcmp(name, names[0]) || !strcmp(name, names[1]))) {
            found[0] = link;
            return 1;
        }
    }
    return 0;
}

void host_memory_route(struct platform *platform, uint32_t host, bool out, struct platform_route *route)
{
    uint32_t best = 0, links[2], near = host > AROUND ? host - AROUND : 0;
    const uint32_t far[] = {0, platform->host_count - 1};
    for (uint32_t i = 0; i < 2 * AROUND + 3 && best < 2; i++) {
        uint32_t other = i <= 2 * AROUND ? near + i : far[i - 2 * AROUND - 1];
        uint32_t count = take_links(platform, host, other, out, links);
        if (count > best) {
            best = count;
            memcpy(found, links, sizeof found);
        }
    }
    if (!best)
        best = find_by_number(platform, host, out);
    *route = (struct platform_route){.bandwidth = INFINITY, .link_count = best, .links = found};
    for (uint32_t i = 0; i < best; i++) {
        route->latency += platform->links[found[i]].latency;
        route->bandwidth = fmin(route->bandwidth, platform->links[found[i]].bandwidth);
    }
}

static void find_route(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route)
{
    struct platform *base = platform->handle;
    uint32_t hosts = base->host_count;
    if (from < hosts && to < hosts)
        base->route(base, from, to, route);
    else if (to == from + hosts)
        host_memory_route(base, from, true, route);
    else if (from == to + hosts)
        host_memory_route(base, to, false, route);
    else
        *route = (struct platform_route){.bandwidth = INFINITY};
}

/* A host reaches its own memory, and hosts what they reached before. */
static bool reaches(struct platform *platform, uint32_t from, uint32_t to)
{
    struct platform *base = platform->handle;
    uint32_t hosts = base->host_count;
    if (from < hosts && to < hosts)
        return !base->reaches || base->reaches(base, from, to);
    return to == from + hosts || from == to + hosts;
}

struct platform *host_memory_platform(struct platform *platform, struct arena *arena)
{
    struct platform *whole = arena_alloc(arena, sizeof *whole);
    uint32_t count = platform->host_count;
    *whole = *platform;
    whole->route = find_route;
    whole->reaches = reaches;
    whole->bundle = NULL;
    whole->handle = platform;
    whole->hosts = arena_array(arena, 2 * (size_t)count + 1, sizeof *whole->hosts);
    for (uint32_t host = 0; host < count; host++) {
        size_t size = strlen(platform->hosts[host].name) + sizeof "memory of ";
        char *name = arena_array(arena, size, 1);
        snprintf(name, size, "memory of %s", platform->hosts[host].name);
        whole->hosts[host] = whole->hosts[count + host] = platform->hosts[host];
        whole->hosts[count + host].name = name;
    }
    return whole;
}
