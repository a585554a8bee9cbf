/* SPDX-License-Identifier: Apache-2.0 */
/* Curves of jobs that nobody knows, measured by the jobs' own first runs (MalleTrain, arXiv 2404.15668): a job runs
 * some time with each of a list of sizes, the largest that there are nodes for first, because shrinking costs less than
 * growing. It trains meanwhile. */
#ifndef STAGESIM_PROFILING_H
#define STAGESIM_PROFILING_H

#include "cluster/idle/curve.h"

#include <stdbool.h>

struct arena;
struct idle_job;
struct idle_policy;

struct profiling {
    bool *measured;  /* [profile_count]: of the policy's sizes */
    bool runs, done; /* a size is being measured; all that can be are */
    size_t size;     /* index of it */
    double ends;     /* time at which it is measured */
};

/* Nothing is measured. Memory from the arena. */
struct profiling profiling_create(const struct idle_policy *policy, struct arena *arena);
/* What a job that has `now` nodes is to run with at this time, of `nodes` idle ones; 0: there is no size left for it,
 * and profiling->done says whether its curve is known as far as it will be. Goes on with a run that is not over. */
uint32_t profiling_size(struct profiling *profiling, const struct idle_policy *policy, const struct idle_job *job,
                        double time, uint32_t now, uint32_t nodes);
/* The curve through what was measured, at least one size. Memory from the arena. */
struct curve profiling_curve(const struct profiling *profiling, const struct idle_policy *policy,
                             const struct idle_job *job, struct arena *arena);

#endif
