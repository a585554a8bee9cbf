/* SPDX-License-Identifier: Apache-2.0 */
/* Whether routes connect all that they name. */
#ifndef STAGESIM_REACH_H
#define STAGESIM_REACH_H

#include <stdbool.h>
#include <stddef.h>

/* A route, between points by their names. */
struct reach_route {
    const char *from, *to;
    bool both_ways;
};

/* Whether every point that a route names can be reached from every other one. */
bool reach_all(const struct reach_route *routes, size_t count);

#endif
