/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/network_read.h"

#include "base/arena.h"
#include "platforms/library.h"
#include "platforms/name_table.h"
#include "platforms/network.h"
#include "platforms/platform_file.h"
#include "platforms/properties.h"
#include "platforms/soundness.h"
#include "platforms/units.h"

#include <expat.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { DEPTH_MAX = 64, CHUNK = 1 << 16 };

/* Attributes of <cluster>, in the order of cluster_attributes. */
enum {
    CLUSTER_ID,
    CLUSTER_PREFIX,
    CLUSTER_SUFFIX,
    CLUSTER_RADICAL,
    CLUSTER_SPEED,
    CLUSTER_CORE,
    CLUSTER_BANDWIDTH,
    CLUSTER_LATENCY,
    CLUSTER_POLICY,
    CLUSTER_TOPOLOGY,
    CLUSTER_PARAMETERS,
    CLUSTER_BACKBONE,
    CLUSTER_BACKBONE_LATENCY,
    CLUSTER_BACKBONE_POLICY,
    CLUSTER_ROUTER,
    CLUSTER_LIMITER,
    CLUSTER_LOOPBACK,
    CLUSTER_LOOPBACK_LATENCY,
    CLUSTER_FIELDS
};

enum element { AT_TOP, AT_PLATFORM, AT_ZONE, AT_CLUSTER, AT_HOST, AT_LINK, AT_ROUTE, AT_LEAF };

/* What a zone holds, and how far its elements have come: the order is fixed. */
enum content { HOLDS_NOTHING, HOLDS_ZONES, HOLDS_HOSTS };
enum phase { PHASE_PROPERTIES, PHASE_CONTENT, PHASE_ROUTES };

struct open_element {
    enum element element;
    uint32_t zone; /* the innermost one */
    enum content content;
    enum phase phase;
};

/* A property of the library, until all are known. */
struct library_property {
    const char *key, *value;
    uint32_t zone; /* NETWORK_NONE: of a host */
};

struct reader {
    XML_Parser parser;
    struct arena *arena;
    struct network *network;
    struct name_table points, links, pairs; /* links: those that are no pair */
    struct open_element open[DEPTH_MAX];
    unsigned depth;
    const char *why; /* set: it is SimGrid's */
    /* the host or cluster that is being read */
    struct platform_host host;
    enum network_kind kind;
    unsigned seen;                       /* its properties, by bit */
    const char *cluster[CLUSTER_FIELDS]; /* attributes of the cluster */
    struct library_property *library;    /* of zones up to the second level, and of the first host */
    size_t library_count, library_capacity;
    /* the route that is being read */
    uint32_t ends[2], gateways[2], first_step;
    bool symmetrical;
    /* the cluster that is being made */
    struct platform_link link;
    uint32_t backbone, next_host;
    bool has_type; /* the document is a platform by SimGrid's rules */
};

/* Leaves the file to SimGrid. */
__attribute__((format(printf, 2, 3))) static void leave(struct reader *reader, const char *format, ...)
{
    char text[256];
    va_list arguments;
    if (reader->why)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    reader->why = arena_print(reader->arena, "line %u: %s", (unsigned)XML_GetCurrentLineNumber(reader->parser), text);
    XML_StopParser(reader->parser, XML_FALSE);
}

/* ---- attributes ---- */

/* An attribute that an element may have. */
struct known {
    const char *name, *otherwise; /* NULL: it must be there */
};

/* The values of the known attributes in their order; false where one is unknown, missing, or not plain text. */
static bool take(struct reader *reader, const char *element, const char **attributes, const struct known *known,
                 size_t count, const char **values)
{
    for (size_t i = 0; i < count; i++)
        values[i] = known[i].otherwise;
    for (; *attributes; attributes += 2) {
        size_t i = 0;
        while (i < count && strcmp(known[i].name, attributes[0]) != 0)
            i++;
        if (i == count) {
            leave(reader, "attribute '%.60s' of <%s>", attributes[0], element);
            return false;
        }
        values[i] = attributes[1];
        if (!strcmp(known[i].name, "id") && strchr(attributes[1], ' ')) { /* it may have been another blank */
            leave(reader, "an id with blanks");
            return false;
        }
        for (const char *c = attributes[1]; *c; c++)
            if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f) {
                leave(reader, "characters beyond ASCII in <%s>", element);
                return false;
            }
    }
    for (size_t i = 0; i < count; i++)
        if (!values[i]) {
            leave(reader, "<%s> without %s", element, known[i].name);
            return false;
        }
    return true;
}

#define TAKE(reader, element, attributes, values, ...)                                                                 \
    take(reader, element, attributes, (const struct known[]){__VA_ARGS__},                                             \
         sizeof((const struct known[]){__VA_ARGS__}) / sizeof(struct known), values)

/* A number with its unit, above 0 unless `zero` allows that. */
static bool number(struct reader *reader, bool (*parse)(const char *text, double *value), const char *text, bool zero,
                   double *value)
{
    if (!strpbrk(text, ",; ") && parse(text, value) && (*value > 0 || (zero && *value == 0)))
        return true;
    leave(reader, "the value '%.60s'", text);
    return false;
}

static bool is_any(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (!strcmp(text, *words))
            return true;
    return false;
}

/* Names are unique, whatever they name. */
static bool name_point(struct reader *reader, const char *name, uint32_t point)
{
    if (name_table_add(&reader->points, name, point))
        return true;
    leave(reader, "the name '%.60s' a second time", name);
    return false;
}

static struct open_element *top(struct reader *reader)
{
    return &reader->open[reader->depth - 1];
}

static void push(struct reader *reader, enum element element, uint32_t zone)
{
    if (reader->depth == DEPTH_MAX)
        leave(reader, "elements that deep");
    else
        reader->open[reader->depth++] = (struct open_element){element, zone, HOLDS_NOTHING, PHASE_PROPERTIES};
}

/* An element among the content, or with `routes` among the routes, of the open zone, which then holds what it stands
 * for. */
static bool enter(struct reader *reader, const char *element, enum content content, bool routes)
{
    struct open_element *zone = top(reader);
    enum phase phase = routes ? PHASE_ROUTES : PHASE_CONTENT;
    bool fits = zone->element == AT_ZONE && zone->phase <= phase &&
                (zone->content == content || (zone->content == HOLDS_NOTHING && !routes));
    if (!fits) {
        leave(reader, "<%s> at this place", element);
        return false;
    }
    zone->phase = phase;
    zone->content = content;
    return true;
}

/* ---- zones ---- */

static void start_zone(struct reader *reader, const char **attributes)
{
    static const char *const switches[] = {"Full", "Floyd"};
    const char *values[2];
    struct open_element *outer = top(reader);
    uint32_t parent = outer->zone;
    bool first = outer->element == AT_PLATFORM && outer->content == HOLDS_NOTHING;
    if (!TAKE(reader, "zone", attributes, values, {"id"}, {"routing"}))
        return;
    if (!first && !enter(reader, "zone", HOLDS_ZONES, false))
        return;
    outer->content = HOLDS_ZONES;
    bool floyd = !strcasecmp(values[1], switches[1]);
    if (!floyd && strcasecmp(values[1], switches[0]) != 0) {
        leave(reader, "routing '%.60s'", values[1]);
        return;
    }
    const char *name = arena_copy(reader->arena, values[0]);
    uint32_t zone = network_open(reader->network, name, floyd ? NETWORK_FLOYD : NETWORK_FULL, parent);
    if (name_point(reader, name, reader->network->zones[zone].point))
        push(reader, AT_ZONE, zone);
}

static void end_zone(struct reader *reader)
{
    if (!network_close(reader->network, top(reader)->zone))
        leave(reader, "two routes between the same points");
}

/* ---- hosts, routers, links ---- */

static void clear_host(struct reader *reader)
{
    reader->host = (struct platform_host){.name = ""};
    reader->kind = KIND_NONE;
    reader->seen = 0;
}

static void start_host(struct reader *reader, const char **attributes)
{
    const char *values[8];
    if (!TAKE(reader, "host", attributes, values, {"id"}, {"speed"}, {"core", "1"}, {"pstate", "0"}, {"speed_file", ""},
              {"state_file", ""}, {"availability_file", ""}, {"coordinates", ""}) ||
        !enter(reader, "host", HOLDS_HOSTS, false))
        return;
    clear_host(reader);
    if (strcmp(values[2], "1") != 0 || (strcmp(values[3], "0") != 0 && strcmp(values[3], "0.0") != 0))
        leave(reader, "cores or power states of a host");
    else if (*values[4] || *values[5] || *values[6])
        leave(reader, "a profile");
    else if (*values[7])
        leave(reader, "coordinates");
    else if (number(reader, units_speed, values[1], false, &reader->host.speed)) {
        reader->host.name = arena_copy(reader->arena, values[0]);
        push(reader, AT_HOST, top(reader)->zone);
    }
}

/* Equal texts of hosts that follow each other are the same in memory: hosts of a node are found by that. */
static void share_texts(struct reader *reader)
{
    const struct network *network = reader->network;
    const struct platform_host *before = network->host_count ? &network->hosts[network->host_count - 1] : NULL;
    const char **texts[] = {&reader->host.model, &reader->host.node, &reader->host.nic};
    const char *others[] = {before ? before->model : NULL, before ? before->node : NULL, before ? before->nic : NULL};
    for (unsigned i = 0; i < 3; i++)
        if (*texts[i] && others[i] && !strcmp(*texts[i], others[i]))
            *texts[i] = others[i];
}

static void end_host(struct reader *reader)
{
    uint32_t zone = top(reader)->zone;
    if (!reader->host.node)
        reader->host.node = reader->network->zones[zone].name;
    share_texts(reader);
    name_point(reader, reader->host.name, network_add_host(reader->network, &reader->host, reader->kind, zone));
}

static void start_router(struct reader *reader, const char **attributes)
{
    const char *values[2];
    if (!TAKE(reader, "router", attributes, values, {"id"}, {"coordinates", ""}) ||
        !enter(reader, "router", HOLDS_HOSTS, false))
        return;
    if (*values[1])
        leave(reader, "coordinates");
    const char *name = arena_copy(reader->arena, values[0]);
    name_point(reader, name, network_add_point(reader->network, name, top(reader)->zone));
    push(reader, AT_LEAF, top(reader)->zone);
}

static void add_link(struct reader *reader, const char *id, const char *policy, double bandwidth, double latency)
{
    static const char *const pairs[] = {"SPLITDUPLEX", "FULLDUPLEX", NULL};
    const char *name = arena_copy(reader->arena, id);
    bool fatpipe = !strcmp(policy, "FATPIPE"), added;
    if (is_any(policy, pairs))
        added = name_table_add(&reader->pairs, name, network_add_pair(reader->network, name, bandwidth, latency));
    else if (fatpipe || !strcmp(policy, "SHARED"))
        added = name_table_add(
            &reader->links, name,
            network_add_link(reader->network,
                             (struct platform_link){name, bandwidth, latency, fatpipe ? LINK_FATPIPE : LINK_SHARED}));
    else {
        leave(reader, "a link with sharing_policy '%.60s'", policy);
        return;
    }
    if (!added)
        leave(reader, "the link '%.60s' a second time", name);
}

/* A zone whose content begins with links holds hosts: only so do SimGrid's rules read it. */
static void start_link(struct reader *reader, const char **attributes)
{
    const char *values[7];
    double bandwidth, latency;
    enum content content = top(reader)->content == HOLDS_ZONES ? HOLDS_ZONES : HOLDS_HOSTS;
    if (!TAKE(reader, "link", attributes, values, {"id"}, {"bandwidth"}, {"latency", "0"}, {"sharing_policy", "SHARED"},
              {"bandwidth_file", ""}, {"latency_file", ""}, {"state_file", ""}) ||
        !enter(reader, "link", content, false))
        return;
    if (*values[4] || *values[5] || *values[6])
        leave(reader, "a profile");
    else if (number(reader, units_bandwidth, values[1], false, &bandwidth) &&
             number(reader, units_time, values[2], true, &latency)) {
        add_link(reader, values[0], values[3], bandwidth, latency);
        push(reader, AT_LINK, top(reader)->zone);
    }
}

/* ---- routes ---- */

/* A point that is in the open zone itself. */
static uint32_t find_end(struct reader *reader, const char *name)
{
    uint32_t point = name_table_find(&reader->points, name);
    if (point != NAME_UNKNOWN && reader->network->points[point].zone == top(reader)->zone)
        return point;
    leave(reader, "a route of '%.60s' at this place", name);
    return NETWORK_NONE;
}

static void start_steps(struct reader *reader, const char *symmetrical)
{
    reader->symmetrical = strcasecmp(symmetrical, "yes") == 0;
    reader->first_step = (uint32_t)reader->network->step_count;
    if (!reader->symmetrical && strcasecmp(symmetrical, "no") != 0)
        leave(reader, "symmetrical '%.60s'", symmetrical);
    push(reader, AT_ROUTE, top(reader)->zone);
}

static void start_route(struct reader *reader, const char **attributes)
{
    const char *values[3];
    if (!TAKE(reader, "route", attributes, values, {"src"}, {"dst"}, {"symmetrical", "YES"}) ||
        !enter(reader, "route", HOLDS_HOSTS, true))
        return;
    reader->ends[0] = find_end(reader, values[0]);
    reader->ends[1] = find_end(reader, values[1]);
    reader->gateways[0] = reader->gateways[1] = NETWORK_NONE;
    if (reader->ends[0] == reader->ends[1])
        leave(reader, "a route from a point to itself");
    start_steps(reader, values[2]);
}

/* A host or router inside the zone that `end` stands for. */
static uint32_t find_gateway(struct reader *reader, const char *name, uint32_t end)
{
    const struct network *network = reader->network;
    uint32_t point = name_table_find(&reader->points, name);
    if (end != NETWORK_NONE && point != NAME_UNKNOWN && network->points[point].inside == NETWORK_NONE &&
        network_contains(network, network->points[end].inside, network->points[point].zone))
        return point;
    leave(reader, "the gateway '%.60s'", name);
    return NETWORK_NONE;
}

static void start_zone_route(struct reader *reader, const char **attributes)
{
    const char *values[5];
    if (!TAKE(reader, "zoneRoute", attributes, values, {"src"}, {"dst"}, {"gw_src"}, {"gw_dst"},
              {"symmetrical", "YES"}) ||
        !enter(reader, "zoneRoute", HOLDS_ZONES, true))
        return;
    for (unsigned i = 0; i < 2; i++) {
        reader->ends[i] = find_end(reader, values[i]);
        reader->gateways[i] = find_gateway(reader, values[2 + i], reader->ends[i]);
    }
    if (reader->ends[0] == reader->ends[1])
        leave(reader, "a route from a zone to itself");
    start_steps(reader, values[4]);
}

static void start_step(struct reader *reader, const char **attributes)
{
    const char *values[2];
    if (!TAKE(reader, "link_ctn", attributes, values, {"id"}, {"direction", "NONE"}))
        return;
    bool none = !strcmp(values[1], "NONE"), up = !strcmp(values[1], "UP");
    uint32_t link = name_table_find(none ? &reader->links : &reader->pairs, values[0]);
    if (link == NAME_UNKNOWN || (!none && !up && strcmp(values[1], "DOWN") != 0))
        leave(reader, "the link '%.60s' in direction %.60s", values[0], values[1]);
    else if (none)
        network_add_step(reader->network, link, 0);
    else
        network_add_step(reader->network, up ? link : link + 1, up ? STEP_PAIRED : STEP_PAIRED + STEP_DOWN);
    push(reader, AT_LEAF, top(reader)->zone);
}

static void end_route(struct reader *reader)
{
    if (reader->network->step_count == reader->first_step)
        leave(reader, "a route without links");
    else
        network_add_route(reader->network, reader->first_step, reader->ends, reader->gateways, reader->symmetrical);
}

/* ---- properties ---- */

static void keep_library_property(struct reader *reader, const char *key, const char *value, uint32_t zone)
{
    struct arena *arena = reader->arena;
    reader->library =
        array_grow(reader->library, &reader->library_capacity, reader->library_count + 1, sizeof *reader->library);
    reader->library[reader->library_count++] =
        (struct library_property){arena_copy(arena, key), arena_copy(arena, value), zone};
}

/* Of a property that is given twice SimGrid takes the first. */
static bool is_new_property(struct reader *reader, const char *key)
{
    unsigned bit = 0;
    while (properties_host_keys[bit] && strcmp(properties_host_keys[bit], key) != 0)
        bit++;
    bool known = properties_host_keys[bit] || !strcmp(key, "kind");
    if (known && reader->seen >> bit & 1)
        leave(reader, "the property '%.60s' a second time", key);
    reader->seen |= known ? 1u << bit : 0;
    return !reader->why;
}

static void host_property(struct reader *reader, const char *key, const char *value)
{
    struct fault fault = {""};
    if (!is_new_property(reader, key))
        return;
    if (!strcmp(key, "kind"))
        reader->kind = strcmp(value, "gpu") ? KIND_OTHER : KIND_GPU;
    else if (!properties_set(&reader->host, key, value, reader->arena, &fault))
        leave(reader, "%s", fault.text);
    else if (library_owns(key))
        leave(reader, "the property '%.60s' of a host", key);
}

static void start_property(struct reader *reader, const char **attributes)
{
    const char *values[2];
    const struct open_element *of = top(reader);
    if (!TAKE(reader, "prop", attributes, values, {"id"}, {"value"}))
        return;
    bool is_zone = of->element == AT_ZONE && of->phase == PHASE_PROPERTIES;
    if (of->element == AT_HOST)
        host_property(reader, values[0], values[1]);
    else if (of->element == AT_CLUSTER && library_owns(values[0]))
        keep_library_property(reader, values[0], values[1], NETWORK_NONE);
    else if (of->element == AT_CLUSTER)
        host_property(reader, values[0], values[1]);
    else if (is_zone && library_owns(values[0]) && reader->network->zones[of->zone].depth < 2)
        keep_library_property(reader, values[0], values[1], of->zone);
    else if (!is_zone && of->element != AT_LINK)
        leave(reader, "<prop> at this place");
    push(reader, AT_LEAF, of->zone);
}

/* ---- clusters ---- */

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

static void start_cluster(struct reader *reader, const char **attributes)
{
    const char *values[CLUSTER_FIELDS];
    struct open_element *outer = top(reader);
    bool first = outer->element == AT_PLATFORM && outer->content == HOLDS_NOTHING;
    if (!take(reader, "cluster", attributes, cluster_attributes, CLUSTER_FIELDS, values) ||
        (!first && !enter(reader, "cluster", HOLDS_ZONES, false)))
        return;
    outer->content = HOLDS_ZONES;
    for (unsigned i = 0; i < CLUSTER_FIELDS; i++)
        reader->cluster[i] = arena_copy(reader->arena, values[i]);
    clear_host(reader);
    if (strcmp(values[CLUSTER_CORE], "1") != 0)
        leave(reader, "cores of a cluster");
    else if (*values[CLUSTER_LIMITER] || *values[CLUSTER_LOOPBACK] || *values[CLUSTER_LOOPBACK_LATENCY])
        leave(reader, "a cluster with limiters or loopbacks");
    else
        push(reader, AT_CLUSTER, outer->zone);
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
            leave(reader, "radical '%.60s'", text);
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
        leave(reader, "so many hosts");
    else
        name_point(reader, reader->host.name, network_add_host(reader->network, &reader->host, reader->kind, zone));
}

static bool is_split(const struct reader *reader)
{
    static const char *const pairs[] = {"SPLITDUPLEX", "FULLDUPLEX", NULL};
    return is_any(reader->cluster[CLUSTER_POLICY], pairs);
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
    if (!number(reader, units_time, values[CLUSTER_BACKBONE_LATENCY], true, &latency) ||
        (given && !number(reader, units_bandwidth, values[CLUSTER_BACKBONE], false, &bandwidth)))
        return NETWORK_NONE;
    if (!given && latency > 0)
        leave(reader, "a backbone without bandwidth");
    bool fatpipe = !strcmp(values[CLUSTER_BACKBONE_POLICY], "FATPIPE");
    if (!fatpipe && strcmp(values[CLUSTER_BACKBONE_POLICY], "SHARED") != 0)
        leave(reader, "bb_sharing_policy '%.60s'", values[CLUSTER_BACKBONE_POLICY]);
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
    if (reader->why || !name_point(reader, router, point))
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
        leave(reader, "a torus of '%.60s'", reader->cluster[CLUSTER_PARAMETERS]);
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
        leave(reader, "a dragonfly of '%.60s'", text);
}

static enum network_routing topology_of(struct reader *reader)
{
    static const char *const names[] = {"FLAT", "TORUS", "DRAGONFLY"};
    static const enum network_routing routings[] = {NETWORK_STAR, NETWORK_TORUS, NETWORK_DRAGONFLY};
    static const char *const policies[] = {"SHARED", "SPLITDUPLEX", "FULLDUPLEX", "FATPIPE", NULL};
    if (!is_any(reader->cluster[CLUSTER_POLICY], policies))
        leave(reader, "sharing_policy '%.60s'", reader->cluster[CLUSTER_POLICY]);
    for (unsigned i = 0; i < 3; i++)
        if (!strcmp(reader->cluster[CLUSTER_TOPOLOGY], names[i]))
            return routings[i];
    leave(reader, "topology '%.60s'", reader->cluster[CLUSTER_TOPOLOGY]);
    return NETWORK_STAR;
}

static void end_cluster(struct reader *reader)
{
    const char *const *values = reader->cluster;
    enum network_routing routing = topology_of(reader);
    uint32_t parent = top(reader)->zone, first_host = (uint32_t)reader->network->host_count;
    if (parent != NETWORK_NONE && reader->library_count &&
        reader->library[reader->library_count - 1].zone == NETWORK_NONE)
        leave(reader, "properties of the library on a cluster inside a zone");
    if (reader->why || !number(reader, units_speed, values[CLUSTER_SPEED], false, &reader->host.speed) ||
        !number(reader, units_bandwidth, values[CLUSTER_BANDWIDTH], false, &reader->link.bandwidth) ||
        !number(reader, units_time, values[CLUSTER_LATENCY], true, &reader->link.latency))
        return;
    uint32_t zone = network_open(reader->network, values[CLUSTER_ID], routing, parent);
    if (!name_point(reader, values[CLUSTER_ID], reader->network->zones[zone].point))
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

/* ---- the document ---- */

static void start_platform(struct reader *reader, const char **attributes)
{
    static const char *const versions[] = {"4.1", "4", "4.0", NULL};
    const char *values[1];
    if (!TAKE(reader, "platform", attributes, values, {"version", "0"}))
        return;
    if (!is_any(values[0], versions))
        leave(reader, "version '%.60s'", values[0]);
    if (!reader->has_type)
        leave(reader, "no <!DOCTYPE platform SYSTEM ...>");
    push(reader, AT_PLATFORM, NETWORK_NONE);
}

static void on_start(void *data, const char *name, const char **attributes)
{
    static const struct {
        const char *name;
        void (*start)(struct reader *reader, const char **attributes);
        unsigned within; /* bits of enum element */
    } elements[] = {{"link_ctn", start_step, 1 << AT_ROUTE},
                    {"prop", start_property, 1 << AT_ZONE | 1 << AT_CLUSTER | 1 << AT_HOST | 1 << AT_LINK},
                    {"route", start_route, 1 << AT_ZONE},
                    {"link", start_link, 1 << AT_ZONE},
                    {"host", start_host, 1 << AT_ZONE},
                    {"router", start_router, 1 << AT_ZONE},
                    {"zone", start_zone, 1 << AT_ZONE | 1 << AT_PLATFORM},
                    {"zoneRoute", start_zone_route, 1 << AT_ZONE},
                    {"cluster", start_cluster, 1 << AT_ZONE | 1 << AT_PLATFORM},
                    {"platform", start_platform, 1 << AT_TOP}};
    struct reader *reader = data;
    if (reader->why)
        return;
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (!strcmp(name, elements[i].name) && elements[i].within >> top(reader)->element & 1) {
            elements[i].start(reader, attributes);
            return;
        }
    leave(reader, "<%.60s>", name);
}

static void on_end(void *data, const char *name)
{
    struct reader *reader = data;
    (void)name;
    if (reader->why)
        return;
    switch (top(reader)->element) {
    case AT_ZONE:
        end_zone(reader);
        break;
    case AT_HOST:
        end_host(reader);
        break;
    case AT_ROUTE:
        end_route(reader);
        break;
    case AT_CLUSTER:
        end_cluster(reader);
        break;
    default:
        break;
    }
    reader->depth--;
}

static void on_text(void *data, const char *text, int length)
{
    for (int i = 0; i < length; i++)
        if (!strchr(" \t\r\n", text[i]) || !text[i]) {
            leave(data, "text between elements");
            return;
        }
}

static void on_type(void *data, const char *name, const char *system, const char *public, int internal)
{
    struct reader *reader = data;
    reader->has_type = !strcmp(name, "platform") && system && !strcmp(system, "https://simgrid.org/simgrid.dtd") &&
                       !public && !internal; /* SimGrid knows its rules by this name */
    if (!reader->has_type)
        leave(reader, "a document type of its own");
}

static void on_instruction(void *data, const char *target, const char *text)
{
    (void)target, (void)text;
    leave(data, "a processing instruction");
}

static void on_section(void *data)
{
    leave(data, "a section of CDATA");
}

/* ---- all together ---- */

static void begin(struct reader *reader, struct arena *arena)
{
    *reader = (struct reader){.parser = XML_ParserCreate(NULL), .arena = arena};
    reader->network = network_create(arena);
    push(reader, AT_TOP, NETWORK_NONE);
    if (!reader->parser) {
        reader->why = "no memory for a parser";
        return;
    }
    XML_SetUserData(reader->parser, reader);
    XML_SetElementHandler(reader->parser, on_start, on_end);
    XML_SetCharacterDataHandler(reader->parser, on_text);
    XML_SetStartDoctypeDeclHandler(reader->parser, on_type);
    XML_SetProcessingInstructionHandler(reader->parser, on_instruction);
    XML_SetStartCdataSectionHandler(reader->parser, on_section);
}

static void feed(struct reader *reader, const char *text, size_t size, bool last)
{
    if (reader->why || XML_Parse(reader->parser, text, (int)size, last) == XML_STATUS_OK)
        return;
    leave(reader, "%s", XML_ErrorString(XML_GetErrorCode(reader->parser)));
}

static int by_key(const void *left, const void *right)
{
    const struct library_property *a = left, *b = right;
    bool alone[] = {a->zone == NETWORK_NONE, b->zone == NETWORK_NONE};
    if (a->zone != b->zone)
        return alone[0] || alone[1] ? (alone[0] ? -1 : 1) : a->zone < b->zone ? -1 : 1;
    return strcmp(a->key, b->key);
}

/* Those of hosts, then of zones from the outermost inwards. */
static void fill_library(struct reader *reader, struct platform_library *library)
{
    struct fault fault = {""};
    if (reader->library_count)
        qsort(reader->library, reader->library_count, sizeof *reader->library, by_key);
    for (size_t i = 0; i < reader->library_count && !reader->why; i++) {
        const struct library_property *property = &reader->library[i];
        if (i && by_key(property - 1, property) == 0)
            leave(reader, "the property '%.60s' a second time", property->key);
        else if (!library_set(library, property->key, property->value, &fault))
            leave(reader, "%.200s", fault.text);
    }
    library_complete(library);
}

static struct platform *end(struct reader *reader, const char *name, const char **why)
{
    if (!reader->network->zone_count)
        leave(reader, "no zone");
    struct platform *platform = reader->why ? NULL : network_platform(reader->network, name);
    struct fault fault = {""};
    if (!platform)
        leave(reader, "two links of one name");
    else {
        fill_library(reader, &platform->library);
        if (!platform_sound(platform, reader->arena, &fault))
            leave(reader, "%.200s", fault.text);
    }
    *why = reader->why;
    free(reader->library);
    name_table_finish(&reader->points);
    name_table_finish(&reader->links);
    name_table_finish(&reader->pairs);
    XML_ParserFree(reader->parser);
    return *why ? NULL : platform;
}

struct platform *network_read_file(const char *path, struct arena *arena, const char **why)
{
    FILE *in = fopen(path, "rb");
    struct reader reader;
    if (!in) {
        *why = "it cannot be read";
        return NULL;
    }
    begin(&reader, arena);
    char *buffer = arena_alloc(arena, CHUNK);
    for (size_t length = CHUNK; length == CHUNK && !reader.why;) {
        length = fread(buffer, 1, CHUNK, in);
        feed(&reader, buffer, length, length < CHUNK);
    }
    fclose(in);
    return end(&reader, arena_copy(arena, path), why);
}

struct platform *network_read_text(const char *name, const char *text, size_t size, struct arena *arena,
                                   const char **why)
{
    struct reader reader;
    begin(&reader, arena);
    size_t done = 0;
    do {
        size_t length = size - done < CHUNK ? size - done : CHUNK;
        feed(&reader, text + done, length, done + length == size);
        done += length;
    } while (done < size && !reader.why);
    return end(&reader, name, why);
}
