/* SPDX-License-Identifier: Apache-2.0 */
/* How many iterations have to be simulated: of a schedule whose order crosses iterations, and of `iterations: settled`.
 */
#include "job/job.h"

#include "base/arena.h"
#include "schedules/schedule.h"
#include "simulator/program/beats.h"
#include "simulator/program/ends.h"
#include "simulator/program/follows.h"
#include "simulator/run/folded_run.h"

/* No more iterations than this many operations, about, are tried. */
enum { OPERATIONS_MAX = 1 << 20 };

/* Whether the job comes back to a state without contention. A failure counts: the run itself reports it. */
static bool comes_back(const struct scenario *scenario, struct platform *platform, const struct job *job,
                       struct arena *arena)
{
    struct fault fault = {""};
    struct engine_job run = {.program = job->program, .platform = platform, .hosts = job->hosts};
    struct folded_run folded;
    struct cycle cycle;
    if (!folded_run(&engine_analytic, &run, scenario->fold == FOLD_AUTO, arena, &folded, &fault))
        return true;
    const struct beats *beats = job->program->iterations > 1 ? beats_of_iterations(job->program, arena) : NULL;
    bool found = !beats || beats_find_cycle(beats, folded.timeline, folded.timeline->rounding, &cycle, arena);
    timeline_destroy(folded.timeline);
    return found;
}

/* Tries with more and more. 0 after a mistake was reported. */
uint32_t job_crossing(const struct scenario *scenario, struct platform *platform, struct diag *diag)
{
    uint32_t least = scenario->drawn_iterations > 4 ? scenario->drawn_iterations : 4;
    for (uint32_t crossing = least;; crossing *= 2) {
        struct arena *scratch = arena_create();
        struct job *job = job_create(scenario, platform, crossing, scratch, diag);
        bool enough = job && comes_back(scenario, platform, job, scratch);
        bool possible = job && 2 * program_operations(job->program) <= OPERATIONS_MAX && 2 * crossing <= ITERATIONS_MAX;
        arena_destroy(scratch);
        if (!job)
            return 0;
        if (enough)
            return crossing;
        if (!possible)
            return 2 * scenario->workers + 1;
    }
}

bool job_may_double(const struct job *job, uint32_t iterations)
{
    return ends_more(iterations) <= ENDS_MOST && 2 * program_operations(job->program) <= OPERATIONS_MAX;
}

bool job_may_settle(double operations)
{
    return ENDS_FEWEST * operations <= OPERATIONS_MAX;
}

bool job_runs_ahead(const struct scenario *scenario, struct platform *platform, const struct timeline *timeline)
{
    const struct program *program = timeline->program;
    if (program->iterations > 1 || program->overlapping || program->independent || program->period > 1)
        return false;
    enum follows found = follows(timeline, NULL);
    if (found != FOLLOWS_PERHAPS)
        return found == FOLLOWS_OTHERWISE;
    struct arena *scratch = arena_create();
    struct diag silent = {0};
    struct scenario two = *scenario;
    two.iterations = 2;
    struct job *twice = job_create(&two, platform, 1, scratch, &silent);
    bool ahead = !twice || follows(timeline, twice->program) == FOLLOWS_OTHERWISE;
    arena_destroy(scratch);
    return ahead;
}

/* Whether the time between ends stands without contention. A failure counts: the run itself reports it. */
static bool stands(const struct scenario *scenario, struct platform *platform, const struct job *job,
                   struct arena *arena)
{
    struct fault fault = {""};
    struct engine_job run = {.program = job->program, .platform = platform, .hosts = job->hosts};
    struct folded_run folded;
    if (!folded_run(&engine_analytic, &run, scenario->fold == FOLD_AUTO, arena, &folded, &fault))
        return true;
    bool found = ends_stand(folded.timeline, arena);
    timeline_destroy(folded.timeline);
    return found;
}

/* The scenario with as many iterations as it takes; NULL after a mistake was reported. */
static const struct scenario *settle(const struct scenario *scenario, struct platform *platform, struct arena *arena,
                                     struct diag *diag)
{
    struct scenario *settled = arena_alloc(arena, sizeof *settled);
    *settled = *scenario;
    for (bool more = true; more;) {
        struct arena *scratch = arena_create();
        struct job *job = job_create(settled, platform, 1, scratch, diag);
        more = job && !stands(settled, platform, job, scratch) && job_may_double(job, settled->iterations);
        arena_destroy(scratch);
        if (!job)
            return NULL;
        if (more)
            settled->iterations = ends_more(settled->iterations);
    }
    settled->found = true;
    return settled;
}

struct job *job_create_steady(const struct scenario *scenario, struct platform *platform, struct arena *arena,
                              struct diag *diag)
{
    bool crosses = scenario->schedule && scenario->schedule->crosses;
    uint32_t crossing = crosses && (scenario->spelt || scenario->found) ? scenario->iterations : 1;
    if ((crosses || scenario->settled) && !scenario_check_platform(scenario, platform, diag))
        return NULL;
    if (crosses && crossing == 1)
        crossing = job_crossing(scenario, platform, diag);
    else if (scenario->settled && !scenario->found)
        scenario = settle(scenario, platform, arena, diag);
    return crossing && scenario ? job_create(scenario, platform, crossing, arena, diag) : NULL;
}
