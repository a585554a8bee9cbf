/* SPDX-License-Identifier: Apache-2.0 */
/* What other hardware would be worth: the recommended cluster with a property changed, in its layout and searched anew.
 */
#ifndef STAGESIM_FLEET_WORTH_H
#define STAGESIM_FLEET_WORTH_H

#include "studies/fleet/fleet.h"

/* A change of plan.what_if. Seconds and money of the whole training with the same offer. */
struct fleet_worth {
    const char *text;   /* "memory=1.2" */
    const char *reason; /* why nothing is known of it; NULL: it is */
    double slope;       /* of the logarithm of the time by that of the property, in the same layout */
    double seconds, money;
    struct fleet_found best;
};

/* Whether plan.what_if can be read; false with the mistakes reported. Which links there are the cluster says. */
bool fleet_worth_check(const struct scenario *scenario, struct arena *arena, struct diag *diag);

/* Asks for every change, which were checked; *count of them. NULL where nothing is recommended or asked. Memory from
 * the arena. */
struct fleet_worth *fleet_worth_find(const struct fleet *fleet, const struct fleet_request *request, size_t *count,
                                     struct arena *arena);

#endif
