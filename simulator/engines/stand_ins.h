/* SPDX-License-Identifier: Apache-2.0 */
/* A platform on which groups that share links have their turns (precedence.h): what weighs a flow is a property of its
 * route, and two groups may have flows between the same hosts. */
#ifndef STAGESIM_STAND_INS_H
#define STAGESIM_STAND_INS_H

#include "platforms/platform.h"
#include "simulator/engines/class_part.h"

struct arena;

/* A platform with a further host for each member of a group that has a turn, in the place of its own: routes are those
 * of its own, flows that begin there have its weight. */
struct stand_ins {
    struct platform platform;
    uint32_t **first; /* [group][instance]: the host for its first member, the others follow; 0: it has no turn */
};

/* [count], one for each of the parts that run side by side, which share the platform. NULL: there are links of which
 * nobody knows how they are shared. `even`: no group has a turn. The platform has to live as long; memory from the
 * arena. */
struct stand_ins *stand_ins_create(const struct class_part *parts, uint32_t count, struct platform *platform, bool even,
                                   struct arena *arena);

#endif
