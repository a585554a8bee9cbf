/* SPDX-License-Identifier: Apache-2.0 */
/* Tori and dragonflies as SimGrid's <cluster> has them: names of links, and which way a message takes. */
#include "base/arena.h"
#include "platforms/network/network.h"

/* A link, or a pair with that name; the first one's index. */
static uint32_t add_link(struct network *network, const char *name, const struct platform_link *like, double width,
                         bool split)
{
    if (split)
        return network_add_pair(network, name, like->bandwidth * width, like->latency);
    return network_add_link(network, (struct platform_link){name, like->bandwidth * width, like->latency, LINK_SHARED});
}

static struct network_cluster *make(struct network *network, const uint32_t *sizes, uint32_t dimensions, bool split)
{
    struct network_cluster *cluster = arena_alloc(network->arena, sizeof *cluster);
    for (uint32_t i = 0; i < dimensions; i++)
        cluster->sizes[i] = sizes[i];
    cluster->dimensions = dimensions;
    cluster->split = split;
    return cluster;
}

/* Hosts that the sizes make; 0 for more than a file may have. */
static uint32_t product(const uint32_t *sizes, uint32_t count)
{
    uint64_t all = 1;
    for (uint32_t i = 0; i < count; i++)
        all = all > UINT32_MAX / 64 ? 0 : all * sizes[i];
    return (uint32_t)all;
}

/* ---- torus ---- */

static uint32_t torus_next(const struct network_cluster *cluster, uint32_t host, uint32_t dimension, bool ahead)
{
    uint32_t stride = product(cluster->sizes, dimension), size = cluster->sizes[dimension],
             place = host / stride % size;
    if (ahead)
        return place == size - 1 ? host - place * stride : host + stride;
    return place == 0 ? host + (size - 1) * stride : host - stride;
}

bool network_make_torus(struct network *network, uint32_t zone, const uint32_t *sizes, uint32_t dimensions,
                        const struct platform_link *link, bool split)
{
    struct network_zone *filled = &network->zones[zone];
    uint32_t hosts = product(sizes, dimensions);
    if (!hosts || hosts != filled->points)
        return false;
    struct network_cluster *cluster = make(network, sizes, dimensions, split);
    cluster->links = arena_array(network->arena, (size_t)hosts * dimensions, sizeof *cluster->links);
    for (uint32_t host = 0; host < hosts; host++)
        for (uint32_t i = 0; i < dimensions; i++)
            cluster->links[host * dimensions + i] =
                add_link(network,
                         arena_print(network->arena, "%s_link_from_%u_to_%u", filled->name, host,
                                     torus_next(cluster, host, i, true)),
                         link, 1, split);
    filled->cluster = cluster;
    return true;
}

/* Whether the way from one place to another of a ring of `size` leads ahead. */
static bool leads_ahead(uint32_t from, uint32_t to, uint32_t size)
{
    return (to > from && to <= from + size / 2) || (from > size / 2 && (from + size / 2) % size >= to);
}

/* Dimension by dimension; a link belongs to the host from which it leads ahead. */
static void torus_route(struct network *network, const struct network_cluster *cluster, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < cluster->dimensions; i++) {
        uint32_t stride = product(cluster->sizes, i), size = cluster->sizes[i];
        bool ahead = leads_ahead(from / stride % size, to / stride % size, size);
        while (from / stride % size != to / stride % size) {
            uint32_t next = torus_next(cluster, from, i, ahead);
            uint32_t link = cluster->links[(ahead ? from : next) * cluster->dimensions + i];
            network_pass(network, link + (cluster->split && !ahead));
            from = next;
        }
    }
}

/* ---- dragonfly ---- */

enum { GROUP, CHASSIS, BLADE, NODE };

static void add_local(struct network *network, struct network_cluster *cluster, uint32_t routers,
                      const struct platform_link *link, uint32_t *count)
{
    for (uint32_t router = 0; router < routers; router++)
        for (uint32_t node = 0; node < cluster->sizes[NODE]; node++)
            cluster->links[(*count)++] = add_link(network,
                                                  arena_print(network->arena, "local_link_from_router_%u_to_node_%u_%u",
                                                              router, node, network->dragonfly_links++),
                                                  link, 1, cluster->split);
}

/* Between the blades of each chassis; [chassis][blade][blade], of which the smaller is first. */
static void add_green(struct network *network, struct network_cluster *cluster, const struct platform_link *link,
                      uint32_t width)
{
    uint32_t blades = cluster->sizes[BLADE];
    for (uint32_t chassis = 0; chassis < cluster->sizes[GROUP] * cluster->sizes[CHASSIS]; chassis++)
        for (uint32_t a = 0; a < blades; a++)
            for (uint32_t b = a + 1; b < blades; b++)
                cluster->links[cluster->green + (chassis * blades + a) * blades + b] =
                    add_link(network,
                             arena_print(network->arena, "green_link_in_chassis_%u_between_routers_%u_and_%u_%u",
                                         chassis % cluster->sizes[CHASSIS], a, b, network->dragonfly_links++),
                             link, width, cluster->split);
}

/* Between equal blades of the chassis of each group; [group][chassis][chassis][blade]. */
static void add_black(struct network *network, struct network_cluster *cluster, const struct platform_link *link,
                      uint32_t width)
{
    uint32_t chassis = cluster->sizes[CHASSIS], blades = cluster->sizes[BLADE];
    for (uint32_t group = 0; group < cluster->sizes[GROUP]; group++)
        for (uint32_t a = 0; a < chassis; a++)
            for (uint32_t b = a + 1; b < chassis; b++)
                for (uint32_t blade = 0; blade < blades; blade++)
                    cluster->links[cluster->black + ((group * chassis + a) * chassis + b) * blades + blade] = add_link(
                        network,
                        arena_print(network->arena, "black_link_in_group_%u_between_chassis_%u_and_%u_blade_%u_%u",
                                    group, a, b, blade, network->dragonfly_links++),
                        link, width, cluster->split);
}

/* Between groups; [group][group]. */
static void add_blue(struct network *network, struct network_cluster *cluster, const struct platform_link *link,
                     uint32_t width)
{
    uint32_t groups = cluster->sizes[GROUP], routers = cluster->sizes[CHASSIS] * cluster->sizes[BLADE];
    for (uint32_t a = 0; a < groups; a++)
        for (uint32_t b = a + 1; b < groups; b++)
            cluster->links[cluster->blue + a * groups + b] =
                add_link(network,
                         arena_print(network->arena, "blue_link_between_group_%u_and_%u_routers_%u_and_%u_%u", a, b,
                                     a * routers + b, b * routers + a, network->dragonfly_links++),
                         link, width, cluster->split);
}

bool network_make_dragonfly(struct network *network, uint32_t zone, const uint32_t *sizes, const uint32_t *widths,
                            const struct platform_link *link, bool split)
{
    struct network_zone *filled = &network->zones[zone];
    uint32_t hosts = product(sizes, 4), count = 0, groups = sizes[GROUP];
    /* group i is joined to blade i of the others */
    if (!hosts || hosts != filled->points || (groups > 1 && groups > sizes[BLADE]) || sizes[CHASSIS] > 4096)
        return false;
    struct network_cluster *cluster = make(network, sizes, 4, split);
    uint64_t routers = hosts / sizes[NODE], green = routers * sizes[BLADE], black = routers * sizes[CHASSIS],
             all = hosts + green + black + (uint64_t)groups * groups;
    if (all > UINT32_MAX)
        return false;
    cluster->green = hosts;
    cluster->black = hosts + (uint32_t)green;
    cluster->blue = cluster->black + (uint32_t)black;
    cluster->links = arena_array(network->arena, all, sizeof *cluster->links);
    add_local(network, cluster, (uint32_t)routers, link, &count);
    add_green(network, cluster, link, widths[2]);
    add_black(network, cluster, link, widths[1]);
    add_blue(network, cluster, link, widths[0]);
    filled->cluster = cluster;
    return true;
}

/* From a to b of a kind of link of which `at` gives the place of (smaller, larger). */
static void pass_pair(struct network *network, const struct network_cluster *cluster, uint32_t link, bool up)
{
    network_pass(network, link + (cluster->split && !up));
}

static void pass_green(struct network *network, const struct network_cluster *cluster, const uint32_t *at,
                       uint32_t blade)
{
    uint32_t blades = cluster->sizes[BLADE], chassis = at[GROUP] * cluster->sizes[CHASSIS] + at[CHASSIS];
    uint32_t low = at[BLADE] < blade ? at[BLADE] : blade, high = at[BLADE] < blade ? blade : at[BLADE];
    pass_pair(network, cluster, cluster->links[cluster->green + (chassis * blades + low) * blades + high],
              at[BLADE] == low);
}

static void pass_black(struct network *network, const struct network_cluster *cluster, const uint32_t *at,
                       uint32_t chassis)
{
    uint32_t all = cluster->sizes[CHASSIS];
    uint32_t low = at[CHASSIS] < chassis ? at[CHASSIS] : chassis, high = at[CHASSIS] < chassis ? chassis : at[CHASSIS];
    uint32_t index = ((at[GROUP] * all + low) * all + high) * cluster->sizes[BLADE] + at[BLADE];
    pass_pair(network, cluster, cluster->links[cluster->black + index], at[CHASSIS] == low);
}

/* Where a host is: group, chassis, blade and node. */
static void find_place(const struct network_cluster *cluster, uint32_t host, uint32_t *at)
{
    for (uint32_t i = 4; i-- > 0;) {
        at[i] = host % cluster->sizes[i];
        host /= cluster->sizes[i];
    }
}

/* To the blade of the first chassis that leads to the other group, and over. */
static void pass_blue(struct network *network, const struct network_cluster *cluster, uint32_t *at, uint32_t group)
{
    uint32_t own = at[GROUP], groups = cluster->sizes[GROUP];
    if (at[BLADE] != group)
        pass_green(network, cluster, at, group);
    at[BLADE] = group;
    if (at[CHASSIS] != 0)
        pass_black(network, cluster, at, 0);
    at[CHASSIS] = 0;
    uint32_t low = own < group ? own : group, high = own < group ? group : own;
    pass_pair(network, cluster, cluster->links[cluster->blue + low * groups + high], own == low);
    at[GROUP] = group;
    at[BLADE] = own;
}

/* Up to the router, over as few links as there are, and down. */
static void dragonfly_route(struct network *network, const struct network_cluster *cluster, uint32_t from, uint32_t to)
{
    uint32_t at[4], end[4];
    find_place(cluster, from, at);
    find_place(cluster, to, end);
    pass_pair(network, cluster, cluster->links[from], true);
    if (at[GROUP] != end[GROUP])
        pass_blue(network, cluster, at, end[GROUP]);
    if (at[BLADE] != end[BLADE]) {
        pass_green(network, cluster, at, end[BLADE]);
        at[CHASSIS] = 0; /* SimGrid goes on from the blade of the first chassis, whichever this one is in */
    }
    at[BLADE] = end[BLADE];
    if (at[CHASSIS] != end[CHASSIS])
        pass_black(network, cluster, at, end[CHASSIS]);
    pass_pair(network, cluster, cluster->links[to], false);
}

void network_cluster_route(struct network *network, const struct network_zone *zone, uint32_t from, uint32_t to)
{
    if (zone->routing == NETWORK_TORUS)
        torus_route(network, zone->cluster, from, to);
    else
        dragonfly_route(network, zone->cluster, from, to);
}
