/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/idle/profiling.h"

#include "base/arena.h"
#include "cluster/idle/replay.h"

struct profiling profiling_create(const struct idle_policy *policy, struct arena *arena)
{
    return (struct profiling){.measured = arena_array(arena, policy->profile_count + 1, sizeof(bool))};
}

static bool is_size_of(const struct idle_job *job, double size)
{
    return size >= job->curve.least && size <= job->curve.most;
}

/* The largest size that fits and is not measured; false: there is none. */
static bool next_size(struct profiling *profiling, const struct idle_policy *policy, const struct idle_job *job,
                      uint32_t nodes)
{
    for (size_t i = policy->profile_count; i-- > 0;)
        if (!profiling->measured[i] && is_size_of(job, policy->profile_sizes[i]) && policy->profile_sizes[i] <= nodes) {
            profiling->size = i;
            return true;
        }
    return false;
}

static bool any_measured(const struct profiling *profiling, const struct idle_policy *policy)
{
    for (size_t i = 0; i < policy->profile_count; i++)
        if (profiling->measured[i])
            return true;
    return false;
}

uint32_t profiling_size(struct profiling *profiling, const struct idle_policy *policy, const struct idle_job *job,
                        double time, uint32_t now, uint32_t nodes)
{
    if (profiling->runs && now < policy->profile_sizes[profiling->size])
        profiling->runs = false; /* nodes left */
    if (profiling->runs && time >= profiling->ends) {
        profiling->measured[profiling->size] = true;
        profiling->runs = false;
    }
    if (!profiling->runs) {
        if (!next_size(profiling, policy, job, nodes)) {
            profiling->done = any_measured(profiling, policy);
            return 0;
        }
        uint32_t size = (uint32_t)policy->profile_sizes[profiling->size];
        profiling->runs = true;
        profiling->ends = time + (size > now ? job->grow : size < now ? job->shrink : 0) + policy->profile;
    }
    return (uint32_t)policy->profile_sizes[profiling->size];
}

struct curve profiling_curve(const struct profiling *profiling, const struct idle_policy *policy,
                             const struct idle_job *job, struct arena *arena)
{
    struct curve_point *points = arena_array(arena, policy->profile_count, sizeof *points);
    size_t count = 0;
    for (size_t i = 0; i < policy->profile_count; i++)
        if (profiling->measured[i]) {
            uint32_t nodes = (uint32_t)policy->profile_sizes[i];
            points[count++] = (struct curve_point){nodes, job->curve.rate[nodes]};
        }
    return curve_create(points, count, job->curve.least, job->curve.most, arena);
}
