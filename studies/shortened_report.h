/* SPDX-License-Identifier: Apache-2.0 */
/* What people are shown of a run without contention, without its micro-batches being run one by one. */
#ifndef STAGESIM_SHORTENED_REPORT_H
#define STAGESIM_SHORTENED_REPORT_H

#include "analysis/figures/report.h"
#include "job/scenario/scenario.h"

struct arena;
struct class_store;

struct shortened_report_request {
    const struct scenario *scenario;
    struct platform *platform;
    struct class_store *classes; /* NULL: none are shared */
    bool split;                  /* idle time by what can be done about it is asked for, too */
    bool *ahead;                 /* set to whether ranks run into the next iteration (job/job.h); NULL: not asked for */
};

/* The printed figures (run_description.printed) of the scenario's job on the analytic engine, from a job with fewer
 * micro-batches (job/steady/shortened.h). NULL where nothing repeats, the scenario forbids it, or a
 * figure of the whole job does not follow; then nothing has been reported. `operations`: of one replica of the whole
 * job. Memory from the arena. */
struct report *shortened_report(const struct shortened_report_request *request, struct arena *arena,
                                double *operations);

#endif
