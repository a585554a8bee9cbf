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

/* Asks for every change; *count of them. NULL after a mistake was reported, or where nothing is recommended or asked.
 * Memory from the arena. */
struct fleet_worth *fleet_worth_find(const struct fleet *fleet, const struct fleet_request *request, size_t *count,
                                     struct arena *arena, struct diag *diag);

#endif
