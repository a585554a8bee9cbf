/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/zones.h"

#include "base/arena.h"
#include "base/paths.h"
#include "base/xml/feed.h"
#include "base/xml/place.h"

#include <errno.h>
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

struct reader {
    XML_Parser parser;
    struct arena *arena;
    struct zone *open[DEPTH_MAX];       /* zones being read, outermost first */
    struct zone *last_child[DEPTH_MAX]; /* their newest children */
    unsigned depth;
    struct zone *root;
    bool too_deep;
};

/* FNV-1a, by words. */
static uint64_t mix(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return (hash ^ 255) * 1099511628211u;
}

static uint64_t mix_number(uint64_t hash, uint64_t number)
{
    for (unsigned i = 0; i < 64; i += 8)
        hash = (hash ^ (number >> i & 255)) * 1099511628211u;
    return hash;
}

static const char *attribute(const char **attributes, const char *name, const char *otherwise)
{
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return otherwise;
}

/* "0-3,7" counts 5. */
static uint32_t radical_count(const char *text)
{
    uint64_t count = 0;
    while (*text) {
        char *end;
        unsigned long first = strtoul(text, &end, 10), last = first;
        if (end == text)
            break;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        count += last >= first ? last - first + 1 : 0;
        text = *end == ',' ? end + 1 : end;
        if (*end != ',')
            break;
    }
    return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

static void start_zone(struct reader *reader, const char *element, const char **attributes)
{
    struct zone *zone = arena_alloc(reader->arena, sizeof *zone);
    if (reader->depth == DEPTH_MAX) {
        reader->too_deep = true;
        XML_StopParser(reader->parser, XML_FALSE);
        return;
    }
    zone->count = 1;
    zone->name = zone->last = arena_copy(reader->arena, attribute(attributes, "id", ""));
    zone->routing = arena_copy(reader->arena, attribute(attributes, "routing", ""));
    if (strcmp(element, "cluster") == 0) {
        zone->routing = arena_print(reader->arena, "%s %s", attribute(attributes, "topology", "FLAT"),
                                    attribute(attributes, "topo_parameters", ""));
        zone->hosts = radical_count(attribute(attributes, "radical", ""));
        zone->speed = arena_copy(reader->arena, attribute(attributes, "speed", ""));
    }
    zone->shape = mix(mix(1469598103934665603u, element), zone->routing);
    zone->shape = mix_number(mix(zone->shape, zone->speed ? zone->speed : ""), zone->hosts);
    reader->open[reader->depth] = zone;
    reader->last_child[reader->depth++] = NULL;
}

static void start_inside(struct reader *reader, const char *element, const char **attributes)
{
    struct zone *zone = reader->depth ? reader->open[reader->depth - 1] : NULL;
    if (!zone)
        return;
    if (strcmp(element, "host") == 0 || strcmp(element, "peer") == 0) {
        const char *speed = attribute(attributes, "speed", "");
        zone->hosts++;
        if (!zone->speed)
            zone->speed = arena_copy(reader->arena, speed);
        zone->shape = mix(mix(zone->shape, element), speed);
    } else if (strcmp(element, "router") == 0) {
        zone->routers++;
        if (!zone->router)
            zone->router = arena_copy(reader->arena, attribute(attributes, "id", ""));
        zone->shape = mix(zone->shape, element);
    } else if (strcmp(element, "link") == 0) {
        zone->links++;
        zone->shape =
            mix(mix(zone->shape, attribute(attributes, "bandwidth", "")), attribute(attributes, "latency", ""));
    } else if (strcmp(element, "prop") == 0) {
        zone->shape = mix(mix(zone->shape, attribute(attributes, "id", "")), attribute(attributes, "value", ""));
    }
}

static bool is_zone(const char *element)
{
    return strcmp(element, "zone") == 0 || strcmp(element, "AS") == 0 || strcmp(element, "cluster") == 0;
}

static void on_start(void *data, const char *element, const char **attributes)
{
    if (is_zone(element))
        start_zone(data, element, attributes);
    else
        start_inside(data, element, attributes);
}

static void on_end(void *data, const char *element)
{
    struct reader *reader = data;
    if (!is_zone(element) || reader->depth == 0)
        return;
    struct zone *zone = reader->open[--reader->depth];
    zone->total_hosts = zone->hosts;
    for (const struct zone *child = zone->child; child; child = child->next) {
        zone->total_hosts += child->count * child->total_hosts;
        zone->shape = mix_number(mix_number(zone->shape, child->shape), child->count);
    }
    if (reader->depth == 0) {
        reader->root = reader->root ? reader->root : zone;
        return;
    }
    struct zone *parent = reader->open[reader->depth - 1], *before = reader->last_child[reader->depth - 1];
    if (before && before->shape == zone->shape) {
        before->count++;
        before->last = zone->name;
        return;
    }
    *(before ? &before->next : &parent->child) = zone;
    reader->last_child[reader->depth - 1] = zone;
}

const struct zone *zones_read(const char *path, struct arena *arena, struct fault *fault)
{
    FILE *in = path_open_read(path);
    if (!in) {
        fault_set(fault, "%s: %s", path, strerror(errno));
        return NULL;
    }
    struct reader reader = {.parser = XML_ParserCreate(NULL), .arena = arena};
    const char *why = "no memory for a parser";
    if (reader.parser) {
        XML_SetUserData(reader.parser, &reader);
        XML_SetElementHandler(reader.parser, on_start, on_end);
        why = xml_feed(reader.parser, in);
    }
    if (why && reader.too_deep)
        fault_set(fault, "%s: zones nested more than %d deep", path, DEPTH_MAX);
    else if (why)
        fault_set(fault, "%s:%u: %s", path, reader.parser ? xml_line(reader.parser) : 1, why);
    else if (!reader.root)
        fault_set(fault, "%s: no zone in it", path);
    XML_ParserFree(reader.parser);
    fclose(in);
    return why ? NULL : reader.root;
}
