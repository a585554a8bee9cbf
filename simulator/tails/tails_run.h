/* SPDX-License-Identifier: Apache-2.0 */
/* Many steps, and what they have in common. */
#ifndef STAGESIM_TAILS_RUN_H
#define STAGESIM_TAILS_RUN_H

#include "simulator/tails/step_walk.h"

/* So many steps are compared with what a change makes of them, at most. */
enum { TAILS_COMPARED = 400 };

/* Fills steps[i] for steps `from` to from + count - 1 of the settings' seed. Which steps are asked for together changes
 * nothing. */
void tails_run(struct step_walk *walk, uint32_t from, uint32_t count, struct tails_step *steps);

/* How long so many of the settings' first steps are not exceeded by that share of them: nothing else is asked. */
struct tails_quantile tails_quantile_of(struct step_walk *walk, uint32_t count, double share);

/* What `count` steps come to: those of the settings, from the first on. */
struct tails_figures tails_figures_of(const struct step_walk *walk, const struct tails_step *steps, uint32_t count);

#endif
