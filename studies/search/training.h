/* SPDX-License-Identifier: Apache-2.0 */
/* Searches for the layout with which a whole training is done soonest, is cheapest or loses least. */
#ifndef STAGESIM_SEARCH_TRAINING_H
#define STAGESIM_SEARCH_TRAINING_H

#include "job/scenario/scenario.h"
#include "studies/search/table.h"

/* Whether the objective is of a whole training. */
bool search_trains(const struct scenario *scenario);

/* Whether there is a training that can be told apart by layouts. False with the mistakes reported. */
bool search_training_check(const struct scenario *scenario, struct diag *diag);

/* What a ranking takes from a forecast; all 0 where there is none, or the training was given up. */
struct search_training search_training_of(const struct training_forecast *forecast);

#endif
