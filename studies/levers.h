/* SPDX-License-Identifier: Apache-2.0 */
/* What would make a job fit in memory that does not: the same scenario with one thing changed, built and timed anew. */
#ifndef STAGESIM_LEVERS_H
#define STAGESIM_LEVERS_H

#include "analysis/figures/report.h"
#include "job/scenario/scenario.h"
#include "platforms/platform.h"

struct arena;

/* Fills report->levers: changes that the scenario allows and that need less memory, the one that saves least first;
 * none for programs too large to be evaluated several times at once. `operations`: of one replica. */
void levers_find(const struct scenario *scenario, struct platform *platform, double operations, struct report *report,
                 struct arena *arena);

#endif
