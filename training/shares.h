/* SPDX-License-Identifier: Apache-2.0 */
/* How fast a job is without some of its replicas or nodes. */
#ifndef STAGESIM_TRAINING_SHARES_H
#define STAGESIM_TRAINING_SHARES_H

#include "training/plan.h"

/* How many units there are that drop out by themselves: nodes where nodes do, otherwise replicas. */
uint32_t shares_units(const struct training_plan *plan);
/* Whether the others go on when one drops out. */
bool shares_go_on(const struct training_plan *plan);
/* The share of its full speed that the job has with the units that are there: those with back[unit] <= now, but for
 * those that `leave` (NULL: none does). 0: they are too few. */
double shares_left(const struct training_plan *plan, const double *back, double now, const bool *leave);
/* POLICY_REDUNDANT: how many times as long a step takes, when all are there, for what is computed twice. 1: otherwise.
 */
double shares_redundancy(const struct training_plan *plan);

#endif
