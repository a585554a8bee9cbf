/* SPDX-License-Identifier: Apache-2.0 */
/* Many simulations of one training as items that processes share (studies/blocks). */
#ifndef STAGESIM_TRAININGS_H
#define STAGESIM_TRAININGS_H

#include "studies/blocks/blocks.h"
#include "training/plan.h"

struct training_job;

/* What a request for trainings is made of. Items are struct training_run; `user` is the plan. The caller fills in how
 * they are shared. */
struct blocks_request trainings_request_of(const struct scenario *scenario, const struct training_job *job,
                                           const struct training_plan *plan);

#endif
