/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/presets/wires.h"

#include "base/arena.h"
#include "platforms/hardware/hardware.h"

struct wire_file {
    const char *name;
    struct wire_figures figures;
};

const struct stagesim_field wire_fields[] = {
    {"name", STAGESIM_FIELD_TEXT, offsetof(struct wire_file, name), .required = true, .doc = "the cable's name"},
    WIRE_FIELDS(wire_file, figures),
    {0},
};

struct wire wire_of(const struct wire_figures *figures)
{
    return (struct wire){.name = figures->link,
                         .raw = figures->raw / 1e9,
                         .effective = figures->effective / 1e9,
                         .latency = figures->latency,
                         .source = figures->source,
                         .confidence = (enum confidence)figures->confidence};
}

const struct named_wire *wire_value(const char *key, const struct node *value, struct diag *diag)
{
    const struct named_wire *kept = hardware_kept_value(HARDWARE_WIRE, value);
    struct wire_file file = {0};
    if (kept)
        return kept;
    const struct node *map = hardware_value(HARDWARE_WIRE, key, value, diag);
    if (!map || !hardware_read(HARDWARE_WIRE, map, wire_fields, NULL, &file, diag) || !hardware_word("link", map, diag))
        return NULL;
    struct named_wire *named = arena_alloc(hardware_arena(), sizeof *named);
    *named = (struct named_wire){file.name, wire_of(&file.figures)};
    hardware_keep(HARDWARE_WIRE, file.name, named);
    return named;
}
