/* SPDX-License-Identifier: Apache-2.0 */
/* Whether routes connect all that they name, and gateways of zones that stand deeper than in the zone itself:
 * SimGrid 4.1 finds no routes through these. */
#ifndef STAGESIM_REACH_H
#define STAGESIM_REACH_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* A route, between points by their names. */
struct reach_route {
    const char *from, *to;
    bool both_ways;
};

/* Whether every point that a route names can be reached from every other one. */
bool reach_all(const struct reach_route *routes, size_t count);

/* Something that a route may lead to. */
struct gateway_point {
    const char *name;
    uint32_t zone, inside; /* number of the zone that it stands in, and, for a zone, of itself: from 1, 0 for none */
};
struct gateway_use {
    const char *zone, *gateway;
    struct place at;
};

/* What was read so far. gateways_find_deep releases the lists. */
struct gateways {
    struct gateway_point *points;
    size_t point_count, point_capacity;
    struct gateway_use *uses;
    size_t use_count, use_capacity;
    uint32_t zones;
};

/* A host or a router within the zone of that number. Names are copied to the arena. */
void gateways_point(struct gateways *gateways, const char *name, uint32_t zone, struct arena *arena);

/* A zone within another; its number. */
uint32_t gateways_zone(struct gateways *gateways, const char *name, uint32_t zone, struct arena *arena);

/* A route that leads to `zone`, or from there, through `gateway`; nothing where that is an empty text. */
void gateways_use(struct gateways *gateways, const char *zone, const char *gateway, struct place at,
                  struct arena *arena);

/* The first gateway that stands deeper, as "FILE:LINE:COLUMN: gateway 'a' of zone 'b' stands in a zone within it" in
 * the arena, or NULL. */
const char *gateways_find_deep(struct gateways *gateways, struct arena *arena);

#endif
