/* SPDX-License-Identifier: Apache-2.0 */
/* How much longer steps take while something of the platform is not as it should be. */
#ifndef STAGESIM_SLOW_STEPS_H
#define STAGESIM_SLOW_STEPS_H

#include "job/scenario/scenario.h"
#include "platforms/platform.h"

/* Whether a component of the scenario's failures says what changes on the platform. */
bool slow_steps_asked(const struct scenario *scenario);

/* For each such component slow[i]: the iteration on the platform with its change over that without, at least 1, on the
 * scenario's engine, the one with contention where both run. Each simulation has a process of its own. The others are
 * left as they are. An exit code after the mistake was reported. */
int slow_steps_find(const struct scenario *scenario, struct platform *platform, double slow[TRAINING_CAUSES],
                    struct diag *diag);

#endif
