/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/library.h"

#include "simulator/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "collective_";
static const char *const protocol_names[PLATFORM_PROTOCOLS] = {"low", "middle", "bulk"};
/* By enum stagesim_collective. */
static const char *const kinds[PLATFORM_COLLECTIVES] = {"all_reduce", "reduce_scatter", "all_gather", "all_to_all",
                                                        "broadcast",  "reduce",         "barrier",    "send_receive"};

bool library_owns(const char *key)
{
    return strncmp(key, prefix, sizeof prefix - 1) == 0;
}

static bool read_quantity(enum quantity type, double least, double most, const char *key, const char *value, double *to,
                          struct fault *fault)
{
    struct quantity_reason reason;
    double number;
    if (!quantity_parse(type, value, &number, &reason))
        return fault_set(fault, "property %s=\"%s\": %s", key, value, reason.text);
    if (number < least || number > most)
        return fault_set(fault, "property %s=\"%s\" is out of range: %g to %g", key, value, least, most);
    *to = number;
    return true;
}

static bool set_torus(struct platform_library *library, const char *key, const char *value, struct fault *fault)
{
    uint32_t sizes[3] = {0};
    const char *rest = value;
    for (unsigned i = 0; i < 3; i++) {
        char *end;
        unsigned long size = *rest >= '1' && *rest <= '9' ? strtoul(rest, &end, 10) : 0;
        if (size < 1 || size > 65536)
            break;
        sizes[i] = (uint32_t)size;
        if (!*end && i > 0) {
            memcpy(library->torus, sizes, sizeof sizes);
            return true;
        }
        if (*end != 'x')
            break;
        rest = end + 1;
    }
    return fault_set(fault, "property %s=\"%s\" is no torus; expected two or three sizes such as 32x32", key, value);
}

static bool set_in_network(struct platform_library *library, const char *key, const char *value, struct fault *fault)
{
    static const char *const words[] = {"none", "node", "cluster"};
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(value, words[i]) == 0) {
            library->in_network = (enum platform_in_network)i;
            return true;
        }
    return fault_set(fault, "property %s=\"%s\": expected none, node or cluster", key, value);
}

/* PROTOCOL_start, PROTOCOL_latency, PROTOCOL_efficiency; *known false when the name is none of these. */
static bool set_protocol(struct platform_library *library, const char *name, const char *key, const char *value, bool *known,
                         struct fault *fault)
{
    for (unsigned i = 0; i < PLATFORM_PROTOCOLS; i++) {
        size_t length = strlen(protocol_names[i]);
        struct platform_protocol *protocol = &library->protocols[i];
        if (strncmp(name, protocol_names[i], length) != 0 || name[length] != '_')
            continue;
        const char *what = name + length + 1;
        bool start = strcmp(what, "start") == 0, latency = strcmp(what, "latency") == 0;
        if (!start && !latency && strcmp(what, "efficiency") != 0)
            continue;
        if (!protocol->name)
            *protocol = (struct platform_protocol){protocol_names[i], 0, 1, 1};
        if (start)
            return read_quantity(QUANTITY_TIME, 0, 10, key, value, &protocol->start, fault);
        if (latency)
            return read_quantity(QUANTITY_RATIO, 0, 1000, key, value, &protocol->latency, fault);
        return read_quantity(QUANTITY_RATIO, 1e-6, 1000, key, value, &protocol->efficiency, fault);
    }
    *known = false;
    return true;
}

/* launch, launch_KIND. */
static bool set_launch(struct platform_library *library, const char *name, const char *key, const char *value, bool *known,
                       struct fault *fault)
{
    double seconds = 0;
    if (strcmp(name, "launch") == 0) {
        if (!read_quantity(QUANTITY_TIME, 0, 10, key, value, &seconds, fault))
            return false;
        library->launch_default = seconds;
        return true;
    }
    for (unsigned kind = 0; kind < PLATFORM_COLLECTIVES && strncmp(name, "launch_", 7) == 0; kind++)
        if (strcmp(name + 7, kinds[kind]) == 0) {
            library->launch_given[kind] = true;
            return read_quantity(QUANTITY_TIME, 0, 10, key, value, &library->launch[kind], fault);
        }
    *known = false;
    return true;
}

/* With the nearest of all names. */
static bool refuse_name(const char *key, struct fault *fault)
{
    static const char *const plain[] = {"launch", "in_network", "in_network_efficiency", "overlap_node", "overlap_network", "torus"};
    static const char *const parts[] = {"start", "latency", "efficiency"};
    enum { PLAIN = sizeof plain / sizeof *plain, PARTS = 3, NAMES = PLAIN + PLATFORM_COLLECTIVES + PLATFORM_PROTOCOLS * PARTS };
    char texts[NAMES][64];
    const char *names[NAMES];
    for (unsigned i = 0; i < NAMES; i++) {
        unsigned kind = i - PLAIN, part = kind - PLATFORM_COLLECTIVES;
        names[i] = texts[i];
        if (i < PLAIN)
            snprintf(texts[i], sizeof *texts, "%s%s", prefix, plain[i]);
        else if (kind < PLATFORM_COLLECTIVES)
            snprintf(texts[i], sizeof *texts, "%slaunch_%s", prefix, kinds[kind]);
        else
            snprintf(texts[i], sizeof *texts, "%s%s_%s", prefix, protocol_names[part / PARTS], parts[part % PARTS]);
    }
    const char *nearest = diag_nearest(key, names, NAMES);
    if (nearest)
        return fault_set(fault, "there is no property %s; did you mean %s?", key, nearest);
    return fault_set(fault,
                     "there is no property %s; known are collective_launch, collective_launch_KIND, collective_PROTOCOL_start, "
                     "..._latency, ..._efficiency (PROTOCOL low, middle or bulk), collective_in_network, "
                     "collective_in_network_efficiency, collective_overlap_node, collective_overlap_network, collective_torus",
                     key);
}

bool library_set(struct platform_library *library, const char *key, const char *value, struct fault *fault)
{
    const char *name = key + sizeof prefix - 1;
    if (strcmp(name, "in_network") == 0)
        return set_in_network(library, key, value, fault);
    if (strcmp(name, "in_network_efficiency") == 0)
        return read_quantity(QUANTITY_RATIO, 1e-6, 1000, key, value, &library->in_network_efficiency, fault);
    if (strcmp(name, "overlap_node") == 0)
        return read_quantity(QUANTITY_RATIO, 0, 0.9, key, value, &library->overlap_node, fault);
    if (strcmp(name, "overlap_network") == 0)
        return read_quantity(QUANTITY_RATIO, 0, 0.9, key, value, &library->overlap_network, fault);
    if (strcmp(name, "torus") == 0)
        return set_torus(library, key, value, fault);
    bool known = true;
    bool good = strncmp(name, "launch", 6) == 0 ? set_launch(library, name, key, value, &known, fault)
                                                : set_protocol(library, name, key, value, &known, fault);
    return good && (known || refuse_name(key, fault));
}

void library_complete(struct platform_library *library)
{
    for (unsigned kind = 0; kind < PLATFORM_COLLECTIVES; kind++)
        if (!library->launch_given[kind])
            library->launch[kind] = library->launch_default;
    library->protocol_count = 0;
    for (unsigned i = 0; i < PLATFORM_PROTOCOLS; i++)
        if (library->protocols[i].name)
            library->protocols[library->protocol_count++] = library->protocols[i];
    for (unsigned i = library->protocol_count; i < PLATFORM_PROTOCOLS; i++)
        library->protocols[i] = (struct platform_protocol){0};
}

static void write_property(FILE *out, unsigned indent, const char *name, const char *more, double value, const char *unit)
{
    fprintf(out, "%*s<prop id=\"%s%s%s\" value=\"%.6g%s\"/>\n", (int)indent, "", prefix, name, more, value, unit);
}

void library_write(FILE *out, const struct platform_library *library, unsigned indent)
{
    static const char *const words[] = {NULL, "node", "cluster"};
    if (library->launch_default > 0)
        write_property(out, indent, "launch", "", library->launch_default * 1e6, "us");
    for (unsigned kind = 0; kind < PLATFORM_COLLECTIVES; kind++)
        if (library->launch_given[kind])
            write_property(out, indent, "launch_", kinds[kind], library->launch[kind] * 1e6, "us");
    for (unsigned i = 0; i < PLATFORM_PROTOCOLS; i++) {
        const struct platform_protocol *protocol = &library->protocols[i];
        if (!protocol->name)
            continue;
        write_property(out, indent, protocol->name, "_start", protocol->start * 1e6, "us");
        write_property(out, indent, protocol->name, "_latency", protocol->latency, "");
        write_property(out, indent, protocol->name, "_efficiency", protocol->efficiency, "");
    }
    if (words[library->in_network])
        fprintf(out, "%*s<prop id=\"%sin_network\" value=\"%s\"/>\n", (int)indent, "", prefix, words[library->in_network]);
    if (library->in_network_efficiency > 0)
        write_property(out, indent, "in_network_efficiency", "", library->in_network_efficiency, "");
    if (library->overlap_node > 0)
        write_property(out, indent, "overlap_node", "", library->overlap_node, "");
    if (library->overlap_network > 0)
        write_property(out, indent, "overlap_network", "", library->overlap_network, "");
    if (library->torus[0])
        fprintf(out, "%*s<prop id=\"%storus\" value=\"%ux%u", (int)indent, "", prefix, library->torus[0], library->torus[1]);
    if (library->torus[0] && library->torus[2])
        fprintf(out, "x%u", library->torus[2]);
    if (library->torus[0])
        fputs("\"/>\n", out);
}
