/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/library.h"

#include "base/quantity.h"
#include "platforms/routing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "collective_", network_suffix[] = "_network";
static const char *const protocol_names[PLATFORM_PROTOCOLS] = {"low", "middle", "bulk"};
/* By enum stagesim_collective. */
static const char *const kinds[PLATFORM_COLLECTIVES] = {"all_reduce", "reduce_scatter", "all_gather", "all_to_all",
                                                        "broadcast",  "reduce",         "barrier",    "send_receive"};

/* Single numbers of the library; 0 where they are not given. */
struct plain_property {
    const char *name, *unit;
    size_t offset;
    enum quantity type;
    double least, most;
};

static const struct plain_property plain_properties[] = {
    {"in_network_efficiency", "", offsetof(struct platform_library, in_network_efficiency), QUANTITY_RATIO, 1e-6, 1000},
    {"in_network_efficiency_network", "", offsetof(struct platform_library, in_network_efficiency_over), QUANTITY_RATIO,
     1e-6, 1},
    {"in_network_decline", "", offsetof(struct platform_library, in_network_decline), QUANTITY_RATIO, 0, 0.2},
    {"strided_efficiency", "", offsetof(struct platform_library, strided_efficiency), QUANTITY_RATIO, 1e-6, 1},
    {"direct_efficiency", "", offsetof(struct platform_library, direct_efficiency[SCOPE_NODE]), QUANTITY_RATIO, 1e-6,
     1000},
    {"direct_efficiency_network", "", offsetof(struct platform_library, direct_efficiency[SCOPE_NETWORK]),
     QUANTITY_RATIO, 1e-6, 1000},
    {"tree_rate", "Bps", offsetof(struct platform_library, tree_rate), QUANTITY_RATE, 1, 1e18},
    {"tree_rate_many", "Bps", offsetof(struct platform_library, tree_rate_many), QUANTITY_RATE, 1, 1e18},
    {"copy_rate", "Bps", offsetof(struct platform_library, copy_rate), QUANTITY_RATE, 1, 1e18},
    {"own_rate", "Bps", offsetof(struct platform_library, own_rate), QUANTITY_RATE, 1, 1e18},
    {"direct_own_rate", "Bps", offsetof(struct platform_library, direct_own_rate), QUANTITY_RATE, 1, 1e18},
    {"overlap_node", "", offsetof(struct platform_library, overlap_node), QUANTITY_RATIO, 0, 0.9},
    {"overlap_network", "", offsetof(struct platform_library, overlap_network), QUANTITY_RATIO, 0, 0.9},
};

enum { PLAIN_PROPERTIES = sizeof plain_properties / sizeof *plain_properties };

static const struct plain_property *plain_find(const char *name)
{
    for (unsigned i = 0; i < PLAIN_PROPERTIES; i++)
        if (strcmp(plain_properties[i].name, name) == 0)
            return &plain_properties[i];
    return NULL;
}

static double *plain_value(struct platform_library *library, const struct plain_property *property)
{
    return (double *)(void *)((char *)library + property->offset);
}

bool library_owns(const char *key)
{
    return strncmp(key, prefix, sizeof prefix - 1) == 0 || routing_owns(key);
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

static const char *const ring_words[] = {"order", "links", NULL}, *const in_network_words[] = {"none", "node",
                                                                                               "cluster", NULL};

static bool set_rings(struct platform_library *library, const char *key, const char *value, struct fault *fault)
{
    bool links = strcmp(value, ring_words[1]) == 0;
    if (!links && strcmp(value, ring_words[0]) != 0)
        return fault_set(fault, "property %s=\"%s\": expected links or order", key, value);
    library->rings = links ? PLATFORM_RINGS_ON_LINKS : PLATFORM_RINGS_IN_ORDER;
    return true;
}

static bool set_in_network(struct platform_library *library, const char *key, const char *value, struct fault *fault)
{
    for (unsigned i = 0; in_network_words[i]; i++)
        if (strcmp(value, in_network_words[i]) == 0) {
            library->in_network = (enum platform_in_network)i;
            return true;
        }
    return fault_set(fault, "property %s=\"%s\": expected none, node or cluster", key, value);
}

/* The values of a protocol, the last one of messages only. */
enum { PROTOCOL_VALUES = 5 };
static const struct protocol_value {
    const char *name, *unit;
    size_t offset;
    enum quantity type;
    double least, most;
    double scale; /* from SI to the unit that is written */
} protocol_values[PROTOCOL_VALUES] = {
    {"start", "us", offsetof(struct platform_protocol, start), QUANTITY_TIME, 0, 10, 1e6},
    {"latency", "", offsetof(struct platform_protocol, latency), QUANTITY_RATIO, 0, 1000, 1},
    {"efficiency", "", offsetof(struct platform_protocol, efficiency), QUANTITY_RATIO, 1e-6, 1000, 1},
    {"most", "KiB", offsetof(struct platform_protocol, most), QUANTITY_BYTES, 1, 1e18, 1.0 / 1024},
    {"rate", "Bps", offsetof(struct platform_protocol, rate), QUANTITY_RATE, 1, 1e18, 1},
};

static double *protocol_value(struct platform_protocol *protocol, unsigned value)
{
    return (double *)(void *)((char *)protocol + protocol_values[value].offset);
}

/* PROTOCOL_VALUE; *known false when the name is none of these. Of start, latency and efficiency what is not given is
 * NAN until library_complete. */
static bool set_protocol(struct platform_protocol *protocols, unsigned values, const char *name, const char *key,
                         const char *value, bool *known, struct fault *fault)
{
    for (unsigned i = 0; i < PLATFORM_PROTOCOLS; i++) {
        size_t length = strlen(protocol_names[i]);
        struct platform_protocol *protocol = &protocols[i];
        unsigned part = 0;
        if (strncmp(name, protocol_names[i], length) != 0 || name[length] != '_')
            continue;
        while (part < values && strcmp(name + length + 1, protocol_values[part].name) != 0)
            part++;
        if (part == values)
            continue;
        const struct protocol_value *kind = &protocol_values[part];
        if (!protocol->name)
            *protocol = (struct platform_protocol){protocol_names[i], NAN, NAN, NAN, 0, 0};
        return read_quantity(kind->type, kind->least, kind->most, key, value, protocol_value(protocol, part), fault);
    }
    *known = false;
    return true;
}

/* launch, launch_KIND. */
static bool set_launch(struct platform_regime *regime, const char *name, const char *key, const char *value,
                       bool *known, struct fault *fault)
{
    double seconds = 0;
    if (strcmp(name, "launch") == 0) {
        if (!read_quantity(QUANTITY_TIME, 0, 10, key, value, &seconds, fault))
            return false;
        regime->launch_default = seconds;
        regime->launch_default_given = true;
        return true;
    }
    for (unsigned kind = 0; kind < PLATFORM_COLLECTIVES && strncmp(name, "launch_", 7) == 0; kind++)
        if (strcmp(name + 7, kinds[kind]) == 0) {
            regime->launch_given[kind] = true;
            return read_quantity(QUANTITY_TIME, 0, 10, key, value, &regime->launch[kind], fault);
        }
    *known = false;
    return true;
}

static const char switch_start[] = "in_network_start";

/* How many values rings and trees have, and messages. */
enum { RING_VALUES = PROTOCOL_VALUES - 1, RING_NAMES = RING_VALUES * PLATFORM_PROTOCOLS };
static const char direct_prefix[] = "direct_";

/* The name that follows the prefix in a property number `index` of a regime: launch, in_network_start, launch_KIND,
 * PROTOCOL_VALUE, direct_PROTOCOL_VALUE. What it is comes back. */
static enum quantity regime_name(unsigned index, char *text, size_t size)
{
    unsigned kind = index - 2, part = kind - PLATFORM_COLLECTIVES;
    if (index == 0)
        snprintf(text, size, "launch");
    else if (index == 1)
        snprintf(text, size, "%s", switch_start);
    else if (kind < PLATFORM_COLLECTIVES)
        snprintf(text, size, "launch_%s", kinds[kind]);
    if (index < 2 || kind < PLATFORM_COLLECTIVES)
        return QUANTITY_TIME;
    bool direct = part >= RING_NAMES;
    unsigned values = direct ? PROTOCOL_VALUES : RING_VALUES, at = direct ? part - RING_NAMES : part;
    snprintf(text, size, "%s%s_%s", direct ? direct_prefix : "", protocol_names[at / values],
             protocol_values[at % values].name);
    return protocol_values[at % values].type;
}

/* Number of names of a regime, of their texts, and of all names. */
enum { REGIME_NAMES = 2 + PLATFORM_COLLECTIVES + RING_NAMES + PROTOCOL_VALUES * PLATFORM_PROTOCOLS, NAME_SIZE = 64 };

/* The name without the suffix of the network, in `text` of NAME_SIZE; the scope is told by whether it was there. */
static enum platform_scope split_scope(const char *name, char *text)
{
    size_t length = strlen(name), suffix = sizeof network_suffix - 1;
    bool network = length > suffix && strcmp(name + length - suffix, network_suffix) == 0;
    snprintf(text, NAME_SIZE, "%.*s", (int)(length - (network ? suffix : 0)), name);
    return network ? SCOPE_NETWORK : SCOPE_NODE;
}

/* Properties that are words, or a torus. */
static const struct {
    const char *name;
    const char *const *words;
} word_properties[] = {{"rings", ring_words}, {"in_network", in_network_words}, {"torus", NULL}};

enum {
    WORDS = sizeof word_properties / sizeof *word_properties,
    PLAIN = WORDS + PLAIN_PROPERTIES,
    NAMES = PLAIN + SCOPES * REGIME_NAMES
};

bool library_property(unsigned index, struct platform_property *property)
{
    char text[NAME_SIZE];
    const char *name = text;
    *property = (struct platform_property){.kind = PROPERTY_QUANTITY};
    if (index >= NAMES)
        return routing_property(index - NAMES, property);
    if (index < WORDS) {
        name = word_properties[index].name;
        property->words = word_properties[index].words;
        property->kind = property->words ? PROPERTY_WORD : PROPERTY_TEXT;
    } else if (index < PLAIN) {
        name = plain_properties[index - WORDS].name;
        property->quantity = plain_properties[index - WORDS].type;
    } else {
        property->quantity = regime_name((index - PLAIN) % REGIME_NAMES, text, sizeof text);
    }
    snprintf(property->name, sizeof property->name, "%s%s%s", prefix, name,
             index < PLAIN + REGIME_NAMES ? "" : network_suffix);
    return true;
}

/* With the nearest of all names. */
static bool refuse_name(const char *key, struct fault *fault)
{
    struct platform_property properties[NAMES];
    const char *names[NAMES];
    for (unsigned i = 0; i < NAMES; i++) {
        library_property(i, &properties[i]);
        names[i] = properties[i].name;
    }
    const char *nearest = diag_nearest(key, names, NAMES);
    if (nearest)
        return fault_set(fault, "there is no property %s; did you mean %s?", key, nearest);
    return fault_set(
        fault,
        "there is no property %s; expected one such as collective_launch, collective_bulk_latency or collective_rings "
        "(doc/collectives.md)",
        key);
}

bool library_in_regime(const char *key, enum platform_scope scope)
{
    char text[NAME_SIZE], name[NAME_SIZE];
    if (routing_owns(key) || !library_owns(key) || split_scope(key + sizeof prefix - 1, text) != scope)
        return false;
    for (unsigned i = 0; i < REGIME_NAMES; i++) {
        regime_name(i, name, sizeof name);
        if (strcmp(text, name) == 0)
            return true;
    }
    return false;
}

bool library_set(struct platform_library *library, const char *key, const char *value, struct fault *fault)
{
    if (routing_owns(key))
        return routing_set(&library->routing, key, value, fault);
    const char *name = key + sizeof prefix - 1;
    if (strcmp(name, "rings") == 0)
        return set_rings(library, key, value, fault);
    if (strcmp(name, "in_network") == 0)
        return set_in_network(library, key, value, fault);
    const struct plain_property *plain = plain_find(name);
    if (plain)
        return read_quantity(plain->type, plain->least, plain->most, key, value, plain_value(library, plain), fault);
    if (strcmp(name, "torus") == 0)
        return set_torus(library, key, value, fault);
    char text[NAME_SIZE];
    struct platform_regime *regime = &library->regimes[split_scope(name, text)];
    if (strcmp(text, switch_start) == 0)
        return read_quantity(QUANTITY_TIME, 0, 10, key, value, &regime->in_network_start, fault);
    bool known = true, direct = strncmp(text, direct_prefix, sizeof direct_prefix - 1) == 0;
    bool good = strncmp(text, "launch", 6) == 0 ? set_launch(regime, text, key, value, &known, fault)
                : direct ? set_protocol(regime->direct, PROTOCOL_VALUES, text + sizeof direct_prefix - 1, key, value,
                                        &known, fault)
                         : set_protocol(regime->protocols, RING_VALUES, text, key, value, &known, fault);
    return good && (known || refuse_name(key, fault));
}

void library_complete_launches(struct platform_library *library)
{
    for (unsigned scope = 0; scope < SCOPES; scope++) {
        struct platform_regime *regime = &library->regimes[scope];
        bool follows = scope == SCOPE_NETWORK && !regime->launch_default_given;
        for (unsigned kind = 0; kind < PLATFORM_COLLECTIVES; kind++)
            if (!regime->launch_given[kind])
                regime->launch[kind] = follows ? library->regimes[SCOPE_NODE].launch[kind] : regime->launch_default;
    }
}

/* Values that are not given become those of `others`, NULL: those of a protocol of which nothing is given. */
static void fill_protocol(struct platform_protocol *protocol, const struct platform_protocol *others)
{
    static const struct platform_protocol plain = {NULL, 0, 1, 1, 0, 0};
    if (!others || !others->name)
        others = &plain;
    if (isnan(protocol->start))
        protocol->start = others->start;
    if (isnan(protocol->latency))
        protocol->latency = others->latency;
    if (isnan(protocol->efficiency))
        protocol->efficiency = others->efficiency;
}

static const struct platform_protocol *find_protocol(const struct platform_regime *regime, const char *name)
{
    for (unsigned i = 0; i < PLATFORM_PROTOCOLS; i++)
        if (regime->protocols[i].name && strcmp(regime->protocols[i].name, name) == 0)
            return &regime->protocols[i];
    return NULL;
}

/* Puts the protocols that there are first, and gives how many. */
static uint32_t compact_protocols(struct platform_protocol *protocols)
{
    uint32_t count = 0;
    for (unsigned i = 0; i < PLATFORM_PROTOCOLS; i++)
        if (protocols[i].name)
            protocols[count++] = protocols[i];
    for (unsigned i = count; i < PLATFORM_PROTOCOLS; i++)
        protocols[i] = (struct platform_protocol){0};
    return count;
}

void library_complete(struct platform_library *library)
{
    for (unsigned scope = 0; scope < SCOPES; scope++) {
        struct platform_regime *regime = &library->regimes[scope];
        for (unsigned i = 0; i < PLATFORM_PROTOCOLS; i++)
            if (regime->protocols[i].name)
                fill_protocol(&regime->protocols[i],
                              scope == SCOPE_NETWORK
                                  ? find_protocol(&library->regimes[SCOPE_NODE], regime->protocols[i].name)
                                  : NULL);
        for (unsigned i = 0; i < PLATFORM_PROTOCOLS; i++)
            if (regime->direct[i].name)
                fill_protocol(&regime->direct[i], NULL);
        regime->protocol_count = compact_protocols(regime->protocols);
        regime->direct_count = compact_protocols(regime->direct);
    }
    library_complete_launches(library);
}

const struct platform_protocol *library_protocols(const struct platform_library *library, enum platform_scope scope,
                                                  uint32_t *count)
{
    const struct platform_regime *regime = &library->regimes[scope];
    if (!regime->protocol_count)
        regime = &library->regimes[SCOPE_NODE];
    *count = regime->protocol_count;
    return regime->protocols;
}

struct platform_protocol library_transfers(const struct platform_library *library,
                                           const struct platform_protocol *protocol, enum platform_scope scope)
{
    const struct platform_protocol *known =
        protocol->name ? find_protocol(&library->regimes[scope], protocol->name) : NULL;
    return known ? *known : *protocol;
}

struct platform_protocol library_messages(const struct platform_library *library,
                                          const struct platform_protocol *protocol, enum platform_scope scope)
{
    const struct platform_regime *regime = &library->regimes[scope];
    for (unsigned i = 0; i < regime->direct_count; i++)
        if (strcmp(regime->direct[i].name, protocol->name) == 0)
            return regime->direct[i];
    return *protocol;
}

const char *library_kind_name(unsigned kind)
{
    return kinds[kind];
}

static void write_property(FILE *out, unsigned indent, const char *name, const char *more, const char *suffix,
                           double value, const char *unit)
{
    fprintf(out, "%*s<prop id=\"%s%s%s%s\" value=\"%.6g%s\"/>\n", (int)indent, "", prefix, name, more, suffix, value,
            unit);
}

static void write_protocols(FILE *out, const struct platform_protocol *protocols, const char *kind, const char *suffix,
                            unsigned indent)
{
    for (unsigned i = 0; i < PLATFORM_PROTOCOLS && protocols[i].name; i++)
        for (unsigned part = 0; part < PROTOCOL_VALUES; part++) {
            const struct protocol_value *value = &protocol_values[part];
            struct platform_protocol protocol = protocols[i];
            double amount = *protocol_value(&protocol, part) * value->scale;
            char name[NAME_SIZE];
            snprintf(name, sizeof name, "%s%s_", kind, protocols[i].name);
            if (part < 3 || amount > 0)
                write_property(out, indent, name, value->name, suffix, amount, value->unit);
        }
}

void library_write_regime(FILE *out, const struct platform_regime *regime, enum platform_scope scope, unsigned indent)
{
    const char *suffix = scope == SCOPE_NETWORK ? network_suffix : "";
    if (regime->launch_default_given || regime->launch_default > 0)
        write_property(out, indent, "launch", "", suffix, regime->launch_default * 1e6, "us");
    for (unsigned kind = 0; kind < PLATFORM_COLLECTIVES; kind++)
        if (regime->launch_given[kind])
            write_property(out, indent, "launch_", kinds[kind], suffix, regime->launch[kind] * 1e6, "us");
    if (regime->in_network_start > 0)
        write_property(out, indent, switch_start, "", suffix, regime->in_network_start * 1e6, "us");
    write_protocols(out, regime->protocols, "", suffix, indent);
    write_protocols(out, regime->direct, direct_prefix, suffix, indent);
}

void library_write(FILE *out, const struct platform_library *library, unsigned indent)
{
    static const char *const words[] = {NULL, "node", "cluster"};
    for (unsigned scope = 0; scope < SCOPES; scope++)
        library_write_regime(out, &library->regimes[scope], (enum platform_scope)scope, indent);
    if (library->rings == PLATFORM_RINGS_ON_LINKS)
        fprintf(out, "%*s<prop id=\"%s%s\" value=\"links\"/>\n", (int)indent, "", prefix, "rings");
    if (words[library->in_network])
        fprintf(out, "%*s<prop id=\"%sin_network\" value=\"%s\"/>\n", (int)indent, "", prefix,
                words[library->in_network]);
    for (unsigned i = 0; i < PLAIN_PROPERTIES; i++) {
        const struct plain_property *property = &plain_properties[i];
        double value = *(const double *)(const void *)((const char *)library + property->offset);
        if (value > 0)
            write_property(out, indent, property->name, "", "", value, property->unit);
    }
    if (library->torus[0])
        fprintf(out, "%*s<prop id=\"%storus\" value=\"%ux%u", (int)indent, "", prefix, library->torus[0],
                library->torus[1]);
    if (library->torus[0] && library->torus[2])
        fprintf(out, "x%u", library->torus[2]);
    if (library->torus[0])
        fputs("\"/>\n", out);
    routing_write(out, &library->routing, indent);
}
