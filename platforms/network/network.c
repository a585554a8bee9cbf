/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/network/network.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#define GROW(network, items, capacity, count)                                                                          \
    ((network)->items = arena_grow((network)->arena, (network)->items, &(network)->capacity, (network)->count,         \
                                   sizeof *(network)->items))

struct network *network_create(struct arena *arena)
{
    struct network *network = arena_alloc(arena, sizeof *network);
    network->arena = arena;
    network->loopback = network_add_link(network, platform_loopback);
    return network;
}

uint32_t network_open(struct network *network, const char *name, enum network_routing routing, uint32_t parent)
{
    uint32_t index = (uint32_t)network->zone_count, point = network_add_point(network, name, parent);
    GROW(network, zones, zone_capacity, zone_count);
    network->zones[network->zone_count++] = (struct network_zone){
        .name = name, .routing = routing, .parent = parent, .depth = 0, .point = point, .first_edge = NETWORK_NONE};
    network->points[point].inside = index;
    if (parent != NETWORK_NONE) {
        network->zones[parent].has_zones = true;
        network->zones[index].depth = network->zones[parent].depth + 1;
    }
    return index;
}

uint32_t network_add_point(struct network *network, const char *name, uint32_t zone)
{
    uint32_t number = zone == NETWORK_NONE ? 0 : network->zones[zone].points++;
    GROW(network, points, point_capacity, point_count);
    network->points[network->point_count] = (struct network_point){name, zone, number, NETWORK_NONE, NETWORK_NONE};
    return (uint32_t)network->point_count++;
}

uint32_t network_add_host(struct network *network, const struct platform_host *host, enum network_kind kind,
                          uint32_t zone)
{
    uint32_t point = network_add_point(network, host->name, zone);
    GROW(network, hosts, host_capacity, host_count);
    GROW(network, kinds, kind_capacity, host_count);
    GROW(network, host_points, host_point_capacity, host_count);
    network->hosts[network->host_count] = *host;
    network->kinds[network->host_count] = (uint8_t)kind;
    network->host_points[network->host_count] = point;
    network->points[point].host = (uint32_t)network->host_count++;
    return point;
}

uint32_t network_add_link(struct network *network, struct platform_link link)
{
    GROW(network, links, link_capacity, link_count);
    network->links[network->link_count] = link;
    return (uint32_t)network->link_count++;
}

void network_set_watts(struct network *network, struct platform_link_watts watts)
{
    while (network->watts_count < network->link_count) {
        GROW(network, link_watts, watts_capacity, watts_count);
        network->link_watts[network->watts_count++] = (struct platform_link_watts){0, 0};
    }
    network->link_watts[network->link_count - 1] = watts;
}

/* The two texts joined. */
static const char *joined(struct arena *arena, const char *left, const char *right)
{
    size_t lengths[] = {strlen(left), strlen(right) + 1};
    char *text = arena_alloc(arena, lengths[0] + lengths[1]);
    memcpy(text, left, lengths[0]);
    memcpy(text + lengths[0], right, lengths[1]);
    return text;
}

uint32_t network_add_pair(struct network *network, const char *name, double bandwidth, double latency)
{
    struct arena *arena = network->arena;
    uint32_t up =
        network_add_link(network, (struct platform_link){joined(arena, name, "_UP"), bandwidth, latency, LINK_SHARED});
    network_add_link(network, (struct platform_link){joined(arena, name, "_DOWN"), bandwidth, latency, LINK_SHARED});
    return up;
}

void network_add_step(struct network *network, uint32_t link, uint32_t flags)
{
    GROW(network, steps, step_capacity, step_count);
    network->steps[network->step_count++] = STEP_LINK * link + flags;
}

static uint32_t keep_route(struct network *network, uint32_t first, const uint32_t *gateways)
{
    GROW(network, routes, route_capacity, route_count);
    network->routes[network->route_count] =
        (struct network_route){first, (uint32_t)network->step_count - first, {gateways[0], gateways[1]}};
    return (uint32_t)network->route_count++;
}

void network_add_ray(struct network *network, uint32_t first, uint32_t point)
{
    static const uint32_t none[] = {NETWORK_NONE, NETWORK_NONE};
    struct network_zone *zone = &network->zones[network->points[point].zone];
    if (!zone->rays)
        zone->rays = arena_array(network->arena, zone->points, sizeof *zone->rays);
    zone->rays[network->points[point].number] = keep_route(network, first, none);
}

static void add_edge(struct network *network, uint32_t from, uint32_t to, uint32_t route)
{
    GROW(network, edges, edge_capacity, edge_count);
    network->edges[network->edge_count++] = (struct network_edge){from, to, route};
}

void network_add_route(struct network *network, uint32_t first, const uint32_t *ends, const uint32_t *gateways,
                       bool symmetrical)
{
    uint32_t index = keep_route(network, first, gateways), zone = network->points[ends[0]].zone;
    uint32_t numbers[] = {network->points[ends[0]].number, network->points[ends[1]].number};
    if (network->zones[zone].first_edge == NETWORK_NONE)
        network->zones[zone].first_edge = (uint32_t)network->edge_count;
    add_edge(network, numbers[0], numbers[1], 2 * index);
    if (symmetrical && ends[0] != ends[1])
        add_edge(network, numbers[1], numbers[0], 2 * index + 1);
    network->zones[zone].edges = (uint32_t)network->edge_count - network->zones[zone].first_edge;
}

static int by_ends(const void *left, const void *right)
{
    const struct network_edge *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

bool network_close(struct network *network, uint32_t zone)
{
    struct network_zone *closed = &network->zones[zone];
    if (!closed->edges)
        return true;
    struct network_edge *edges = network->edges + closed->first_edge;
    qsort(edges, closed->edges, sizeof *edges, by_ends);
    for (uint32_t i = 1; i < closed->edges; i++)
        if (by_ends(&edges[i - 1], &edges[i]) == 0)
            return false;
    return true;
}

bool network_contains(const struct network *network, uint32_t within, uint32_t zone)
{
    while (zone != NETWORK_NONE && zone != within)
        zone = network->zones[zone].parent;
    return zone == within;
}
