/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of one kind of failure, for formulas to be compared with. */
#ifndef STAGESIM_TEST_SIMPLE_PLAN_H
#define STAGESIM_TEST_SIMPLE_PLAN_H

#include "training/outcome.h"
#include "training/plan.h"

struct simple_plan {
    struct training_plan plan;
    struct failure_component component;
    struct distribution start, detect, replacement, restart, load, save, write, repair, stall;
};

/* One node, which fails every `between` seconds on average and stops the job, for no time at all. No checkpoints. */
void simple_plan_init(struct simple_plan *simple, double work, double between);
/* A checkpoint that takes `save`, behind every `interval` of work. */
void simple_plan_checkpoints(struct simple_plan *simple, double interval, double save);

#endif
