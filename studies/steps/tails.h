/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that do not all take the same time, as the scenario's section tails says. */
#ifndef STAGESIM_STUDIES_TAILS_H
#define STAGESIM_STUDIES_TAILS_H

#include "analysis/figures/report.h"
#include "job/scenario/scenario.h"
#include "studies/blocks/blocks.h"

struct arena;

/* How steps are shared out. */
struct tails_sharing {
    struct blocks_request how; /* made by tails_request_of; processes, part and journal filled in */
    const char *const *files;  /* journals of parts, file_count of them, which have all the steps; 0: none */
    size_t file_count;
};

/* What a request for a scenario's steps is made of, as far as the scenario says it: journals are known by it. */
struct blocks_request tails_request_of(const struct scenario *scenario);

/* Fills report->tails where the scenario asks for it: steps of its job without contention, on all of the machine's
 * processors or as `sharing` says; of a part of them nothing is filled in. An exit code after the mistake was reported:
 * what was recorded does not fit the job, the time is up. Where the job is one of which there is nothing to say, a note
 * to `console` says why; NULL: nobody is told. */
int tails_add(const struct scenario *scenario, struct platform *platform, const struct tails_sharing *sharing,
              struct report *report, FILE *console, struct diag *diag);

/* The quantile of all the scenario's steps at that share, drawn by this process, for studies of many scenarios. Not
 * positive: there is none, and either the fault says why or the mistakes were reported. */
double tails_quantile(const struct scenario *scenario, struct platform *platform, double share, struct fault *fault,
                      struct diag *diag);

/* Whether what was recorded fits a job with so many stages; a mistake is reported. */
bool tails_fit(const struct scenario *scenario, uint32_t stages, struct diag *diag);

#endif
