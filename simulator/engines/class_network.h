/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of ranks, flows and links for the engine with contention, and a small network that stands for the whole one.
 *
 * Flows share links by max-min fairness, which has one solution. Where every flow of a class crosses equally many links
 * of each class, and every link of a class carries equally many flows of each class, that solution gives all flows of a
 * class the same rate: they start, share and end alike. So one rank of each class is simulated, with one flow of each
 * class between them. A link that carries n flows of a class is listed n times on the route of the one that stands for
 * them, so that it takes n times its rate. Links that are always fast enough for whatever can use them at once bind
 * nobody and are left out (fold_links.h). */
#ifndef STAGESIM_CLASS_NETWORK_H
#define STAGESIM_CLASS_NETWORK_H

#include "platforms/platform.h"
#include "simulator/collectives/flows.h"
#include "simulator/engines/class_part.h"

#include <stdbool.h>

struct arena;

/* The flows of a collective that stand for all of an instance. */
struct class_flows {
    const struct collective_flows *all;
    struct collective_flows flows; /* from, to: the first members of the instance that are alike with their ends */
    size_t *number;                /* [flow]: among all */
    uint32_t *from, *to;           /* [flow]: hosts of the network */
};

/* Of an instance of a group that stands for those that are alike. */
struct class_instance {
    uint32_t set_count;
    struct class_flows *sets; /* as in assignment_all_flows */
};

/* Of one part; parts that run side by side share the platform. */
struct class_network {
    uint32_t *first_of; /* [rank]: the first rank of the part of its class */
    uint32_t *place_of; /* [rank]: host of its class in the network */
    uint32_t count;     /* classes of ranks */
    uint32_t like;      /* the part that is simulated for it: itself, or one before it whose ranks are alike, all */
    struct platform platform;
    struct class_instance ***instances; /* [group][instance], NULL: another one stands for it */
};

/* Whether groups that are alike and share links have turns (precedence.h). */
struct class_turns {
    uint32_t most; /* with more classes of ranks than this none has one, where that leaves less than half of them; 0:
                      none has one, CLASS_TURNS_ALL: all have */
    bool even;     /* filled: none had */
};
#define CLASS_TURNS_ALL UINT32_MAX

/* [count], one for each of the parts that run side by side. NULL where this is no gain or cannot be, and
 * reason[0 .. size) says why; no two ranks are alike: `distinct`. Memory from the arena. */
struct class_network *class_network_create(const struct class_part *parts, uint32_t count, struct platform *platform,
                                           struct class_turns *turns, struct arena *arena, char *reason, size_t size,
                                           bool *distinct);

/* Classes of ranks that there would be if routes that differ in nothing but a latency were equal; 0: not known. */
uint32_t class_network_count(const struct class_part *part, struct platform *platform, struct arena *arena);

#endif
