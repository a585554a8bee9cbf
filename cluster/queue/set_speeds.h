/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of a queue simulated side by side: how much longer an iteration of each takes than alone. */
#ifndef STAGESIM_QUEUE_SET_SPEEDS_H
#define STAGESIM_QUEUE_SET_SPEEDS_H

#include "cluster/queue/traffic.h"

/* Fills slow[count]. All begin together; the iterations count that end while all are running. False where that fails.
 */
bool set_speeds_find(struct platform *platform, const struct footprint *const *members, uint32_t count, double *slow);

#endif
