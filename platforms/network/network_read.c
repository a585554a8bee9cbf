/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/network/network_read.h"
#include "platforms/platform_numbers.h"

#include "base/arena.h"
#include "base/paths.h"
#include "base/xml/feed.h"
#include "platforms/library.h"
#include "platforms/network/network_reader.h"
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

enum { CHUNK = 1 << 16 };
/* ---- zones ---- */

static void start_zone(struct reader *reader, const char **attributes)
{
    static const struct {
        const char *name;
        enum network_routing routing;
        bool tree; /* what SimGrid takes is known where there is one way only */
    } kinds[] = {{"Full", NETWORK_FULL, false},
                 {"Floyd", NETWORK_FLOYD, false},
                 {"Dijkstra", NETWORK_FLOYD, true},
                 {"DijkstraCache", NETWORK_FLOYD, true}};
    size_t kind = 0;
    const char *values[2];
    struct open_element *outer = reader_top(reader);
    uint32_t parent = outer->zone;
    bool first = outer->element == AT_PLATFORM && outer->content == HOLDS_NOTHING;
    if (!TAKE(reader, "zone", attributes, values, {"id"}, {"routing"}))
        return;
    if (!first && !reader_enter(reader, "zone", HOLDS_ZONES, false))
        return;
    outer->content = HOLDS_ZONES;
    while (kind < sizeof kinds / sizeof *kinds && strcasecmp(values[1], kinds[kind].name) != 0)
        kind++;
    if (kind == sizeof kinds / sizeof *kinds || (kinds[kind].tree && !first)) {
        reader_leave(reader, "routing '%.60s'", values[1]);
        return;
    }
    const char *name = arena_copy(reader->arena, values[0]);
    uint32_t zone = network_open(reader->network, name, kinds[kind].routing, parent);
    reader->network->zones[zone].must_be_tree = kinds[kind].tree;
    if (reader_name_point(reader, name, reader->network->zones[zone].point))
        reader_push(reader, AT_ZONE, zone);
}

static void end_zone(struct reader *reader)
{
    uint32_t zone = reader_top(reader)->zone;
    if (!network_close(reader->network, zone))
        reader_leave(reader, "two routes between the same points");
    else if (reader->network->zones[zone].must_be_tree && !network_is_tree(reader->network, zone))
        reader_leave(reader, "a zone with routing Dijkstra that is no tree of routes of one link");
}

/* ---- hosts, routers, links ---- */

static void start_host(struct reader *reader, const char **attributes)
{
    const char *values[8];
    if (!TAKE(reader, "host", attributes, values, {"id"}, {"speed"}, {"core", "1"}, {"pstate", "0"}, {"speed_file", ""},
              {"state_file", ""}, {"availability_file", ""}, {"coordinates", ""}) ||
        !reader_enter(reader, "host", HOLDS_HOSTS, false))
        return;
    reader_clear_host(reader);
    if (strcmp(values[2], "1") != 0 || (strcmp(values[3], "0") != 0 && strcmp(values[3], "0.0") != 0))
        reader_leave(reader, "cores or power states of a host");
    else if (*values[4] || *values[5] || *values[6])
        reader_leave(reader, "a profile");
    else if (*values[7])
        reader_leave(reader, "coordinates");
    else if (reader_number(reader, units_speed, values[1], false, &reader->host.speed)) {
        reader->host.name = arena_copy(reader->arena, values[0]);
        reader_push(reader, AT_HOST, reader_top(reader)->zone);
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
    uint32_t zone = reader_top(reader)->zone;
    if (!reader->host.node)
        reader->host.node = reader->network->zones[zone].name;
    share_texts(reader);
    reader_name_point(reader, reader->host.name, network_add_host(reader->network, &reader->host, reader->kind, zone));
}

static void start_router(struct reader *reader, const char **attributes)
{
    const char *values[2];
    if (!TAKE(reader, "router", attributes, values, {"id"}, {"coordinates", ""}) ||
        !reader_enter(reader, "router", HOLDS_HOSTS, false))
        return;
    if (*values[1])
        reader_leave(reader, "coordinates");
    const char *name = arena_copy(reader->arena, values[0]);
    reader_name_point(reader, name, network_add_point(reader->network, name, reader_top(reader)->zone));
    reader_push(reader, AT_LEAF, reader_top(reader)->zone);
}

static void add_link(struct reader *reader, const char *id, const char *policy, double bandwidth, double latency)
{
    static const char *const pairs[] = {"SPLITDUPLEX", "FULLDUPLEX", NULL};
    const char *name = arena_copy(reader->arena, id);
    bool fatpipe = !strcmp(policy, "FATPIPE"), added;
    if (xml_is_any(policy, pairs))
        added = name_table_add(&reader->pairs, name, network_add_pair(reader->network, name, bandwidth, latency));
    else if (fatpipe || !strcmp(policy, "SHARED"))
        added = name_table_add(
            &reader->links, name,
            network_add_link(reader->network,
                             (struct platform_link){name, bandwidth, latency, fatpipe ? LINK_FATPIPE : LINK_SHARED}));
    else {
        reader_leave(reader, "a link with sharing_policy '%.60s'", policy);
        return;
    }
    if (!added)
        reader_leave(reader, "the link '%.60s' a second time", name);
}

/* A zone whose content begins with links holds hosts: only so do SimGrid's rules read it. */
static void start_link(struct reader *reader, const char **attributes)
{
    const char *values[7];
    double bandwidth, latency;
    enum content content = reader_top(reader)->content == HOLDS_ZONES ? HOLDS_ZONES : HOLDS_HOSTS;
    if (!TAKE(reader, "link", attributes, values, {"id"}, {"bandwidth"}, {"latency", "0"}, {"sharing_policy", "SHARED"},
              {"bandwidth_file", ""}, {"latency_file", ""}, {"state_file", ""}) ||
        !reader_enter(reader, "link", content, false))
        return;
    if (*values[4] || *values[5] || *values[6])
        reader_leave(reader, "a profile");
    else if (reader_number(reader, units_bandwidth, values[1], false, &bandwidth) &&
             reader_number(reader, units_time, values[2], true, &latency)) {
        add_link(reader, values[0], values[3], bandwidth, latency);
        reader_push(reader, AT_LINK, reader_top(reader)->zone);
    }
}

/* ---- routes ---- */

/* A point that is in the open zone itself. */
static uint32_t find_end(struct reader *reader, const char *name)
{
    uint32_t point = name_table_find(&reader->points, name);
    if (point != NAME_UNKNOWN && reader->network->points[point].zone == reader_top(reader)->zone)
        return point;
    reader_leave(reader, "a route of '%.60s' at this place", name);
    return NETWORK_NONE;
}

static void start_steps(struct reader *reader, const char *symmetrical)
{
    reader->symmetrical = strcasecmp(symmetrical, "yes") == 0;
    reader->first_step = (uint32_t)reader->network->step_count;
    if (!reader->symmetrical && strcasecmp(symmetrical, "no") != 0)
        reader_leave(reader, "symmetrical '%.60s'", symmetrical);
    reader_push(reader, AT_ROUTE, reader_top(reader)->zone);
}

static void start_route(struct reader *reader, const char **attributes)
{
    const char *values[3];
    if (!TAKE(reader, "route", attributes, values, {"src"}, {"dst"}, {"symmetrical", "YES"}) ||
        !reader_enter(reader, "route", HOLDS_HOSTS, true))
        return;
    reader->ends[0] = find_end(reader, values[0]);
    reader->ends[1] = find_end(reader, values[1]);
    reader->gateways[0] = reader->gateways[1] = NETWORK_NONE;
    if (reader->ends[0] == reader->ends[1])
        reader_leave(reader, "a route from a point to itself");
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
    reader_leave(reader, "the gateway '%.60s'", name);
    return NETWORK_NONE;
}

static void start_zone_route(struct reader *reader, const char **attributes)
{
    const char *values[5];
    if (!TAKE(reader, "zoneRoute", attributes, values, {"src"}, {"dst"}, {"gw_src"}, {"gw_dst"},
              {"symmetrical", "YES"}) ||
        !reader_enter(reader, "zoneRoute", HOLDS_ZONES, true))
        return;
    for (unsigned i = 0; i < 2; i++) {
        reader->ends[i] = find_end(reader, values[i]);
        reader->gateways[i] = find_gateway(reader, values[2 + i], reader->ends[i]);
    }
    if (reader->ends[0] == reader->ends[1])
        reader_leave(reader, "a route from a zone to itself");
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
        reader_leave(reader, "the link '%.60s' in direction %.60s", values[0], values[1]);
    else if (none)
        network_add_step(reader->network, link, 0);
    else
        network_add_step(reader->network, up ? link : link + 1, up ? STEP_PAIRED : STEP_PAIRED + STEP_DOWN);
    reader_push(reader, AT_LEAF, reader_top(reader)->zone);
}

static void end_route(struct reader *reader)
{
    if (reader->network->step_count == reader->first_step)
        reader_leave(reader, "a route without links");
    else
        network_add_route(reader->network, reader->first_step, reader->ends, reader->gateways, reader->symmetrical);
}

/* ---- the document ---- */

static void start_platform(struct reader *reader, const char **attributes)
{
    static const char *const versions[] = {"4.1", "4", "4.0", NULL};
    const char *values[1];
    if (!TAKE(reader, "platform", attributes, values, {"version", "0"}))
        return;
    if (!xml_is_any(values[0], versions))
        reader_leave(reader, "version '%.60s'", values[0]);
    if (!reader->has_type)
        reader_leave(reader, "no <!DOCTYPE platform SYSTEM ...>");
    reader_push(reader, AT_PLATFORM, NETWORK_NONE);
}

static void on_start(void *data, const char *name, const char **attributes)
{
    static const struct {
        const char *name;
        void (*start)(struct reader *reader, const char **attributes);
        unsigned within; /* bits of enum element */
    } elements[] = {{"link_ctn", start_step, 1 << AT_ROUTE},
                    {"prop", reader_start_property, 1 << AT_ZONE | 1 << AT_CLUSTER | 1 << AT_HOST | 1 << AT_LINK},
                    {"route", start_route, 1 << AT_ZONE},
                    {"link", start_link, 1 << AT_ZONE},
                    {"host", start_host, 1 << AT_ZONE},
                    {"router", start_router, 1 << AT_ZONE},
                    {"zone", start_zone, 1 << AT_ZONE | 1 << AT_PLATFORM},
                    {"zoneRoute", start_zone_route, 1 << AT_ZONE},
                    {"cluster", reader_start_cluster, 1 << AT_ZONE | 1 << AT_PLATFORM},
                    {"platform", start_platform, 1 << AT_TOP}};
    struct reader *reader = data;
    if (reader->why)
        return;
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (!strcmp(name, elements[i].name) && elements[i].within >> reader_top(reader)->element & 1) {
            elements[i].start(reader, attributes);
            return;
        }
    reader_leave(reader, "<%.60s>", name);
}

static void on_end(void *data, const char *name)
{
    struct reader *reader = data;
    (void)name;
    if (reader->why)
        return;
    switch (reader_top(reader)->element) {
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
        reader_end_cluster(reader);
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
            reader_leave(data, "text between elements");
            return;
        }
}

static void on_type(void *data, const char *name, const char *system, const char *public, int internal)
{
    struct reader *reader = data;
    reader->has_type = !strcmp(name, "platform") && system && !strcmp(system, "https://simgrid.org/simgrid.dtd") &&
                       !public && !internal; /* SimGrid knows its rules by this name */
    if (!reader->has_type)
        reader_leave(reader, "a document type of its own");
}

static void on_instruction(void *data, const char *target, const char *text)
{
    (void)target, (void)text;
    reader_leave(data, "a processing instruction");
}

static void on_section(void *data)
{
    reader_leave(data, "a section of CDATA");
}

/* ---- all together ---- */

static void begin(struct reader *reader, struct arena *arena)
{
    *reader = (struct reader){.parser = XML_ParserCreate(NULL), .arena = arena};
    reader->network = network_create(arena);
    reader_push(reader, AT_TOP, NETWORK_NONE);
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
    reader_leave(reader, "%s", XML_ErrorString(XML_GetErrorCode(reader->parser)));
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
            reader_leave(reader, "the property '%.60s' a second time", property->key);
        else if (!library_set(library, property->key, property->value, &fault))
            reader_leave(reader, "%.200s", fault.text);
    }
    library_complete(library);
}

static struct platform *end(struct reader *reader, const char *name, const char **why)
{
    if (!reader->network->zone_count)
        reader_leave(reader, "no zone");
    struct platform *platform = reader->why ? NULL : network_platform(reader->network, name);
    struct fault fault = {""};
    if (!platform)
        reader_leave(reader, "two links of one name");
    else {
        fill_library(reader, &platform->library);
        if (!platform_sound(platform, reader->arena, &fault))
            reader_leave(reader, "%.200s", fault.text);
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
    FILE *in = path_open_read(path);
    struct reader reader;
    if (!in) {
        *why = "it cannot be read";
        return NULL;
    }
    begin(&reader, arena);
    const char *fault = reader.why ? NULL : xml_feed(reader.parser, in);
    if (fault)
        reader_leave(&reader, "%s", fault);
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
