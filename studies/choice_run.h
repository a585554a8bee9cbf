/* SPDX-License-Identifier: Apache-2.0 */
/* What the schedule `best` stands for, on the scenario's own engine. */
#ifndef STAGESIM_CHOICE_RUN_H
#define STAGESIM_CHOICE_RUN_H

#include "job/scenario/scenario.h"

/* What a scenario stands for that leaves it open (studies/choice.h): the scenario itself where it leaves nothing open
 * or nothing can be run. On SimGrid candidates are simulated in the order of their times without contention, until the
 * next one cannot be faster with it. Memory from the arena. NULL with *code set after a mistake was reported. */
struct scenario *choice_make(struct scenario *scenario, struct arena *arena, int *code);

#endif
