/* SPDX-License-Identifier: Apache-2.0 */
/* How many iterations of a schedule whose order crosses iterations have to be simulated. */
#include "job/job.h"

#include "base/arena.h"
#include "schedules/schedule.h"
#include "simulator/program/beats.h"
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

static uint64_t operations_of(const struct program *program)
{
    uint64_t operations = 0;
    for (uint32_t position = 0; position < program->mesh->positions; position++)
        operations += program->positions[position].operation_count;
    return operations;
}

/* Tries with more and more. 0 after a mistake was reported. */
static uint32_t find_crossing(const struct scenario *scenario, struct platform *platform, struct diag *diag)
{
    uint32_t least = scenario->drawn_iterations > 4 ? scenario->drawn_iterations : 4;
    for (uint32_t crossing = least;; crossing *= 2) {
        struct arena *scratch = arena_create();
        struct job *job = job_create(scenario, platform, crossing, scratch, diag);
        bool enough = job && comes_back(scenario, platform, job, scratch);
        bool possible = job && 2 * operations_of(job->program) <= OPERATIONS_MAX && 2 * crossing <= ITERATIONS_MAX;
        arena_destroy(scratch);
        if (!job)
            return 0;
        if (enough)
            return crossing;
        if (!possible)
            return 2 * scenario->workers + 1;
    }
}

struct job *job_create_steady(const struct scenario *scenario, struct platform *platform, struct arena *arena,
                              struct diag *diag)
{
    uint32_t crossing = 1;
    if (scenario->schedule && scenario->schedule->crosses) {
        if (!scenario_check_platform(scenario, platform, diag))
            return NULL;
        crossing = find_crossing(scenario, platform, diag);
    }
    return crossing ? job_create(scenario, platform, crossing, arena, diag) : NULL;
}
