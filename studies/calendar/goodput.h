/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a job's training on the calendar, as the scenario's sections training, failures and checkpoint say.
 */
#ifndef STAGESIM_GOODPUT_H
#define STAGESIM_GOODPUT_H

#include "analysis/figures/report.h"
#include "job/scenario/scenario.h"

/* What a report says of the job: its iteration, nodes, state, energy and price. */
struct training_job goodput_job(const struct scenario *scenario, const struct report *report,
                                const struct platform *platform);
/* Whether the scenario says how long its training is: before anything is simulated. */
bool goodput_has_length(const struct scenario *scenario);
/* Whether a training can be made of it: there is an iteration, and something says how many. */
bool goodput_known(const struct scenario *scenario, const struct training_job *job);
/* Fills report->forecast from report->training, where the scenario asks for it and it can be known. */
void goodput_forecast(const struct scenario *scenario, struct report *report);

#endif
