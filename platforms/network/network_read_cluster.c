/* SPDX-License-Identifier: Apache-2.0 */
/* <cluster>: hosts, links and routes that one element stands for. */
#include "platforms/network/network_reader.h"
#include "platforms/platform_numbers.h"

#include "base/arena.h"
#include "platforms/platform_file.h"
#include "platforms/units.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct known cluster_attributes[CLUSTER_FIELDS] = {{"id", NULL},
                                                                {"prefix", NULL},
                                                                {"suffix", NULL},
                                                                {"radical", NULL},
                                                                {"speed", NULL},
                                                                {"core", "1"},
                                                                {"bw", NULL},
                                                                {"lat", NULL},
                                                                {"sharing_policy", "SPLITDUPLEX"},
                                                                {"topology", "FLAT"},
                                                                {"topo_parameters", ""},
                                                                {"bb_bw", ""},
                                                                {"bb_lat", "0s"},
                                                                {"bb_sharing_policy", "SHARED"},
                                                                {"router_id", ""},
                                                                {"limiter_link", ""},
                                                                {"loopback_bw", ""},
                                                                {"loopback_lat", ""}};

void reader_start_cluster(struct reader *reader, const char **attributes)
{
    const char *values[CLUSTER_FIELDS];
    struct open_element *outer = reader_top(reader);
    bool first = outer->element == AT_PLATFORM && outer->content == HOLDS_NOTHING;
    if (!reader_take(reader, "cluster", attributes, cluster_attributes, CLUSTER_FIELDS, values) ||
        (!first && !reader_enter(reader, "cluster", HOLDS_ZONES, false)))
        return;
    outer->content = HOLDS_ZONES;
    for (unsigned i = 0; i < CLUSTER_FIELDS; i++)
        reader->cluster[i] = arena_copy(reader->arena, values[i]);
    reader_clear_host(reader);
    if (strcmp(values[CLUSTER_CORE], "1") != 0)
        reader_leave(reader, "cores of a cluster");
    else if (*values[CLUSTER_LIMITER] || *values[CLUSTER_LOOPBACK] || *values[CLUSTER_LOOPBACK_LATENCY])
        reader_leave(reader, "a cluster with limiters or loopbacks");
    else
        reader_push(reader, AT_CLUSTER, outer->zone);
}

/* The hosts of "0-3,7", called prefix, number and suffix; `each` is called for every number. */
static void each_number(struct reader *reader, void (*each)(struct reader *reader, uint32_t zone, uint32_t number),
                        uint32_t zone)
{
    const char *text = reader->cluster[CLUSTER_RADICAL];
    for (const char *from = text; !reader->why; from++) {
        char *end = (char *)(uintptr_t)from;
        unsigned long first = *from >= '0' && *from <= '9' ? strtoul(from, &end, 10) : ULONG_MAX, last = first;
        if (first != ULONG_MAX && *end == '-')
            last = end[1] >= '0' && end[1] <= '9' ? strtoul(end + 1, &end, 10) : ULONG_MAX;
        if (last > PLATFORM_HOSTS_MAX || first > last || (*end && *end != ',')) {
            reader_leave(reader, "radical '%.60s'", text);
            return;
        }
        for (unsigned long number = first; number <= last && !reader->why; number++)
            each(reader, zone, (uint32_t)number);
        if (!*end)
            return;
        from = end;
    }
}

static void add_cluster_host(struct reader *reader, uint32_t zone, uint32_t number)
{
    reader->host.name =
        arena_print(reader->arena, "%s%u%s", reader->cluster[CLUSTER_PREFIX], number, reader->cluster[CLUSTER_SUFFIX]);
    if (reader->network->host_count >= PLATFORM_HOSTS_MAX)
        reader_leave(reader, "so many hosts");
    else
        reader_name_point(reader, reader->host.name,
                          network_add_host(reader->network, &reader->host, reader->kind, zone));
}

static bool is_split(const struct reader *reader)
{
    static const char *const pairs[] = {"SPLITDUPLEX", "FULLDUPLEX", NULL};
    return xml_is_any(reader->cluster[CLUSTER_POLICY], pairs);
}

/* A host's way up: its own link, and the backbone where there is one. */
static void add_host_ray(struct reader *reader, uint32_t zone, uint32_t number)
{
    struct network *network = reader->network;
    const struct platform_link *link = &reader->link;
    const char *name = arena_print(reader->arena, "%s_link_%u", reader->cluster[CLUSTER_ID], number);
    uint32_t first = (uint32_t)network->step_count, point = network->host_points[reader->next_host++];
    (void)zone;
    if (is_split(reader))
        network_add_step(network, network_add_pair(network, name, link->bandwidth, link->latency), STEP_PAIRED);
    else
        network_add_step(
            network,
            network_add_link(network, (struct platform_link){name, link->bandwidth, link->latency, LINK_SHARED}), 0);
    if (reader->backbone != NETWORK_NONE)
        network_add_step(network, reader->backbone, 0);
    network_add_ray(network, first, point);
}

/* The backbone of a flat cluster; NETWORK_NONE without. */
static uint32_t add_backbone(struct reader *reader)
{
    const char *const *values = reader->cluster;
    double bandwidth = 0, latency = 0;
    bool given = *values[CLUSTER_BACKBONE] != '\0';
    if (!reader_number(reader, units_time, values[CLUSTER_BACKBONE_LATENCY], true, &latency) ||
        (given && !reader_number(reader, units_bandwidth, values[CLUSTER_BACKBONE], false, &bandwidth)))
        return NETWORK_NONE;
    if (!given && latency > 0)
        reader_leave(reader, "a backbone without bandwidth");
    bool fatpipe = !strcmp(values[CLUSTER_BACKBONE_POLICY], "FATPIPE");
    if (!fatpipe && strcmp(values[CLUSTER_BACKBONE_POLICY], "SHARED") != 0)
        reader_leave(reader, "bb_sharing_policy '%.60s'", values[CLUSTER_BACKBONE_POLICY]);
    if (!given || reader->why)
        return NETWORK_NONE;
    const char *name = arena_print(reader->arena, "%s_backbone", values[CLUSTER_ID]);
    return network_add_link(reader->network,
                            (struct platform_link){name, bandwidth, latency, fatpipe ? LINK_FATPIPE : LINK_SHARED});
}

static void make_flat(struct reader *reader, uint32_t zone, uint32_t first_host)
{
    struct network *network = reader->network;
    const char *const *values = reader->cluster;
    const char *router = *values[CLUSTER_ROUTER] ? values[CLUSTER_ROUTER]
                                                 : arena_print(reader->arena, "%s%s_router%s", values[CLUSTER_PREFIX],
                                                               values[CLUSTER_ID], values[CLUSTER_SUFFIX]);
    reader->backbone = add_backbone(reader);
    reader->next_host = first_host;
    uint32_t point = network_add_point(network, router, zone);
    if (reader->why || !reader_name_point(reader, router, point))
        return;
    each_number(reader, add_host_ray, zone);
    network_add_ray(network, (uint32_t)network->step_count, point);
}

static void make_torus(struct reader *reader, uint32_t zone)
{
    const char *text = reader->cluster[CLUSTER_PARAMETERS];
    uint32_t sizes[4], count = 0;
    for (int used = 0; count < 4 && sscanf(text, "%5u%n", &sizes[count], &used) == 1; count++) {
        text += used;
        if (*text == ',')
            text++;
        else if (*text)
            break;
    }
    if (*text || !count || strpbrk(reader->cluster[CLUSTER_PARAMETERS], " +-") ||
        !network_make_torus(reader->network, zone, sizes, count, &reader->link, is_split(reader)))
        reader_leave(reader, "a torus of '%.60s'", reader->cluster[CLUSTER_PARAMETERS]);
}

static void make_dragonfly(struct reader *reader, uint32_t zone)
{
    const char *text = reader->cluster[CLUSTER_PARAMETERS];
    uint32_t sizes[4], widths[3];
    int used = 0;
    int read = sscanf(text, "%5u,%5u;%5u,%5u;%5u,%5u;%5u%n", &sizes[0], &widths[0], &sizes[1], &widths[1], &sizes[2],
                      &widths[2], &sizes[3], &used);
    if (read != 7 || text[used] || strpbrk(text, " +-") || !widths[0] || !widths[1] || !widths[2] ||
        !network_make_dragonfly(reader->network, zone, sizes, widths, &reader->link, is_split(reader)))
        reader_leave(reader, "a dragonfly of '%.60s'", text);
}

static enum network_routing topology_of(struct reader *reader)
{
    static const char *const names[] = {"FLAT", "TORUS", "DRAGONFLY"};
    static const enum network_routing routings[] = {NETWORK_STAR, NETWORK_TORUS, NETWORK_DRAGONFLY};
    static const char *const policies[] = {"SHARED", "SPLITDUPLEX", "FULLDUPLEX", "FATPIPE", NULL};
    if (!xml_is_any(reader->cluster[CLUSTER_POLICY], policies))
        reader_leave(reader, "sharing_policy '%.60s'", reader->cluster[CLUSTER_POLICY]);
    for (unsigned i = 0; i < 3; i++)
        if (!strcmp(reader->cluster[CLUSTER_TOPOLOGY], names[i]))
            return routings[i];
    reader_leave(reader, "topology '%.60s'", reader->cluster[CLUSTER_TOPOLOGY]);
    return NETWORK_STAR;
}

void reader_end_cluster(struct reader *reader)
{
    const char *const *values = reader->cluster;
    enum network_routing routing = topology_of(reader);
    uint32_t parent = reader_top(reader)->zone, first_host = (uint32_t)reader->network->host_count;
    if (parent != NETWORK_NONE && reader->library_count &&
        reader->library[reader->library_count - 1].zone == NETWORK_NONE)
        reader_leave(reader, "properties of the library on a cluster inside a zone");
    if (reader->why || !reader_number(reader, units_speed, values[CLUSTER_SPEED], false, &reader->host.speed) ||
        !reader_number(reader, units_bandwidth, values[CLUSTER_BANDWIDTH], false, &reader->link.bandwidth) ||
        !reader_number(reader, units_time, values[CLUSTER_LATENCY], true, &reader->link.latency))
        return;
    uint32_t zone = network_open(reader->network, values[CLUSTER_ID], routing, parent);
    if (!reader_name_point(reader, values[CLUSTER_ID], reader->network->zones[zone].point))
        return;
    if (!reader->host.node)
        reader->host.node = values[CLUSTER_ID];
    each_number(reader, add_cluster_host, zone);
    if (reader->why)
        return;
    if (routing == NETWORK_STAR)
        make_flat(reader, zone, first_host);
    else if (routing == NETWORK_TORUS)
        make_torus(reader, zone);
    else
        make_dragonfly(reader, zone);
}
