/* SPDX-License-Identifier: Apache-2.0 */
/* What flows from everybody to everybody meet: too many to take them one by one where routes have parts in common. */
#ifndef STAGESIM_EVERY_PAIR_H
#define STAGESIM_EVERY_PAIR_H

#include "platforms/platform.h"

/* What a link carries: flows between different hosts of either scope, and the least latency of their routes. */
struct pair_port {
    uint32_t flows[SCOPES];
    double least[SCOPES];
};

/* A flow alone. */
struct pair_flow {
    double latency, bandwidth;
    enum platform_scope scope;
};

struct pair_visit {
    struct pair_port *ports;                                /* [link]: added to */
    void (*flow)(void *user, const struct pair_flow *flow); /* told of every flow that is like none of the last few */
    void *user;
};

/* Visits the flows from each of the hosts to each other one. Where the platform knows bundles of hosts whose ways out
 * and in are alike, a flow between two bundles stands for all of theirs; otherwise every route is looked at. */
void every_pair_visit(struct platform *platform, const uint32_t *hosts, uint32_t count, const struct pair_visit *visit);

#endif
