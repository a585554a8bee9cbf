/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/presets/library_read.h"

#include "base/arena.h"
#include "platforms/hardware/hardware.h"
#include "platforms/library.h"

#include <math.h>
#include <string.h>

/* ---- libraries ---- */

struct library_file {
    struct design_library library;
    unsigned confidence;
};

const struct stagesim_field library_fields[] = {
    {"name", STAGESIM_FIELD_TEXT, offsetof(struct library_file, library.name), .required = true},
    {"torus_of_fabric", STAGESIM_FIELD_FLAG, offsetof(struct library_file, library.torus_of_fabric)},
    {"source", STAGESIM_FIELD_TEXT, offsetof(struct library_file, library.source), .required = true,
     .doc = "where its figures are from"},
    {"confidence", STAGESIM_FIELD_NAME, offsetof(struct library_file, confidence), .required = true,
     .names = confidence_names},
    {0},
};

/* Every other key is a property as platform files have them. */
static bool read_properties(struct platform_library *library, const struct node *map, struct diag *diag)
{
    bool good = true;
    for (const struct node *child = map->first; child; child = child->next) {
        struct fault fault = {""};
        if (!library_owns(child->key))
            continue;
        if (child->kind != NODE_SCALAR)
            fault_set(&fault, "%s is %s; expected a value as in platform files", child->key,
                      node_describe(child, hardware_arena()));
        else
            library_set(library, child->key, child->text, &fault);
        if (fault.text[0])
            diag_error(diag, child->at, "%s", fault.text);
        good = good && !fault.text[0];
    }
    library_complete(library);
    return good;
}

/* The keys of properties, which hardware_read does not know. */
static const char *const *property_keys(const struct node *map)
{
    const char **keys = arena_array(hardware_arena(), map->count + 1, sizeof *keys);
    size_t count = 0;
    for (const struct node *child = map->first; child; child = child->next)
        if (library_owns(child->key))
            keys[count++] = child->key;
    return keys;
}

const struct design_library *design_library_find(const char *name, struct place at, struct diag *diag)
{
    const struct design_library *kept = hardware_kept(HARDWARE_LIBRARY, name);
    const struct node *map = kept ? NULL : hardware_find(HARDWARE_LIBRARY, name, at, diag);
    if (!map)
        return kept;
    struct library_file *file = arena_alloc(hardware_arena(), sizeof *file);
    bool good = hardware_read(HARDWARE_LIBRARY, map, library_fields, property_keys(map), file, diag);
    if (!read_properties(&file->library.properties, map, diag) || !good)
        return NULL;
    file->library.confidence = (enum confidence)file->confidence;
    hardware_keep(HARDWARE_LIBRARY, name, &file->library);
    return &file->library;
}

/* ---- networks ---- */

struct network_file {
    struct design_network network; /* its protocols by their place in `protocols` below */
    unsigned confidence;
};

#define PROTOCOL(number, word)                                                                                         \
    {word ".start", STAGESIM_FIELD_TIME, offsetof(struct network_file, network.protocols[number].start), .least = 0,   \
     .most = 10},                                                                                                      \
        {word ".hop", STAGESIM_FIELD_TIME, offsetof(struct network_file, network.protocols[number].hop), .least = 0,   \
         .most = 10},                                                                                                  \
    {                                                                                                                  \
        word ".efficiency", STAGESIM_FIELD_RATIO, offsetof(struct network_file, network.protocols[number].efficiency), \
            .least = 1e-6, .most = 1000                                                                                \
    }

static const char *const protocols[PLATFORM_PROTOCOLS] = {"low", "middle", "bulk"};

const struct stagesim_field network_fields[] = {
    {"name", STAGESIM_FIELD_TEXT, offsetof(struct network_file, network.name), .required = true},
    {"launch", STAGESIM_FIELD_TIME, offsetof(struct network_file, network.launch), .least = 0, .most = 10},
    PROTOCOL(0, "low"),
    PROTOCOL(1, "middle"),
    PROTOCOL(2, "bulk"),
    {"flow.rate", STAGESIM_FIELD_RATE, offsetof(struct network_file, network.flow.rate), .least = 1e6, .most = 1e15,
     .doc = "what one transfer between nodes reaches at most"},
    {"flow.window", STAGESIM_FIELD_BYTES, offsetof(struct network_file, network.flow.window), .least = 1024,
     .most = 1e15, .doc = "bytes of it on their way before an answer is back"},
    {"known_only", STAGESIM_FIELD_FLAG, offsetof(struct network_file, network.known_only)},
    {"source", STAGESIM_FIELD_TEXT, offsetof(struct network_file, network.source), .required = true,
     .doc = "where its figures are from"},
    {"confidence", STAGESIM_FIELD_NAME, offsetof(struct network_file, confidence), .required = true,
     .names = confidence_names},
    {0},
};

/* Those that the file has, in front. False after a mistake was reported. */
static bool gather_protocols(struct design_network *network, const struct node *map, struct diag *diag)
{
    uint32_t count = 0;
    bool good = true;
    for (uint32_t i = 0; i < PLATFORM_PROTOCOLS; i++) {
        const struct node *given = node_get(map, protocols[i]);
        struct network_protocol protocol = network->protocols[i];
        network->protocols[i].name = NULL;
        if (!given)
            continue;
        if (isnan(protocol.hop)) {
            diag_error(diag, given->at, "%s has no 'hop'; expected a time such as 2.7us", protocols[i]);
            good = false;
        }
        protocol.name = protocols[i];
        network->protocols[count++] = protocol;
    }
    return good;
}

const struct design_network *design_network_find(const char *name, struct place at, struct diag *diag)
{
    const struct design_network *kept = hardware_kept(HARDWARE_NETWORK, name);
    const struct node *map = kept ? NULL : hardware_find(HARDWARE_NETWORK, name, at, diag);
    if (!map)
        return kept;
    struct network_file *file = arena_alloc(hardware_arena(), sizeof *file);
    file->network.launch = NAN;
    for (uint32_t i = 0; i < PLATFORM_PROTOCOLS; i++)
        file->network.protocols[i] = (struct network_protocol){NULL, NAN, NAN, NAN};
    if (!hardware_read(HARDWARE_NETWORK, map, network_fields, NULL, file, diag) ||
        !gather_protocols(&file->network, map, diag))
        return NULL;
    file->network.confidence = (enum confidence)file->confidence;
    hardware_keep(HARDWARE_NETWORK, name, &file->network);
    return &file->network;
}
