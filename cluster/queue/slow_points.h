/* SPDX-License-Identifier: Apache-2.0 */
/* Slow-downs that were simulated, by the load that others put on the link on which a job meets most; and what follows
 * from them for other loads. */
#ifndef STAGESIM_QUEUE_SLOW_POINTS_H
#define STAGESIM_QUEUE_SLOW_POINTS_H

#include <stddef.h>
#include <stdint.h>

struct slow_point {
    uint32_t type, nodes; /* of the job */
    double load, slow;
};

struct slow_points {
    struct slow_point *items; /* [count], by type, nodes and load */
    size_t count, capacity;
};

void slow_points_add(struct slow_points *points, struct slow_point point);
/* Points of a type and size. */
size_t slow_points_known(const struct slow_points *points, uint32_t type, uint32_t nodes);
/* The largest load of them; 0: there are none. */
double slow_points_largest(const struct slow_points *points, uint32_t type, uint32_t nodes);
/* Between the points of jobs of that type and size on both sides of the load; nobody slows down without a load, and
 * beyond the last point slow-downs go on in proportion. Without such points those of the type's nearest size, and
 * without these those of all. 1: there are none at all. */
double slow_points_estimate(const struct slow_points *points, uint32_t type, uint32_t nodes, double load);
void slow_points_finish(struct slow_points *points);

#endif
