/* SPDX-License-Identifier: Apache-2.0 */
/* Several clusters searched at a time, each in a process of its own. */
#ifndef STAGESIM_FLEET_CREW_H
#define STAGESIM_FLEET_CREW_H

#include "studies/fleet/fleet.h"

/* What is asked; borrowed for the call. */
struct fleet_crew {
    const struct fleet *fleet;
    const struct fleet_request *request;
    const uint32_t *questions; /* count of them, in the order in which they are begun */
    size_t count;
    double (*begin)(void *user, uint32_t question);                              /* its ceiling, as fleet_ask has it */
    int (*take)(void *user, uint32_t question, const struct fleet_found *found); /* the answer; an exit code */
    void *user;
};

/* Asks them, until one fails or the user interrupts: as many at a time as the request has jobs. Where there are fewer
 * questions, each is searched by several processes. Returns an exit code. */
int fleet_crew_ask(const struct fleet_crew *crew);

#endif
