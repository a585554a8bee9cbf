/* SPDX-License-Identifier: Apache-2.0 */
/* What offers cost, and which pairs of days and money nothing else is below in both. */
#ifndef STAGESIM_FLEET_FRONT_H
#define STAGESIM_FLEET_FRONT_H

#include "job/scenario/plan_settings.h"

#include <stddef.h>

/* What a training takes: seconds of so many GPUs in so many nodes, and joules (0: not known). */
struct fleet_use {
    double seconds, joules;
    uint32_t gpus, nodes;
};

/* What it costs with an offer. Rented: the price of an hour, for the minimum at the least, in whole commitments.
 * Bought: the share of the nodes' lives, and electricity. Never falls with seconds or joules. */
double fleet_money(const struct plan_offer *offer, const struct fleet_use *use);

struct fleet_point {
    double seconds, money;
};

/* Whether a point is below another in one of the two and in none above it. */
bool fleet_point_beats(struct fleet_point a, struct fleet_point b);

/* Points of which none beats another. Zeroed at first. */
struct fleet_front {
    struct fleet_point *points; /* count of them */
    size_t count, capacity;
};
void fleet_front_finish(struct fleet_front *front);
/* Adds a point, and drops what it beats. Equal points are kept once. */
void fleet_front_add(struct fleet_front *front, struct fleet_point point);
/* Whether one of its points beats this one. */
bool fleet_front_beats(const struct fleet_front *front, struct fleet_point point);

#endif
