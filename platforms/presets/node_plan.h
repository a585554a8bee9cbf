/* SPDX-License-Identifier: Apache-2.0 */
/* How a node is wired, as a list of steps in a product's file; doc/hardware.md has their grammar. */
#ifndef STAGESIM_NODE_PLAN_H
#define STAGESIM_NODE_PLAN_H

#include "platforms/presets/wires.h"

/* A role in the steps, and the cables that play it. */
struct plan_cable {
    const char *role;
    const struct named_wire *wire;
    double links; /* bundled into one */
};

struct node_plan {
    const struct device_model *device;
    uint32_t devices; /* of a whole node */
    const char *const *labels;
    size_t label_count;
    bool forwards; /* devices pass the traffic of others on */
    const struct plan_cable *cables;
    size_t cable_count;
    const struct node *steps; /* a list; NULL: devices and nothing else, for fabrics that join single devices */
};

/* The node with its first `devices` devices, in the arena. NULL after a mistake in the steps was reported. */
struct node_graph *node_plan_build(const struct node_plan *plan, uint32_t devices, struct arena *arena,
                                   struct diag *diag);

#endif
