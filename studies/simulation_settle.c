/* SPDX-License-Identifier: Apache-2.0 */
/* iterations: settled on SimGrid, which simulates once in a process: each number of iterations is tried in one of its
 * own. */
#include "base/arena.h"
#include "base/exit_code.h"
#include "base/process/guard.h"
#include "job/scenario/scenario.h"
#include "job/steady/steady_run.h"
#include "schedules/schedule.h"
#include "simulator/engines/engine.h"
#include "simulator/program/ends.h"
#include "simulator/run/folded_run.h"
#include "studies/simulation_run.h"

/* What a trial says. */
struct verdict {
    bool stands, may_double;
};

/* `user` is the run, whose scenario has the number that is tried. A failure counts as settled: the run itself reports
 * it. */
static int try_child(void *user, struct isolated *self)
{
    struct run *run = user;
    struct fault fault = {""};
    struct diag silent = {0};
    struct verdict verdict = {.stands = true};
    struct job *job = job_create_steady(run->scenario, run->platform, run->arena, &silent);
    if (job) {
        struct engine_job timed = {.program = job->program, .platform = run->platform, .hosts = job->hosts};
        struct folded_run folded;
        struct steady steady;
        if (steady_run(run->scenario, &engine_simgrid, &timed, run->arena, &folded, &steady, &fault)) {
            verdict.stands = ends_stand(folded.timeline, run->arena);
            verdict.may_double = job_may_double(job, run->scenario->iterations);
            timeline_destroy(folded.timeline);
        }
    }
    fwrite(&verdict, sizeof verdict, 1, self->results);
    return EXIT_DONE;
}

/* Whether more have to be tried. */
static bool needs_more(struct run *run)
{
    struct fault fault = {""};
    struct verdict verdict = {.stands = true};
    return isolate_value(try_child, run, &verdict, sizeof verdict, &fault) && !verdict.stands && verdict.may_double;
}

/* Where an order crosses iterations: as many as it takes without contention, to begin with. */
static bool begin_crossing(struct run *run, struct scenario *settled)
{
    struct diag silent = {0};
    if (!settled->schedule || !settled->schedule->crosses)
        return settled->settled;
    if (settled->spelt || !scenario_check_platform(settled, run->platform, &silent))
        return false;
    uint32_t crossing = job_crossing(settled, run->platform, &silent);
    settled->iterations = crossing > settled->iterations ? crossing : settled->iterations;
    return crossing > 0;
}

void run_settle(struct run *run)
{
    struct scenario *settled = arena_alloc(run->arena, sizeof *settled);
    *settled = *run->scenario;
    if (!begin_crossing(run, settled))
        return;
    settled->found = true;
    run->scenario = settled;
    guard_doing("finding how many iterations of %s are enough", settled->name);
    while (needs_more(run))
        settled->iterations = ends_more(settled->iterations);
}
