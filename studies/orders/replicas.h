/* SPDX-License-Identifier: Apache-2.0 */
/* The replicas of the pipeline that a recorded trace has. */
#ifndef STAGESIM_ORDERS_REPLICAS_H
#define STAGESIM_ORDERS_REPLICAS_H

#include "traces/recorded.h"

struct arena;

/* The replica of the pipeline that a rank is in: ranks that send each other messages. [rank index]: the index of the
 * first rank in it; from the arena. */
uint32_t *orders_replicas(const struct recorded *recorded, struct arena *arena);

#endif
