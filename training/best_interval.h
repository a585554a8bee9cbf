/* SPDX-License-Identifier: Apache-2.0 */
/* How often to save the state. */
#ifndef STAGESIM_TRAINING_BEST_INTERVAL_H
#define STAGESIM_TRAINING_BEST_INTERVAL_H

#include "training/plan.h"

/* Work between two checkpoints that each stop the job for `save`, with which steps take least where failures come at
 * any moment alike, one in `between` on average: M (1 + W0(-exp(-C/M - 1))), W0 Lambert's. It does not depend on how
 * long a restart takes. 0 where saving costs nothing. */
double best_interval_formula(double save, double between);

/* The same by simulation, in whole steps. */
struct best_interval {
    double interval;          /* seconds of work; chosen */
    double formula;           /* what the search began with */
    double mean, half, twice; /* seconds of the whole training with it, with half of it and with twice as much */
};

/* Begins with the formula, for failures that lose work, and goes on by factors of two and then of the square root of
 * two while the mean of `runs` runs, which all meet the same failures, gets better by more than twice its error. */
struct best_interval best_interval_find(struct training_plan plan, uint32_t runs);

#endif
