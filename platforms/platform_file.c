/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/platform_file.h"

#include "base/arena.h"
#include "base/paths.h"
#include "base/xml/feed.h"
#include "base/xml/place.h"
#include "platforms/platform_numbers.h"
#include "platforms/profiles.h"
#include "platforms/reach.h"
#include "platforms/settings.h"

#include <errno.h>
#include <expat.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { SEARCHED_MOST = 4000, CHUNK = 1 << 16, PROFILE_MAX = 64 << 20, ZONES_DEEP = 64 };

/* Routings that want something of what is in their zone: SimGrid ends the process where they miss it. */
enum routing { ROUTING_OTHER, ROUTING_DIJKSTRA, ROUTING_NONE, ROUTING_VIVALDI };

/* A zone that is being read. */
struct open_zone {
    enum routing routing;
    bool anew; /* every route is searched for by itself */
    uint32_t number;
    size_t first_point, first_route; /* in the reader's lists */
    struct place at;
};

struct names {
    const char **names;
    size_t count, capacity;
};

struct reader {
    XML_Parser parser;
    const char *path;
    struct platform_file *file;
    struct arena *arena;
    struct fault *fault;
    bool sound, in_trace, in_config, has_zone;
    char *text; /* of the <trace> that is being read */
    size_t length, capacity;
    double periodicity;
    char trace[256];
    struct open_zone zones[ZONES_DEEP];
    unsigned depth;
    struct gateways gateways;
    struct names points; /* what is in the open zones of such routings */
    struct reach_route *routes;
    size_t route_count, route_capacity;
    const char **settings;
    size_t setting_capacity;
};

__attribute__((format(printf, 3, 4))) static void refuse_at(struct reader *reader, struct place at, const char *format,
                                                            ...)
{
    char text[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fault_set(reader->fault, "%.250s:%u:%u: %s", reader->path, at.line, at.column, text);
    reader->sound = false;
    XML_StopParser(reader->parser, XML_FALSE);
}

static struct place here(const struct reader *reader)
{
    return (struct place){reader->path, xml_line(reader->parser), xml_column(reader->parser)};
}

#define refuse(reader, ...) refuse_at(reader, here(reader), __VA_ARGS__)

/* ---- profiles ---- */

/* SimGrid looks for relative names only. */
static FILE *open_profile(struct reader *reader, const char *name)
{
    const char *slash = strrchr(reader->path, '/');
    const char *paths[] = {
        slash ? arena_print(reader->arena, "%.*s/%s", (int)(slash - reader->path), reader->path, name) : name, name};
    struct stat status;
    if (*name == '/') {
        refuse(reader, "the profile '%.200s' is absolute; SimGrid opens profiles relative to the platform file", name);
        return NULL;
    }
    for (unsigned i = 0; i < 2; i++) {
        if (stat(paths[i], &status))
            continue;
        if (!S_ISREG(status.st_mode)) {
            refuse(reader, "the profile '%.200s' is not a regular file", name);
            return NULL;
        }
        FILE *in = path_open_read(paths[i]);
        if (in)
            return in;
    }
    refuse(reader, "cannot read the profile '%.200s': %s", name, strerror(errno));
    return NULL;
}

static void check_profile(struct reader *reader, const char *name, char *text, double periodicity)
{
    struct fault fault = {""};
    if (!profile_check(text, periodicity, &fault))
        refuse(reader, "the profile '%.200s': %.400s", name, fault.text);
}

static void check_profile_file(struct reader *reader, const char *name)
{
    FILE *in = open_profile(reader, name);
    char *text = NULL;
    size_t length = 0, capacity = 0, got = 1;
    if (!in)
        return;
    while (got && length <= PROFILE_MAX) {
        text = array_grow(text, &capacity, length + CHUNK + 1, 1);
        got = fread(text + length, 1, CHUNK, in);
        length += got;
    }
    fclose(in);
    text[length] = '\0';
    if (length > PROFILE_MAX)
        refuse(reader, "the profile '%.200s' is larger than %d MiB", name, PROFILE_MAX >> 20);
    else if (strlen(text) != length)
        refuse(reader, "the profile '%.200s' is no text: it has a byte of 0", name);
    else
        check_profile(reader, name, text, -1);
    free(text);
}

static void check_files(struct reader *reader, const char **attributes)
{
    for (; *attributes && reader->sound; attributes += 2) {
        size_t length = strlen(attributes[0]);
        if (length < 5 || strcmp(attributes[0] + length - 5, "_file") != 0 || !*attributes[1])
            continue;
        reader->file->varies = true;
        check_profile_file(reader, attributes[1]);
    }
}

static void start_trace(struct reader *reader, const char **attributes)
{
    const char *periodicity = xml_attribute(attributes, "periodicity");
    char *end;
    reader->file->varies = true;
    reader->in_trace = true;
    reader->length = 0;
    reader->periodicity = strtod(periodicity, &end);
    snprintf(reader->trace, sizeof reader->trace, "%s", xml_attribute(attributes, "id"));
    if (end == periodicity || *end || !isfinite(reader->periodicity))
        refuse(reader, "periodicity=\"%.60s\" is no number; -1 is for a profile that does not repeat itself",
               periodicity);
    else if (*xml_attribute(attributes, "file"))
        check_profile_file(reader, xml_attribute(attributes, "file"));
}

static void on_text(void *data, const char *text, int length)
{
    struct reader *reader = data;
    if (!reader->in_trace || reader->length > PROFILE_MAX)
        return;
    reader->text = array_grow(reader->text, &reader->capacity, reader->length + (size_t)length + 1, 1);
    memcpy(reader->text + reader->length, text, (size_t)length);
    reader->length += (size_t)length;
}

static void end_trace(struct reader *reader)
{
    reader->in_trace = false;
    if (reader->length > PROFILE_MAX)
        refuse(reader, "the profile '%.200s' is larger than %d MiB", reader->trace, PROFILE_MAX >> 20);
    else if (reader->length) {
        reader->text[reader->length] = '\0';
        check_profile(reader, reader->trace, reader->text, reader->periodicity);
    }
}

static void count_hosts(struct reader *reader, const char *element, const char **attributes)
{
    bool many = strcmp(element, "cluster") == 0 || strcmp(element, "cabinet") == 0;
    struct fault fault = {""};
    reader->file->hosts += many ? radical_count(xml_attribute(attributes, "radical"), &fault) : 1;
    if (fault.text[0])
        refuse(reader, "%.600s", fault.text);
    else if (reader->file->hosts > PLATFORM_HOSTS_MAX)
        refuse(reader, "the platform has more than %llu hosts with this %s", (unsigned long long)PLATFORM_HOSTS_MAX,
               element);
}

/* ---- zones and routes ---- */

static uint32_t zone_here(const struct reader *reader)
{
    return reader->depth ? reader->zones[reader->depth - 1].number : 0;
}

static void start_zone(struct reader *reader, const char *element, const char **attributes)
{
    const char *routing = xml_attribute(attributes, "routing");
    reader->has_zone = true;
    if (strcasecmp(routing, "wifi") == 0) {
        refuse(reader, "%s '%.200s': wireless networks are not simulated; links are wired", element,
               xml_attribute(attributes, "id"));
    } else if (reader->depth == ZONES_DEEP) {
        refuse(reader, "zones nested more than %d deep", ZONES_DEEP);
    } else {
        enum routing kind = strncmp(routing, "Dijkstra", 8) == 0 ? ROUTING_DIJKSTRA
                            : strcmp(routing, "None") == 0       ? ROUTING_NONE
                            : strcmp(routing, "Vivaldi") == 0    ? ROUTING_VIVALDI
                                                                 : ROUTING_OTHER;
        uint32_t number =
            gateways_zone(&reader->gateways, xml_attribute(attributes, "id"), zone_here(reader), reader->arena);
        reader->zones[reader->depth++] = (struct open_zone){
            kind, strcmp(routing, "Dijkstra") == 0, number, reader->points.count, reader->route_count, here(reader)};
    }
}

static enum routing routing_here(const struct reader *reader)
{
    return reader->depth ? reader->zones[reader->depth - 1].routing : ROUTING_OTHER;
}

static void add_point(struct reader *reader, const char *name)
{
    struct names *names = &reader->points;
    if (routing_here(reader) != ROUTING_OTHER) {
        names->names = array_grow(names->names, &names->capacity, names->count + 1, sizeof *names->names);
        names->names[names->count++] = arena_copy(reader->arena, name);
    }
}

static void add_route(struct reader *reader, const char **attributes)
{
    static const char *const ends[][2] = {{"src", "gw_src"}, {"dst", "gw_dst"}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        gateways_use(&reader->gateways, xml_attribute(attributes, ends[i][0]), xml_attribute(attributes, ends[i][1]),
                     here(reader), reader->arena);
    if (routing_here(reader) != ROUTING_DIJKSTRA)
        return;
    struct reach_route route = {arena_copy(reader->arena, xml_attribute(attributes, "src")),
                                arena_copy(reader->arena, xml_attribute(attributes, "dst")),
                                strcasecmp(xml_attribute(attributes, "symmetrical"), "no") != 0};
    if (route.both_ways && strcmp(route.from, route.to) == 0) {
        refuse(reader,
               "a route from '%.200s' to itself that holds for both directions, at which SimGrid's Dijkstra crashes; "
               "expected symmetrical=\"NO\"",
               route.from);
        return;
    }
    reader->routes =
        array_grow(reader->routes, &reader->route_capacity, reader->route_count + 1, sizeof *reader->routes);
    reader->routes[reader->route_count++] = route;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* A point of the zone that none of its routes names, or NULL. Sorts the ends. */
static const char *find_unrouted(struct reader *reader, const struct open_zone *zone)
{
    const struct names *points = &reader->points;
    const char *unrouted = NULL;
    size_t count = 0;
    const char **ends = array_zeroed(2 * (reader->route_count - zone->first_route) + 1, sizeof *ends);
    for (size_t i = zone->first_route; i < reader->route_count; i++) {
        ends[count++] = reader->routes[i].from;
        ends[count++] = reader->routes[i].to;
    }
    qsort(ends, count, sizeof *ends, compare_names);
    for (size_t i = zone->first_point; i < points->count && !unrouted; i++)
        if (!bsearch(&points->names[i], ends, count, sizeof *ends, compare_names))
            unrouted = points->names[i];
    free(ends);
    return unrouted;
}

/* A point with a route to itself, where not all points reach each other: SimGrid's search then runs in a circle. */
static const char *find_circle(const struct reader *reader, const struct open_zone *zone)
{
    const struct reach_route *routes = reader->routes + zone->first_route;
    size_t count = reader->route_count - zone->first_route;
    for (size_t i = 0; i < count; i++)
        if (strcmp(routes[i].from, routes[i].to) == 0)
            return reach_all(routes, count) ? NULL : routes[i].from;
    return NULL;
}

static void check_dijkstra(struct reader *reader, const struct open_zone *zone)
{
    const char *unrouted = find_unrouted(reader, zone);
    const char *circle = unrouted || reader->route_count == zone->first_route ? NULL : find_circle(reader, zone);
    if (unrouted)
        refuse_at(reader, zone->at, "'%.200s' is in no route of this zone; Dijkstra's algorithm has nothing to search",
                  unrouted);
    else if (circle)
        refuse_at(
            reader, zone->at,
            "'%.200s' has a route to itself, and not every point of this zone reaches every other; expected routes "
            "that connect them all, or none from a point to itself",
            circle);
    else if (zone->anew && reader->points.count - zone->first_point > SEARCHED_MOST)
        refuse_at(reader, zone->at, "more than %d points, searched anew for every route; expected DijkstraCache",
                  SEARCHED_MOST);
}

static void end_zone(struct reader *reader)
{
    const struct open_zone *zone = &reader->zones[--reader->depth];
    bool many = reader->points.count > zone->first_point + 1;
    if (many && zone->routing == ROUTING_DIJKSTRA)
        check_dijkstra(reader, zone);
    else if (many && zone->routing == ROUTING_NONE)
        refuse_at(reader, zone->at, "routing=\"None\": nothing in this zone can reach anything");
    reader->points.count = zone->first_point;
    reader->route_count = zone->first_route;
}

/* ---- settings ---- */

static void read_setting(struct reader *reader, const char **attributes)
{
    struct fault fault = {""};
    const char *key = xml_attribute(attributes, "id"), *value = xml_attribute(attributes, "value");
    if (!setting_check(key, value, &fault)) {
        refuse(reader, "<config>: %.600s", fault.text);
        return;
    }
    struct platform_file *file = reader->file;
    reader->settings =
        array_grow(reader->settings, &reader->setting_capacity, file->setting_count + 1, sizeof *reader->settings);
    reader->settings[file->setting_count++] = arena_print(reader->arena, "%s:%s", key, value);
}

/* ---- elements ---- */

static const char *const zone_names[] = {"zone", "AS", NULL};
static const char *const host_names[] = {"host", "peer", "cluster", "cabinet", NULL};
static const char *const point_names[] = {"host", "peer", "cluster", "router", "zone", "AS", NULL};
static const char *const route_names[] = {"route", "zoneRoute", "ASroute", NULL};

/* SimGrid attaches nothing to a link once it has read it. */
static void check_connection(struct reader *reader, const char **attributes)
{
    static const char *const links[][2] = {
        {"LINK_AVAIL", "state_file"}, {"BANDWIDTH", "bandwidth_file"}, {"LATENCY", "latency_file"}};
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (strcmp(xml_attribute(attributes, "kind"), links[i][0]) == 0)
            refuse(reader, "kind=\"%s\": a link's profile is attached by its own %s", links[i][0], links[i][1]);
}

static void start_host(struct reader *reader, const char *element, const char **attributes)
{
    bool cluster = strcmp(element, "cluster") == 0;
    reader->has_zone |= cluster;
    if (cluster && !reader->depth && !reader->file->bare_shapes.from && *xml_attribute(attributes, "topology") &&
        strcmp(xml_attribute(attributes, "topology"), "FLAT") != 0)
        reader->file->bare_shapes.from = xml_begin(reader->parser);
    struct fault fault = {""};
    count_hosts(reader, element, attributes);
    if (reader->sound && !host_numbers_check(element, attributes, &fault))
        refuse(reader, "%.600s", fault.text);
}

/* Something that a route may lead to. */
static void start_point(struct reader *reader, const char *element, const char **attributes)
{
    bool holds_coordinates =
        strcmp(element, "host") == 0 || strcmp(element, "router") == 0 || strcmp(element, "peer") == 0;
    if (routing_here(reader) == ROUTING_VIVALDI && holds_coordinates && !*xml_attribute(attributes, "coordinates"))
        refuse(reader, "%s '%.200s' has no coordinates, by which the routing Vivaldi goes", element,
               xml_attribute(attributes, "id"));
    else
        add_point(reader, xml_attribute(attributes, "id"));
    if (!xml_is_any(element, zone_names))
        gateways_point(&reader->gateways, xml_attribute(attributes, "id"), zone_here(reader), reader->arena);
}

static void on_start(void *data, const char *element, const char **attributes)
{
    struct reader *reader = data;
    struct fault fault = {""};
    bool known = true;
    if (reader->sound && xml_is_any(element, point_names))
        start_point(reader, element, attributes);
    if (!reader->sound)
        return;
    if (xml_is_any(element, zone_names))
        start_zone(reader, element, attributes);
    else if (xml_is_any(element, host_names))
        start_host(reader, element, attributes);
    else if (xml_is_any(element, route_names))
        add_route(reader, attributes);
    else if (strcmp(element, "platform") == 0)
        known = version_check(attributes, &fault);
    else if (strcmp(element, "config") == 0)
        reader->in_config = true;
    else if (strcmp(element, "prop") == 0 && reader->in_config)
        read_setting(reader, attributes);
    else if (strcmp(element, "trace") == 0)
        start_trace(reader, attributes);
    else if (strcmp(element, "trace_connect") == 0)
        check_connection(reader, attributes);
    else if (strcmp(element, "link") == 0)
        known = link_check(attributes, &fault);
    if (!known)
        refuse(reader, "%.600s", fault.text);
    if (reader->sound)
        check_files(reader, attributes);
}

static void on_end(void *data, const char *element)
{
    struct reader *reader = data;
    if (!reader->sound)
        return;
    if (xml_is_any(element, zone_names) && reader->depth)
        end_zone(reader);
    else if (strcmp(element, "cluster") == 0 && !reader->depth && reader->file->bare_shapes.from)
        reader->file->bare_shapes.to = xml_begin(reader->parser) + xml_length(reader->parser);
    else if (strcmp(element, "config") == 0)
        reader->in_config = false;
    else if (strcmp(element, "trace") == 0)
        end_trace(reader);
}

/* SimGrid's own parser knows none of what a document may declare for itself, so that the two would read different
 * files. */
static void on_doctype(void *data, const char *name, const char *system, const char *public, int has_declarations)
{
    struct reader *reader = data;
    (void)name, (void)system, (void)public;
    if (has_declarations)
        refuse(reader, "the document type has declarations of its own; expected <!DOCTYPE platform SYSTEM "
                       "\"https://simgrid.org/simgrid.dtd\">");
}

/* ---- the whole ---- */

static void reader_start(struct reader *reader)
{
    XML_SetUserData(reader->parser, reader);
    XML_SetElementHandler(reader->parser, on_start, on_end);
    XML_SetCharacterDataHandler(reader->parser, on_text);
    XML_SetStartDoctypeDeclHandler(reader->parser, on_doctype);
}

static bool reader_finish(struct reader *reader, const char *why)
{
    if (why && reader->sound)
        refuse(reader, "%s%s", XML_GetErrorCode(reader->parser) == XML_ERROR_NONE ? "" : "not well-formed XML: ", why);
    else if (reader->sound && !reader->has_zone)
        refuse_at(reader, (struct place){NULL, 1, 1}, "there is no zone in this platform");
    const char **settings = arena_array(reader->arena, reader->file->setting_count + 1, sizeof *settings);
    if (reader->file->setting_count)
        memcpy(settings, reader->settings, reader->file->setting_count * sizeof *settings);
    reader->file->settings = settings;
    reader->file->deep = gateways_find_deep(&reader->gateways, reader->arena);
    XML_ParserFree(reader->parser);
    free(reader->settings);
    free(reader->points.names);
    free(reader->routes);
    free(reader->text);
    return reader->sound;
}

bool platform_file_check(const char *path, struct platform_file *file, struct arena *arena, struct fault *fault)
{
    FILE *in = path_open_read(path);
    *file = (struct platform_file){0};
    if (!in)
        return fault_set(fault, "cannot read '%.200s': %s", path, strerror(errno));
    struct reader reader = {
        .parser = XML_ParserCreate(NULL), .path = path, .file = file, .arena = arena, .fault = fault, .sound = true};
    reader_start(&reader);
    const char *why = xml_feed(reader.parser, in);
    fclose(in);
    return reader_finish(&reader, why);
}
