/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/import/builder.h"

#include "base/arena.h"

#include <math.h>
#include <string.h>

const struct wire *builder_wire(struct builder *builder, const char *name, double raw, double effective, double latency,
                                const char *source, enum confidence confidence)
{
    const struct node_graph *node = builder->node;
    effective = round(effective * 1e4) / 1e4;
    raw = round(raw * 1e4) / 1e4;
    for (uint32_t i = 0; i < node->cable_count; i++) {
        const struct wire *wire = node->cables[i].wire;
        if (strcmp(wire->name, name) == 0 && wire->effective == effective && wire->raw == raw &&
            strcmp(wire->source, source) == 0)
            return wire;
    }
    struct wire *wire = arena_alloc(builder->import->arena, sizeof *wire);
    *wire = (struct wire){name, raw, effective, latency, arena_copy(builder->import->arena, source), confidence};
    return wire;
}

uint32_t builder_carrier(const struct import *import, uint32_t place)
{
    do
        place = import->places[place].parent;
    while (place != NODE_NONE && import->places[place].kind >= IMPORT_GPU);
    return place;
}

uint32_t builder_used_children(const struct builder *builder, uint32_t place)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < builder->import->place_count; i++)
        count += builder->used[i] && builder->import->places[i].kind != IMPORT_SOCKET &&
                 builder_carrier(builder->import, i) == place;
    return count;
}

uint32_t builder_above(const struct builder *builder, uint32_t place, double *raw)
{
    const struct import *import = builder->import;
    uint32_t above = builder_carrier(import, place);
    *raw = import->places[place].wire;
    while (import->places[above].kind == IMPORT_SWITCH && builder_used_children(builder, above) <= 1) {
        if (import->places[above].wire < *raw)
            *raw = import->places[above].wire;
        above = builder_carrier(import, above);
    }
    return builder->vertex[above];
}
