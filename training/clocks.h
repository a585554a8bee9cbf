/* SPDX-License-Identifier: Apache-2.0 */
/* When what fails: a clock for every unit and group of components, on the calendar, whatever the job does. The times of
 * a unit depend on the seed, the run and its own number, so that all policies meet the same failures. */
#ifndef STAGESIM_TRAINING_CLOCKS_H
#define STAGESIM_TRAINING_CLOCKS_H

#include "training/plan.h"

struct clocks;

/* A failure. */
struct failure {
    double time;
    const struct failure_component *component;
    uint32_t first, count; /* machines of the unit: numbers first .. first + count - 1; count 0: the job */
    struct draws draws;    /* what becomes of it is drawn from here */
};

/* For `machines` of them. The caller destroys it. */
struct clocks *clocks_create(const struct training_plan *plan, uint32_t machines, uint64_t run);
void clocks_destroy(struct clocks *clocks);
/* When the next one comes; INFINITY: none does. */
double clocks_next(const struct clocks *clocks);
/* Takes it. */
struct failure clocks_take(struct clocks *clocks);
/* The machine is another one from now on, and no lemon. */
void clocks_exchange(struct clocks *clocks, uint32_t machine);

#endif
