/* SPDX-License-Identifier: Apache-2.0 */
/* Searches whose objective is more than an iteration: of steps that vary a quantile, of a whole training how long it
 * is, what it costs or how little is lost. */
#ifndef STAGESIM_SEARCH_TRAINING_H
#define STAGESIM_SEARCH_TRAINING_H

#include "job/scenario/scenario.h"
#include "studies/search/table.h"

/* Whether the objective is of a whole training. */
bool search_trains(const struct scenario *scenario);

/* Which share of the steps is no longer than what the objective asks for; 0: it is not of steps that vary. */
double search_step_share(const struct scenario *scenario);

/* Whether there is a training that can be told apart by layouts. False with the mistakes reported. */
bool search_training_check(const struct scenario *scenario, struct diag *diag);

/* What a ranking takes from a forecast; all 0 where there is none, or the training was given up. */
struct search_training search_training_of(const struct training_forecast *forecast);

/* The quantile that the objective asks for, of steps that were drawn; 0: none. */
double search_step_of(const struct scenario *scenario, const struct tails_figures *tails);

#endif
