/* SPDX-License-Identifier: Apache-2.0 */
/* struct platform of a network: hosts and links in version order, routes between hosts. */
#include "base/arena.h"
#include "platforms/network/network.h"
#include "platforms/rating.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void find_route(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route)
{
    struct network *network = platform->handle;
    double bandwidth = INFINITY;
    network_find(network, network->host_points[from], network->host_points[to]);
    for (size_t i = 0; i < network->found_count; i++) {
        bandwidth = fmin(bandwidth, network->links[network->found[i]].bandwidth);
        network->found[i] = network->order[network->found[i]];
    }
    *route = (struct platform_route){network->latency, bandwidth, (uint32_t)network->found_count, network->found};
}

static bool reaches(struct platform *platform, uint32_t from, uint32_t to)
{
    struct platform_route route;
    find_route(platform, from, to, &route);
    return from == to || route.link_count > 0 || route.latency > 0;
}

/* Hosts of an innermost zone, in front of its gateway; a host of any other zone has a bundle of its own. */
static void find_bundle(struct platform *platform, uint32_t host, struct platform_bundle *bundle)
{
    struct network *network = platform->handle;
    uint32_t point = network->host_points[host], zone = network->points[point].zone;
    uint32_t exit = network_exit(network, zone);
    *bundle = (struct platform_bundle){(uint32_t)network->zone_count + host, 0, 0};
    if (exit == NETWORK_NONE)
        return;
    bundle->number = zone;
    if (exit == point)
        return;
    network_find(network, point, exit);
    bundle->out = (uint32_t)network->found_count;
    network_find(network, exit, point);
    bundle->in = (uint32_t)network->found_count;
}

/* ---- version order ---- */

static int by_version(const void *left, const void *right, void *names)
{
    const char *const *all = names;
    return strverscmp(all[*(const uint32_t *)left], all[*(const uint32_t *)right]);
}

static int by_version_alone(const void *left, const void *right)
{
    return strverscmp(*(const char *const *)left, *(const char *const *)right);
}

/* Names that begin alike up to their first digit, as a file lists them. */
struct family {
    const char *name;
    size_t length;
    uint32_t count, next;
};

enum { FAMILIES_MAX = 64 };

static uint32_t family_of(struct family *families, uint32_t *count, const char *name)
{
    size_t length = 0;
    while (name[length] && !isdigit((unsigned char)name[length]))
        length++;
    for (uint32_t i = 0; i < *count; i++)
        if (families[i].length == length && !memcmp(families[i].name, name, length))
            return i;
    if (*count < FAMILIES_MAX)
        families[*count] = (struct family){name, length, 0, 0};
    return *count < FAMILIES_MAX ? (*count)++ : FAMILIES_MAX;
}

static bool is_sorted(const char *const *names, const uint32_t *order, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (strverscmp(names[order[i - 1]], names[order[i]]) > 0)
            return false;
    return true;
}

/* A file names links family by family or node by node, within a family nearly always in order: then nothing is left to
 * sort. False where that did not do. */
static bool sort_families(const char *const *names, uint32_t *order, size_t count)
{
    struct family families[FAMILIES_MAX];
    uint32_t used = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t family = family_of(families, &used, names[i]);
        if (family == FAMILIES_MAX)
            return false;
        families[family].count++;
    }
    qsort(families, used, sizeof *families, by_version_alone); /* the name is the first member */
    for (uint32_t i = 1; i < used; i++)
        families[i].next = families[i - 1].next + families[i - 1].count;
    for (size_t i = 0; i < count; i++)
        order[families[family_of(families, &used, names[i])].next++] = (uint32_t)i;
    return is_sorted(names, order, count);
}

/* order[i] becomes the index of the name that is the i-th. */
static void sort_names(const char *const *names, uint32_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    if (!is_sorted(names, order, count) && !sort_families(names, order, count))
        qsort_r(order, count, sizeof *order, by_version, (void *)(uintptr_t)names);
}

/* ---- hosts and links ---- */

/* Every host is a GPU unless some host has a `kind`; then those of kind gpu are. */
static void fill_hosts(struct platform *platform, struct network *network)
{
    const char **names = array_zeroed(network->host_count, sizeof *names);
    uint32_t *order = array_zeroed(network->host_count, sizeof *order);
    uint32_t *points = arena_array(network->arena, network->host_count + 1, sizeof *points);
    bool kinds = false;
    for (size_t i = 0; i < network->host_count; i++) {
        names[i] = network->hosts[i].name;
        kinds |= network->kinds[i] != KIND_NONE;
    }
    sort_names(names, order, network->host_count);
    platform->hosts = arena_array(network->arena, network->host_count + 1, sizeof *platform->hosts);
    for (size_t i = 0; i < network->host_count; i++) {
        if (kinds && network->kinds[order[i]] != KIND_GPU)
            continue;
        points[platform->host_count] = network->host_points[order[i]];
        platform->hosts[platform->host_count++] = network->hosts[order[i]];
    }
    network->host_points = points;
    free(names);
    free(order);
}

static bool fill_links(struct platform *platform, struct network *network)
{
    const char **names = array_zeroed(network->link_count, sizeof *names);
    uint32_t *order = array_zeroed(network->link_count, sizeof *order);
    bool distinct = true;
    for (size_t i = 0; i < network->link_count; i++)
        names[i] = network->links[i].name;
    sort_names(names, order, network->link_count);
    platform->link_count = (uint32_t)network->link_count;
    platform->links = arena_array(network->arena, network->link_count + 1, sizeof *platform->links);
    network->order = arena_array(network->arena, network->link_count + 1, sizeof *network->order);
    for (size_t i = 0; i < network->link_count; i++) {
        platform->links[i] = network->links[order[i]];
        network->order[order[i]] = (uint32_t)i;
        distinct &= i == 0 || strcmp(platform->links[i - 1].name, platform->links[i].name) != 0;
    }
    if (network->watts_count)
        platform->link_watts = arena_array(network->arena, network->link_count + 1, sizeof *platform->link_watts);
    for (size_t i = 0; i < network->watts_count; i++)
        platform->link_watts[network->order[i]] = network->link_watts[i];
    free(names);
    free(order);
    return distinct;
}

struct platform *network_platform(struct network *network, const char *name)
{
    struct platform *platform = arena_alloc(network->arena, sizeof *platform);
    *platform = (struct platform){.file = name,
                                  .loader = "stagesim",
                                  .route = find_route,
                                  .reaches = reaches,
                                  .bundle = find_bundle,
                                  .handle = network};
    fill_hosts(platform, network);
    rating_find(platform);
    return fill_links(platform, network) ? platform : NULL;
}
