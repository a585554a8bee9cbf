/* SPDX-License-Identifier: Apache-2.0 */
/* A pass over a topology file with expat before any library reads it: gives mistakes a line and a column, tells the
 * format, and counts what hwloc has to find, which is silent about some kinds of damage. */
#include "platforms/import/parts.h"

#include "base/xml/place.h"

#include <expat.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 200, INDEX_MAX = 1 << 20, SET_CHARACTERS_MAX = 1 << 16 };

struct scan {
    XML_Parser parser;
    const char *name;
    struct xml_facts *facts;
    struct fault *fault;
    unsigned depth;
    bool stopped;
};

static void stop(struct scan *scan, const char *text, const char *what)
{
    if (!scan->stopped)
        fault_set(scan->fault, "%s:%u:%u: %s%s", scan->name, xml_line(scan->parser), xml_column(scan->parser), text,
                  what);
    scan->stopped = true;
    XML_StopParser(scan->parser, XML_FALSE);
}

static const char *attribute(const char **attributes, const char *name)
{
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

/* hwloc allocates a bit for each index, and takes what strtoul makes of it. Those of PCI devices are no bits: hwloc 1
 * writes domain, bus, device and function into one number, 2105344 for 0002:02:00.0. */
static bool sound_index(const char *type, const char *text)
{
    bool is_address = strcmp(type, "PCIDev") == 0 || strcmp(type, "Bridge") == 0 || strcmp(type, "OSDev") == 0;
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    return end != text && *end == '\0' && text[0] >= '0' && text[0] <= '9' &&
           value <= (is_address ? UINT32_MAX - 1ul : (unsigned long)INDEX_MAX);
}

/* hwloc's sets: "0x0000ffff,0x0" and "0xf...f,0x0" for sets without end. */
static bool sound_set(const char *text)
{
    return strlen(text) <= SET_CHARACTERS_MAX && text[strspn(text, "0123456789abcdefABCDEFx,.")] == '\0';
}

static void check_object(struct scan *scan, const char **attributes)
{
    const char *type = attribute(attributes, "type"), *index = attribute(attributes, "os_index");
    if (!type) {
        stop(scan, "an object without a type", "");
        return;
    }
    scan->facts->units += strcmp(type, "PU") == 0;
    scan->facts->numa_nodes += strcmp(type, "NUMANode") == 0;
    scan->facts->pci_devices += strcmp(type, "PCIDev") == 0;
    if (!index &&
        (strcmp(type, "PU") == 0 || strcmp(type, "NUMANode") == 0)) /* hwloc takes it for the highest number there is */
        stop(scan, "an object without os_index: ", type);
    if (index && !sound_index(type, index))
        stop(scan, "impossible os_index: ", index);
    for (; *attributes; attributes += 2)
        if (strstr(attributes[0], "set") && (strstr(attributes[0], "cpu") || strstr(attributes[0], "node")) &&
            !sound_set(attributes[1]))
            stop(scan, "damaged set of processors or memories in attribute ", attributes[0]);
}

static void on_start(void *data, const char *element, const char **attributes)
{
    struct scan *scan = data;
    if (scan->depth == 0) {
        const char *version = attribute(attributes, "version");
        snprintf(scan->facts->root, sizeof scan->facts->root, "%s", element);
        snprintf(scan->facts->version, sizeof scan->facts->version, "%s", version ? version : "");
    }
    if (++scan->depth > DEPTH_MAX)
        stop(scan, "elements nested more than 200 deep", "");
    else if (strcmp(scan->facts->root, "topology") == 0 && strcmp(element, "object") == 0)
        check_object(scan, attributes);
}

static void on_end(void *data, const char *element)
{
    (void)element;
    ((struct scan *)data)->depth--;
}

static void on_entity(void *data, const char *name, int is_parameter, const char *value, int length, const char *base,
                      const char *system, const char *public, const char *notation)
{
    (void)is_parameter, (void)value, (void)length, (void)base, (void)system, (void)public, (void)notation;
    stop(data, "topology files define no entities, this one does: ", name);
}

/* expat takes an int of bytes at a time. */
static bool feed(struct scan *scan, const char *text, size_t size)
{
    enum { CHUNK = 1 << 20 };
    do {
        size_t part = size < CHUNK ? size : CHUNK;
        if (XML_Parse(scan->parser, text, (int)part, part == size) != XML_STATUS_OK)
            return false;
        text += part;
        size -= part;
    } while (size);
    return true;
}

bool xml_scan(const char *name, const char *text, size_t size, struct xml_facts *facts, struct fault *fault)
{
    if (size == 0)
        return fault_set(fault, "%s: the file is empty", name);
    struct scan scan = {.parser = XML_ParserCreate(NULL), .name = name, .facts = facts, .fault = fault};
    if (!scan.parser)
        return fault_set(fault, "%s: out of memory", name);
    XML_SetUserData(scan.parser, &scan);
    XML_SetElementHandler(scan.parser, on_start, on_end);
    XML_SetEntityDeclHandler(scan.parser, on_entity);
    bool sound = feed(&scan, text, size);
    if (!sound && !scan.stopped)
        fault_set(fault, "%s:%u:%u: not well-formed XML: %s", name, xml_line(scan.parser), xml_column(scan.parser),
                  XML_ErrorString(XML_GetErrorCode(scan.parser)));
    XML_ParserFree(scan.parser);
    return sound;
}
