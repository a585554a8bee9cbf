/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/detour.h"

#include "base/arena.h"
#include "platforms/routing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HOSTS_TRIED = 4096, LEGS_MAX = 3, KEPT_FIRST = 1024, KEPT_MAX = 1 << 20 };

/* A way that was found, to be asked for again: links are kept[first] .. */
struct kept {
    uint32_t from, to, first, count;
    double latency;
    struct detour detour;
    bool used, reached;
};

struct detours {
    struct platform *base, *platform;
    const bool *down;
    struct arena *arena;
    uint32_t *node_of, *starts; /* [host]; hosts of node n: starts[n] .. starts[n + 1] - 1 */
    uint32_t *place;            /* [host]: in its node */
    struct kept *table;         /* of a power of two long, at most half full */
    size_t places, kept_count;
    uint32_t *links; /* of all that are kept */
    size_t link_count, link_capacity;
    uint32_t *way; /* of the newest route, or of one that is being tried */
    size_t way_capacity;
};

/* ---- one way over given hosts ---- */

static void *grow(struct arena *arena, void *array, size_t *capacity, size_t used, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return array;
    *capacity = 2 * needed;
    void *grown = arena_array(arena, *capacity, size);
    if (used)
        memcpy(grown, array, used * size);
    return grown;
}

struct way {
    uint32_t hosts[LEGS_MAX + 1], legs;
    uint32_t count; /* links */
    double latency;
};

/* Whether one link is the way back of the other: UP and DOWN of one cable. */
static bool turns_round(const struct platform *platform, uint32_t in, uint32_t out)
{
    const char *a = platform->links[in].name, *b = platform->links[out].name;
    size_t same = 0;
    while (a[same] && a[same] == b[same])
        same++;
    return (!strcmp(a + same, "UP") && !strcmp(b + same, "DOWN")) ||
           (!strcmp(a + same, "DOWN") && !strcmp(b + same, "UP"));
}

static void append(struct detours *detours, struct way *way, const struct platform_route *leg)
{
    const struct platform *platform = detours->platform;
    uint32_t first = 0;
    way->latency += leg->latency;
    while (way->count && first < leg->link_count &&
           turns_round(platform, detours->way[way->count - 1], leg->links[first])) {
        way->latency -= 2 * platform->links[leg->links[first++]].latency;
        way->count--;
    }
    detours->way = grow(detours->arena, detours->way, &detours->way_capacity, way->count,
                        (size_t)way->count + leg->link_count + 1, sizeof *detours->way);
    memcpy(&detours->way[way->count], leg->links + first, (leg->link_count - first) * sizeof *leg->links);
    way->count += leg->link_count - first;
}

/* Puts the links of the way into detours->way; false where it does not lead there, or over a link that is down. */
static bool follow(struct detours *detours, struct way *way)
{
    way->count = 0;
    way->latency = 0;
    for (uint32_t leg = 0; leg < way->legs; leg++) {
        struct platform_route route;
        uint32_t from = way->hosts[leg], to = way->hosts[leg + 1];
        if (detours->base->reaches && !detours->base->reaches(detours->base, from, to))
            return false;
        detours->base->route(detours->base, from, to, &route);
        append(detours, way, &route);
    }
    for (uint32_t i = 0; i < way->count; i++)
        if (detours->down[detours->way[i]])
            return false;
    way->latency = fmax(way->latency, 0);
    return true;
}

/* Replaces *best by a way over those hosts if it has fewer links. */
static void try(struct detours *detours, uint32_t legs, const uint32_t *hosts, struct way *best)
{
    struct way way = {.legs = legs};
    for (uint32_t i = 0; i < legs; i++)
        if (hosts[i] == hosts[i + 1])
            return;
    memcpy(way.hosts, hosts, (legs + 1) * sizeof *hosts);
    if (follow(detours, &way) && (!best->legs || way.count < best->count))
        *best = way;
}

/* ---- which hosts ---- */

static uint32_t size_of(const struct detours *detours, uint32_t host)
{
    return detours->starts[detours->node_of[host] + 1] - detours->starts[detours->node_of[host]];
}

/* The neighbour of a host in its node at distance `apart` (1, 2, ...), or itself where there is none. */
static uint32_t neighbour(const struct detours *detours, uint32_t host, uint32_t apart)
{
    uint32_t place = detours->place[host] ^ apart;
    return place < size_of(detours, host) ? detours->starts[detours->node_of[host]] + place : host;
}

/* Distances that reach all of a node: up to the next power of two. */
static uint32_t reach_of(const struct detours *detours, uint32_t host)
{
    uint32_t reach = 1;
    while (reach < size_of(detours, host))
        reach *= 2;
    return reach;
}

static void try_neighbours(struct detours *detours, uint32_t from, uint32_t to, struct way *best)
{
    uint32_t reach[] = {reach_of(detours, from), reach_of(detours, to)};
    for (uint32_t apart = 1; apart < reach[0]; apart++)
        try(detours, 2, (uint32_t[]){from, neighbour(detours, from, apart), to}, best);
    if (detours->node_of[from] == detours->node_of[to])
        return;
    for (uint32_t apart = 1; apart < reach[1]; apart++)
        try(detours, 2, (uint32_t[]){from, neighbour(detours, to, apart), to}, best);
    for (uint32_t apart = 1; apart < reach[0] && !best->legs; apart++)
        try(detours, 3, (uint32_t[]){from, neighbour(detours, from, apart), neighbour(detours, to, apart), to}, best);
    for (uint32_t a = 1; a < reach[0] && !best->legs; a++)
        for (uint32_t b = 1; b < reach[1] && !best->legs; b++)
            try(detours, 3, (uint32_t[]){from, neighbour(detours, from, a), neighbour(detours, to, b), to}, best);
}

static void try_all(struct detours *detours, uint32_t from, uint32_t to, struct way *best)
{
    uint32_t hosts = detours->platform->host_count;
    for (uint32_t host = 0; host < hosts && hosts <= HOSTS_TRIED; host++)
        try(detours, 2, (uint32_t[]){from, host, to}, best);
}

static bool find_way(struct detours *detours, uint32_t from, uint32_t to, struct way *best)
{
    *best = (struct way){.legs = 0};
    try(detours, 1, (uint32_t[]){from, to}, best);
    if (best->legs)
        return true;
    try_neighbours(detours, from, to, best);
    if (!best->legs)
        try_all(detours, from, to, best);
    return best->legs && follow(detours, best); /* another may have been tried since */
}

/* ---- ways that were found ---- */

static struct kept *place_of(const struct detours *detours, uint32_t from, uint32_t to)
{
    uint64_t hash = ((uint64_t)from << 32 | to) * 0x9e3779b97f4a7c15u;
    size_t at = (hash >> 32) & (detours->places - 1);
    while (detours->table[at].used && (detours->table[at].from != from || detours->table[at].to != to))
        at = (at + 1) & (detours->places - 1);
    return &detours->table[at];
}

/* For one more. */
static void make_places(struct detours *detours)
{
    if (detours->places > 2 * detours->kept_count)
        return;
    struct kept *before = detours->table;
    size_t count = detours->places;
    detours->places = count ? 2 * count : KEPT_FIRST;
    detours->table = arena_array(detours->arena, detours->places, sizeof *detours->table);
    for (size_t i = 0; i < count; i++)
        if (before[i].used)
            *place_of(detours, before[i].from, before[i].to) = before[i];
}

static struct detour ends_of(const struct detours *detours, const struct way *way)
{
    uint32_t from = way->hosts[0], to = way->hosts[way->legs];
    struct detour ends = {false, false};
    for (uint32_t i = 1; i < way->legs && detours->node_of[from] != detours->node_of[to]; i++) {
        ends.sender |= detours->node_of[way->hosts[i]] == detours->node_of[from];
        ends.receiver |= detours->node_of[way->hosts[i]] == detours->node_of[to];
    }
    return ends;
}

static struct kept look_up(struct detours *detours, uint32_t from, uint32_t to)
{
    make_places(detours);
    struct kept *kept = place_of(detours, from, to), fresh = {.from = from, .to = to, .used = true};
    struct way way;
    if (kept->used)
        return *kept;
    fresh.reached = find_way(detours, from, to, &way);
    if (fresh.reached) {
        fresh.count = way.count;
        fresh.latency = way.latency;
        fresh.detour = ends_of(detours, &way);
    }
    bool keeps = detours->kept_count < KEPT_MAX;
    size_t first = keeps ? detours->link_count : 0;
    fresh.first = (uint32_t)first;
    detours->links = grow(detours->arena, detours->links, &detours->link_capacity, detours->link_count,
                          detours->link_count + fresh.count + 1, sizeof *detours->links);
    if (!keeps)
        fresh.first = (uint32_t)detours->link_count; /* behind those that are kept, until the next call */
    if (fresh.count)
        memcpy(&detours->links[fresh.first], detours->way, fresh.count * sizeof *detours->links);
    if (keeps) {
        *kept = fresh;
        detours->kept_count++;
        detours->link_count += fresh.count;
    }
    return fresh;
}

/* ---- the platform ---- */

static bool passes_down(const struct detours *detours, const struct platform_route *route)
{
    for (uint32_t i = 0; i < route->link_count; i++)
        if (detours->down[route->links[i]])
            return true;
    return false;
}

static void find_route(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route)
{
    struct detours *detours = platform->handle;
    detours->base->route(detours->base, from, to, route);
    if (!passes_down(detours, route))
        return;
    struct kept kept = look_up(detours, from, to);
    const uint32_t *links = &detours->links[kept.first];
    *route = (struct platform_route){kept.latency, routing_rate(platform, links, kept.count), kept.count, links};
}

static bool reaches(struct platform *platform, uint32_t from, uint32_t to)
{
    struct detours *detours = platform->handle;
    struct platform_route route;
    if (detours->base->reaches && !detours->base->reaches(detours->base, from, to))
        return false;
    detours->base->route(detours->base, from, to, &route);
    return !passes_down(detours, &route) || look_up(detours, from, to).reached;
}

struct detour detour_of(struct platform *platform, uint32_t from, uint32_t to)
{
    struct platform_route route;
    if (platform->route != find_route)
        return (struct detour){false, false};
    struct detours *detours = platform->handle;
    detours->base->route(detours->base, from, to, &route);
    return passes_down(detours, &route) ? look_up(detours, from, to).detour : (struct detour){false, false};
}

bool detour_has(const struct platform *platform, struct arena **arena)
{
    if (platform->route != find_route)
        return false;
    *arena = ((struct detours *)platform->handle)->arena;
    return true;
}

/* Both ways. */
static bool are_joined(struct platform *platform, uint32_t a, uint32_t b)
{
    return platform->reaches(platform, a, b) && platform->reaches(platform, b, a);
}

/* Whether a host has no way to hosts of other nodes than its own and that of `beside`; false where there are none. */
static bool is_alone(struct platform *platform, uint32_t host, uint32_t beside)
{
    const struct detours *detours = platform->handle;
    for (uint32_t other = 0; other < platform->host_count; other++)
        if (detours->node_of[other] != detours->node_of[host] && detours->node_of[other] != detours->node_of[beside])
            return !are_joined(platform, host, other);
    return false;
}

bool detour_cuts_off(struct platform *platform, uint32_t *from, uint32_t *to)
{
    uint32_t host = 1;
    while (host < platform->host_count && are_joined(platform, host, 0))
        host++;
    if (host >= platform->host_count)
        return false;
    bool first = is_alone(platform, 0, host);
    *from = first ? 0 : host;
    *to = first ? host : 0;
    return true;
}

/* Hosts of a node follow each other; each run of hosts is one. */
static void find_nodes(struct detours *detours)
{
    const struct platform_host *hosts = detours->platform->hosts;
    uint32_t node = 0;
    for (uint32_t host = 0; host < detours->platform->host_count; host++) {
        bool begins = host && strcmp(hosts[host].node, hosts[host - 1].node) != 0;
        if (begins)
            detours->starts[++node] = host;
        detours->node_of[host] = node;
        detours->place[host] = host - detours->starts[node];
    }
    detours->starts[node + 1] = detours->platform->host_count;
}

struct platform *detour_platform(struct platform *platform, const bool *down, struct arena *arena)
{
    struct detours *detours = arena_alloc(arena, sizeof *detours);
    struct platform *copy = arena_alloc(arena, sizeof *copy);
    size_t hosts = (size_t)platform->host_count + 2;
    *copy = *platform;
    *detours = (struct detours){.base = platform, .platform = copy, .down = down, .arena = arena};
    detours->node_of = arena_array(arena, hosts, sizeof *detours->node_of);
    detours->starts = arena_array(arena, hosts, sizeof *detours->starts);
    detours->place = arena_array(arena, hosts, sizeof *detours->place);
    find_nodes(detours);
    copy->route = find_route;
    copy->reaches = reaches;
    copy->bundle = NULL;
    copy->handle = detours;
    return copy;
}
