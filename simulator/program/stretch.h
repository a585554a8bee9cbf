/* SPDX-License-Identifier: Apache-2.0 */
/* Computations that take longer than the workload said, at positions whose devices run at a lower clock. */
#ifndef STAGESIM_STRETCH_H
#define STAGESIM_STRETCH_H

#include "simulator/program/program.h"

struct arena;

/* Makes every computation of position p take factors[p] times as long, optimizers optimizer_factors[p] times. Costs
 * that other operations share stay as they are. Memory from the arena. */
void program_stretch(struct program *program, const double *factors, const double *optimizer_factors,
                     struct arena *arena);

#endif
