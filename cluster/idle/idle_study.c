/* SPDX-License-Identifier: Apache-2.0 */
/* From what the scenario says to a log and jobs with curves. */
#include "base/arena.h"
#include "cluster/idle/idle_gaps.h"
#include "cluster/idle/idle_nodes.h"

#include <math.h>
#include <string.h>

struct making {
    const struct idle_nodes *nodes;
    struct idle_study *study;
    bool plugins;
    struct curve_point **simulated; /* [entry]: what stagesim found out; NULL: nothing yet */
    size_t *simulated_count;
    struct arena *arena;
    struct diag *diag;
};

static const struct idle_log *log_of(const struct making *making)
{
    const struct idle_nodes *nodes = making->nodes;
    if (!nodes->log)
        return idle_generate(&nodes->generation, making->arena);
    if (nodes->format == IDLE_LOG_SPANS)
        return idle_log_load(nodes->log, nodes->log_at, making->arena, making->diag);
    return idle_gaps_load(nodes->log, nodes->log_at, nodes->format == IDLE_LOG_SWF ? ARRIVALS_SWF : ARRIVALS_SACCT,
                          (uint32_t)nodes->log_nodes, making->arena, making->diag);
}

static bool make_moments(struct making *making)
{
    const struct idle_nodes *nodes = making->nodes;
    const struct idle_log *log = log_of(making);
    if (!log)
        return false;
    double end = isfinite(nodes->duration) ? nodes->start + nodes->duration : log->end;
    if (nodes->start >= log->end || end > log->end) {
        diag_error(making->diag, nodes->log_at,
                   "the log ends at %g s, and the replay is to go from %g s to %g s; expected it within the log",
                   log->end, nodes->start, end);
        return false;
    }
    making->study->log = log;
    making->study->moments = idle_log_moments(log, nodes->start, end - nodes->start, making->arena);
    return true;
}

/* Of an entry before this one with the same file and sizes what is known already. */
static bool simulate_curve(struct making *making, size_t entry)
{
    const struct idle_entry *entries = making->nodes->entries, *own = &entries[entry];
    for (size_t i = 0; i < entry; i++)
        if (entries[i].scenario && !strcmp(entries[i].scenario, own->scenario) && entries[i].least == own->least &&
            entries[i].most == own->most) {
            making->simulated[entry] = making->simulated[i];
            making->simulated_count[entry] = making->simulated_count[i];
            return true;
        }
    if (!idle_scaling(own, making->plugins, &making->simulated[entry], &making->simulated_count[entry], making->arena,
                      making->diag))
        return false;
    making->study->simulated += making->simulated_count[entry];
    return true;
}

/* A job that is to be profiled has a size to be measured; otherwise it would never run. */
static bool check_profile(const struct making *making, const struct idle_entry *entry, uint32_t least, uint32_t most)
{
    const struct idle_policy *policy = &making->nodes->policies[0];
    for (size_t i = 0; i < policy->profile_count; i++)
        if (policy->profile_sizes[i] >= least && policy->profile_sizes[i] <= most)
            return true;
    if (entry->job.knowledge == PROFILED)
        diag_error(making->diag, entry->job.at, "job %s has %u to %u nodes, and decide.profile_sizes has none of them",
                   entry->job.name, least, most);
    return entry->job.knowledge != PROFILED;
}

static bool add_entry(struct making *making, size_t index)
{
    const struct idle_entry *entry = &making->nodes->entries[index];
    const struct curve_point *points = entry->points;
    size_t count = entry->point_count;
    if (entry->scenario) {
        if (!simulate_curve(making, index))
            return false;
        points = making->simulated[index];
        count = making->simulated_count[index];
    }
    uint32_t least = entry->scenario ? points[0].nodes : (uint32_t)entry->least;
    uint32_t most = entry->most ? (uint32_t)entry->most : points[count - 1].nodes;
    if (!check_profile(making, entry, least, most))
        return false;
    struct curve curve = curve_create(points, count, least, most, making->arena);
    for (uint64_t i = 0; i < entry->count; i++) {
        struct idle_job *job = &making->study->jobs[making->study->job_count++];
        *job = entry->job;
        job->curve = curve;
        job->submit += (double)i * entry->every;
        if (entry->count > 1)
            job->name = arena_print(making->arena, "%s-%llu", entry->job.name, (unsigned long long)i + 1);
    }
    return true;
}

struct idle_study *idle_study_create(const struct idle_nodes *nodes, bool plugins, struct arena *arena,
                                     struct diag *diag)
{
    size_t count = 0;
    for (size_t i = 0; i < nodes->entry_count; i++)
        count += nodes->entries[i].count;
    struct idle_study *study = arena_alloc(arena, sizeof *study);
    struct making making = {.nodes = nodes,
                            .study = study,
                            .plugins = plugins,
                            .simulated = arena_array(arena, nodes->entry_count, sizeof(struct curve_point *)),
                            .simulated_count = arena_array(arena, nodes->entry_count, sizeof(size_t)),
                            .arena = arena,
                            .diag = diag};
    study->nodes = nodes;
    study->jobs = arena_array(arena, count, sizeof *study->jobs);
    study->replays = arena_array(arena, nodes->policy_count, sizeof(struct replay *));
    study->seconds = arena_array(arena, nodes->policy_count, sizeof *study->seconds);
    if (!make_moments(&making))
        return NULL;
    for (size_t i = 0; i < nodes->entry_count; i++)
        if (!add_entry(&making, i))
            return NULL;
    return study;
}
