/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says of the job that it is about. */
#ifndef STAGESIM_DESCRIBE_H
#define STAGESIM_DESCRIBE_H

#include "analysis/figures/report.h"
#include "simulator/scenario/job.h"

/* All but the engine's name; borrowed from the job and its scenario. */
void job_describe(const struct job *job, struct run_description *run);

#endif
