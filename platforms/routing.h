/* SPDX-License-Identifier: Apache-2.0 */
/* How switches spread transfers over parallel links. A link of a platform may stand for several cables: with adaptive
 * routing they carry what they can together, as one link does; with ECMP each flow takes one of them, drawn by a hash,
 * and some cables carry more than others. */
#ifndef STAGESIM_ROUTING_H
#define STAGESIM_ROUTING_H

#include "base/diagnostics.h"
#include "base/quantity.h"
#include "platforms/platform.h"

#include <stdio.h>

struct arena;

/* Most cables of a link, and most flows that a transfer is cut into. */
enum { ROUTING_PATHS_MAX = 4096, ROUTING_FLOWS_MAX = 64 };

/* What a property of platforms may be. */
struct platform_property {
    char name[96];
    enum { PROPERTY_QUANTITY, PROPERTY_WORD, PROPERTY_COUNT, PROPERTY_TEXT } kind;
    enum quantity quantity;   /* of PROPERTY_QUANTITY */
    const char *const *words; /* of PROPERTY_WORD, NULL-terminated */
};
/* Number `index` of routing's properties; false behind the last. */
bool routing_property(unsigned index, struct platform_property *property);

/* Whether a property's name is one of routing's: "routing", or begins with "routing_". */
bool routing_owns(const char *key);
/* Reads one property that routing_owns. False with the fault filled when there is none of that name or the value is
 * wrong. */
bool routing_set(struct platform_routing *routing, const char *key, const char *value, struct fault *fault);
/* Writes the properties as XML, each on a line of `indent` blanks; none where nothing is given. */
void routing_write(FILE *out, const struct platform_routing *routing, unsigned indent);

/* A platform like this one in which the links of routing->links are cables of their own, called LINK-0, LINK-1, ...,
 * and each flow from a host to another one takes one of them: the hash of both hosts, the flow and the seed draws it.
 * Links of one kind draw the same number on a route: a spine switch that is drawn on the way up is the one from which
 * the way leads down. The platform itself where the routing is adaptive. Memory from the arena. NULL with the fault
 * filled where nothing says what the paths are, no link is of that kind, or SimGrid has read the platform. */
struct platform *routing_platform(struct platform *platform, const struct platform_routing *routing,
                                  struct arena *arena, struct fault *fault);
/* The platform that routing_platform was given, where it made this one; this one otherwise. */
struct platform *routing_base(struct platform *platform);
/* From now on flows are drawn among the cables that are up; down[link], borrowed. No effect on other platforms. */
void routing_avoid(struct platform *platform, const bool *down);

/* Bytes per second of one transfer alone over the links, one that is passed several times counted as often. */
double routing_rate(const struct platform *platform, const uint32_t *links, uint32_t count);

#endif
