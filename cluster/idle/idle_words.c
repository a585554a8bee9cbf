/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/idle/idle_output.h"

#include "base/arena.h"

const char *idle_policy_name(const struct idle_policy *policy, struct arena *arena)
{
    if (!policy->chooser->forward)
        return policy->chooser->name;
    return arena_print(arena, "%s, %g s", policy->chooser->name, policy->forward);
}

const char *idle_duration(double seconds, struct arena *arena)
{
    return seconds < 7200 ? arena_print(arena, "%g s", seconds) : arena_print(arena, "%.4g h", seconds / 3600);
}

const char *idle_work_unit(const struct idle_study *study)
{
    return study->nodes->policies[0].objective == OBJECTIVE_SAMPLES ? "samples" : "s of one node";
}

const char *idle_waiting(const struct idle_study *study, struct arena *arena)
{
    uint64_t most = study->nodes->policies[0].running;
    return study->job_count <= most
               ? ""
               : arena_print(arena, ", of which at most %llu run at a time (idle_nodes.decide.running%s)",
                             (unsigned long long)most, study->nodes->running_given ? "" : " is not given");
}
