/* SPDX-License-Identifier: Apache-2.0 */
/* Many simulated trainings: what they have in common, and how far apart they are. */
#ifndef STAGESIM_TRAINING_OUTCOME_H
#define STAGESIM_TRAINING_OUTCOME_H

#include "training/plan.h"

/* Of so many runs one in ten is below `low`, half are below `middle`, one in ten is above `high`. */
struct training_band {
    double low, middle, high;
};

struct training_outcome {
    uint32_t runs;
    struct training_band wall, steps_share;      /* seconds; time of steps that count over the whole */
    struct training_band joules;                 /* 0: not known */
    double mean, error;                          /* of the wall times: their mean, and its standard error */
    double parts[TRAINING_PARTS];                /* means, seconds */
    double causes[TRAINING_CAUSES];              /* the same by components of the plan */
    double computed, stops, slowed, checkpoints; /* means */
    uint32_t spares_used;                        /* in 9 of 10 runs at most */
    uint32_t stuck;                              /* runs that were given up; then the rest says nothing */
};

/* Simulates runs 0 .. runs - 1 of the plan's seed; at least one. */
struct training_outcome training_outcome_of(const struct training_plan *plan, uint32_t runs);
/* The same of runs that were simulated: [runs], up to the first that was given up. */
struct training_outcome training_outcome_from(const struct training_plan *plan, const struct training_run *all,
                                              uint32_t runs);

/* Of `count` sorted values: the one that this share of them does not exceed. */
double training_quantile(const double *sorted, uint32_t count, double share);

#endif
