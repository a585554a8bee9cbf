/* SPDX-License-Identifier: Apache-2.0 */
/* Which share of each computation a class of kernels has. Nobody keeps that: costs are sums when they reach a program.
 * So the job is built once more with kernels of the class a little slower, by the workload's key compute.NAME_time, and
 * what each computation then takes longer is the share. */
#ifndef STAGESIM_KERNEL_SHARES_H
#define STAGESIM_KERNEL_SHARES_H

#include "job/job.h"
#include "simulator/tails/step_model.h"

/* Of the classes that the scenario's tails speak of; `alone` is the scenario that the job was built from. *shares is
 * NULL where they speak of none. False with the fault filled, or with mistakes reported: the job becomes another one,
 * in the order of its work or in its division. Memory from the arena. */
bool kernel_shares_find(const struct scenario *alone, const struct job *job, struct arena *arena, struct diag *diag,
                        const struct kernel_shares **shares, struct fault *fault);

#endif
