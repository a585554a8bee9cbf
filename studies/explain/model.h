/* SPDX-License-Identifier: Apache-2.0 */
/* What a scenario predicts, in the form of a recorded trace, and what it expects of an operation of a measured one. */
#ifndef STAGESIM_EXPLAIN_MODEL_H
#define STAGESIM_EXPLAIN_MODEL_H

#include "job/scenario/scenario.h"
#include "studies/explain/losses.h"

struct explain_model {
    struct recorded *recorded; /* the caller's, by model_finish */
    struct expected *table;    /* seconds of what is alike; table_count of them */
    size_t table_count;
    double step; /* seconds of a step */
};

/* Simulates the scenario; returns an exit code after every mistake was reported on standard error. */
int model_run(const struct scenario *scenario, struct explain_model *model);
void model_finish(struct explain_model *model);

/* To be asked by losses_find: NaN where the scenario has nothing alike. */
struct loss_model model_losses(struct explain_model *model);

#endif
