/* SPDX-License-Identifier: Apache-2.0 */
/* How far times of jobs are off where groups that are alike do not get ahead of each other (simulator/engines/
 * precedence.h). A few of the jobs are simulated both ways, on links that are cut to the share of their transfers, so
 * that they are as full as those of all jobs. */
#ifndef STAGESIM_LEADS_ERROR_H
#define STAGESIM_LEADS_ERROR_H

#include "cluster/jobs/components.h"
#include "cluster/jobs/crowd.h"

struct leads_error {
    uint32_t jobs;     /* that were simulated; 0: two jobs are too large for that */
    double mean, most; /* of what an iteration takes, without sign, relative */
};

/* Of `members` (count of them) of the cluster's runs, with the sets of their links. False with the fault filled. */
bool leads_error_find(const struct crowd_world *world, const struct job_run *runs, const struct job_link_sets *sets,
                      const uint32_t *members, uint32_t count, struct leads_error *error, struct fault *fault);

#endif
