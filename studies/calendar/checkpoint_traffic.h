/* SPDX-License-Identifier: Apache-2.0 */
/* What checkpoints take on links that the job's own traffic uses: simulated on SimGrid, beside the job. */
#ifndef STAGESIM_CHECKPOINT_TRAFFIC_H
#define STAGESIM_CHECKPOINT_TRAFFIC_H

#include "job/scenario/scenario.h"
#include "platforms/platform.h"
#include "training/forecast.h"

/* A state has `bytes`; 0: not known, which is a mistake. Each rank sends an equal part of the state to a server of the
 * storage, or into the memory of the rank that has its place in the next node; one simulation with the job beside it
 * and one without. Each runs in a process of its own. An exit code, after a mistake was reported. */
int checkpoint_traffic_find(const struct scenario *scenario, struct platform *platform, double bytes,
                            struct training_traffic *traffic, struct diag *diag);

#endif
