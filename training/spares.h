/* SPDX-License-Identifier: Apache-2.0 */
/* How many nodes are away at a time. */
#ifndef STAGESIM_TRAINING_SPARES_H
#define STAGESIM_TRAINING_SPARES_H

#include "training/plan.h"

/* The least number of spares with which more nodes are in repair with at most this probability, where `away` are on
 * average: Poisson's, whatever the repairs' distribution (L. Takacs, 1962: M/G/infinity). */
uint32_t spares_for(double away, double probability);
/* Nodes of the plan's job that are in repair on average, its rates times the mean repair. */
double spares_away(const struct training_plan *plan);
/* So many that one waits in 99 % of the time. */
uint32_t spares_chosen(const struct training_plan *plan);
/* Failures of the plan's job in a second that have one of these effects (bits 1 << enum failure_effect). */
double failures_per_second(const struct training_plan *plan, unsigned effects);

#endif
