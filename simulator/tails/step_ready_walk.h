/* SPDX-License-Identifier: Apache-2.0 */
/* How a step without a fixed order goes: events in the order of time. */
#ifndef STAGESIM_STEP_READY_WALK_H
#define STAGESIM_STEP_READY_WALK_H

#include "simulator/tails/step_ready.h"

struct arena;
struct ready_scratch;

/* Memory from the arena. */
struct ready_scratch *ready_scratch_create(const struct step_ready *ready, struct arena *arena);

#endif
