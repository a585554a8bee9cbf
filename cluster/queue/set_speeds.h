/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of a queue simulated side by side: how much longer an iteration of each takes than alone. */
#ifndef STAGESIM_QUEUE_SET_SPEEDS_H
#define STAGESIM_QUEUE_SET_SPEEDS_H

#include "cluster/queue/traffic.h"

enum set_speeds {
    SPEEDS_FOUND,
    SPEEDS_UNEVEN, /* in an iteration of one there are too many of another one to simulate */
    SPEEDS_FAILED
};

/* Fills slow[count]. All begin together; the iterations count that end while all are running, and at least one of each
 * does. */
enum set_speeds set_speeds_find(struct platform *platform, const struct footprint *const *members, uint32_t count,
                                double *slow);

#endif
