/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that do not all take the same time, as the scenario's section tails says. */
#ifndef STAGESIM_STUDIES_TAILS_H
#define STAGESIM_STUDIES_TAILS_H

#include "analysis/figures/report.h"
#include "job/scenario/scenario.h"

struct arena;

/* Fills report->tails where the scenario asks for it: steps of its job without contention, on all of the machine's
 * processors. An exit code after the mistake was reported: what was recorded does not fit the job. Where the job is one
 * of which there is nothing to say, a note to `console` says why; NULL: nobody is told. */
int tails_add(const struct scenario *scenario, struct platform *platform, struct report *report, FILE *console,
              struct diag *diag);

/* Whether what was recorded fits a job with so many stages; a mistake is reported. */
bool tails_fit(const struct scenario *scenario, uint32_t stages, struct diag *diag);

#endif
