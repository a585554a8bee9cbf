/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/storage.h"

#include "base/arena.h"

#include <math.h>
#include <string.h>

struct storage {
    struct platform platform; /* first: a platform's functions are given it */
    struct platform *base;
    bool *serves;    /* [host] */
    uint32_t *route; /* links of the newest route; as many as the longest so far */
    size_t capacity;
    struct arena *arena;
};

/* The two links behind those of the platform. */
enum { WRITES, READS, OWN_LINKS };

static void make_room(struct storage *storage, size_t count)
{
    if (count <= storage->capacity)
        return;
    storage->capacity = 2 * count;
    storage->route = arena_array_unset(storage->arena, storage->capacity, sizeof *storage->route);
}

static void find_route(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route)
{
    struct storage *storage = (struct storage *)platform;
    uint32_t count = 0, own = storage->base->link_count;
    bool writes = storage->serves[to], reads = storage->serves[from];
    storage->base->route(storage->base, from, to, route);
    if ((!writes && !reads) || from == to)
        return;
    make_room(storage, (size_t)route->link_count + OWN_LINKS);
    if (reads)
        storage->route[count++] = own + READS;
    if (route->link_count)
        memcpy(storage->route + count, route->links, route->link_count * sizeof *route->links);
    count += route->link_count;
    if (writes)
        storage->route[count++] = own + WRITES;
    route->links = storage->route;
    route->link_count = count;
    route->bandwidth = fmin(route->bandwidth, platform->links[own].bandwidth);
}

static bool reaches(struct platform *platform, uint32_t from, uint32_t to)
{
    struct storage *storage = (struct storage *)platform;
    return storage->base->reaches(storage->base, from, to);
}

static double weight(const struct platform *platform, uint32_t from, uint32_t to)
{
    const struct storage *storage = (const struct storage *)platform;
    return storage->base->weight(storage->base, from, to);
}

static void *extend(const void *array, size_t count, size_t size, struct arena *arena)
{
    char *longer = arena_array(arena, count + OWN_LINKS, size);
    if (count)
        memcpy(longer, array, count * size);
    return longer;
}

struct platform *storage_platform(struct platform *platform, const uint32_t *servers, uint32_t count, double rate,
                                  struct arena *arena)
{
    struct storage *storage = arena_alloc(arena, sizeof *storage);
    struct platform *whole = &storage->platform;
    uint32_t own = platform->link_count;
    *storage = (struct storage){.platform = *platform, .base = platform, .arena = arena};
    storage->serves = arena_array(arena, platform->host_count + 1, sizeof *storage->serves);
    for (uint32_t i = 0; i < count; i++)
        storage->serves[servers[i]] = true;
    whole->links = extend(platform->links, own, sizeof *platform->links, arena);
    whole->links[own + WRITES] = (struct platform_link){.name = "storage_writes", .bandwidth = rate};
    whole->links[own + READS] = (struct platform_link){.name = "storage_reads", .bandwidth = rate};
    whole->link_count = own + OWN_LINKS;
    if (platform->down)
        whole->down = extend(platform->down, own, sizeof *platform->down, arena);
    if (platform->link_watts)
        whole->link_watts = extend(platform->link_watts, own, sizeof *platform->link_watts, arena);
    whole->route = find_route;
    whole->reaches = platform->reaches ? reaches : NULL;
    whole->weight = platform->weight ? weight : NULL;
    whole->bundle = NULL;
    return whole;
}
