/* SPDX-License-Identifier: Apache-2.0 */
/* What a scenario predicts, in the form of a recorded trace, and what it expects of an operation of a measured one. */
#ifndef STAGESIM_EXPLAIN_MODEL_H
#define STAGESIM_EXPLAIN_MODEL_H

#include "job/scenario/scenario.h"
#include "studies/explain/expected.h"
#include "studies/explain/losses.h"
#include "studies/explain/network_times.h"
#include "studies/explain/shared_network.h"

struct explain_model {
    struct recorded *recorded; /* the caller's, by model_finish */
    struct expected_table table;
    struct network_times network; /* empty until model_ask_network, as is the next */
    struct shared_network shared;
};

/* Simulates the scenario; returns an exit code after every mistake was reported on standard error. */
int model_run(const struct scenario *scenario, struct explain_model *model);
/* What transfers of the trace's steps take on the scenario's network, alone and beside each other; an exit code
 * likewise. Memory from the arena. */
int model_ask_network(const struct scenario *scenario, const struct recorded *trace, const uint32_t *steps,
                      size_t step_count, struct explain_model *model, struct arena *arena);
void model_finish(struct explain_model *model);

/* To be asked by losses_find: NaN where the scenario has nothing alike. */
struct loss_model model_losses(struct explain_model *model);

#endif
