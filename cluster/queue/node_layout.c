/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/queue/node_layout.h"

#include "base/arena.h"

#include <string.h>

enum { ALL_PAIRS_MAX = 32 };

void node_layout_create(struct node_layout *layout, struct platform *platform, struct arena *arena)
{
    *layout = (struct node_layout){.platform = platform,
                                   .first = arena_array(arena, (size_t)platform->host_count + 1, sizeof(uint32_t)),
                                   .labels = arena_array(arena, (size_t)platform->link_count + 1, sizeof(uint32_t))};
    for (uint32_t host = 0; host < platform->host_count; host++)
        if (host == 0 || strcmp(platform->hosts[host].node, platform->hosts[host - 1].node) != 0)
            layout->first[layout->node_count++] = host;
    layout->first[layout->node_count] = platform->host_count;
    layout->gpus = arena_array(arena, layout->node_count + (size_t)1, sizeof *layout->gpus);
    for (uint32_t node = 0; node < layout->node_count; node++)
        layout->gpus[node] = layout->first[node + 1] - layout->first[node];
}

uint32_t *node_layout_hosts(const struct node_layout *layout, const uint32_t *nodes, uint32_t count,
                            uint32_t *host_count, struct arena *arena)
{
    *host_count = 0;
    for (uint32_t i = 0; i < count; i++)
        *host_count += layout->gpus[nodes[i]];
    uint32_t *hosts = arena_array(arena, (size_t)*host_count + 1, sizeof *hosts), filled = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t host = layout->first[nodes[i]]; host < layout->first[nodes[i] + 1]; host++)
            hosts[filled++] = host;
    return hosts;
}

/* ---- shapes ---- */

/* A text that is hashed as it grows (Fowler, Noll, Vo), and the labels that links have got in it. */
struct shape {
    struct node_layout *layout;
    uint64_t hash;
    uint32_t labelled;
};

static void put(struct shape *shape, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        shape->hash = (shape->hash ^ at[i]) * UINT64_C(1099511628211);
}

static void put_count(struct shape *shape, uint32_t value)
{
    put(shape, &value, sizeof value);
}

static void put_host(struct shape *shape, const struct platform_host *host)
{
    put(shape, &host->speed, sizeof host->speed);
    put(shape, &host->memory, sizeof host->memory);
    put(shape, host->model ? host->model : "", host->model ? strlen(host->model) + 1 : 1);
}

/* Links are called by the order in which they are met, so that names do not count. */
static void put_route(struct shape *shape, uint32_t from, uint32_t to)
{
    struct platform *platform = shape->layout->platform;
    struct platform_route route;
    if (platform->reaches && !platform->reaches(platform, from, to)) {
        put_count(shape, UINT32_MAX);
        return;
    }
    platform->route(platform, from, to, &route);
    put_count(shape, route.link_count);
    for (uint32_t i = 0; i < route.link_count; i++) {
        uint32_t *label = &shape->layout->labels[route.links[i]];
        const struct platform_link *link = &platform->links[route.links[i]];
        if (*label) {
            put_count(shape, *label);
            continue;
        }
        *label = ++shape->labelled;
        put(shape, &link->bandwidth, sizeof link->bandwidth);
        put(shape, &link->latency, sizeof link->latency);
        put_count(shape, link->sharing);
    }
}

static void put_node(struct shape *shape, uint32_t node)
{
    const struct node_layout *layout = shape->layout;
    uint32_t first = layout->first[node], past = layout->first[node + 1];
    put_count(shape, past - first);
    for (uint32_t a = first; a < past; a++) {
        put_host(shape, &layout->platform->hosts[a]);
        for (uint32_t b = first; b < past; b++)
            if (a != b)
                put_route(shape, a, b);
    }
}

static void put_pair(struct shape *shape, uint32_t a, uint32_t b)
{
    const uint32_t *first = shape->layout->first;
    uint32_t left = first[a + 1] - first[a], right = first[b + 1] - first[b];
    for (uint32_t i = 0; i < left && i < right; i++) {
        put_route(shape, first[a] + i, first[b] + i);
        put_route(shape, first[b] + i, first[a] + i);
    }
}

uint64_t node_layout_shape(struct node_layout *layout, const uint32_t *nodes, uint32_t count)
{
    struct shape shape = {layout, UINT64_C(14695981039346656037), 0};
    memset(layout->labels, 0, ((size_t)layout->platform->link_count + 1) * sizeof *layout->labels);
    put_count(&shape, count);
    for (uint32_t i = 0; i < count; i++)
        put_node(&shape, nodes[i]);
    for (uint32_t distance = 1; distance<count; distance = count> ALL_PAIRS_MAX ? 2 * distance : distance + 1)
        for (uint32_t i = 0; i < count; i++)
            if (i + distance < count)
                put_pair(&shape, nodes[i], nodes[i + distance]);
    return shape.hash;
}
