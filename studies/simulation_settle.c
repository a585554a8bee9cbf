/* SPDX-License-Identifier: Apache-2.0 */
/* iterations: settled on SimGrid, which simulates once in a process: each number of iterations is tried in one of its
 * own. And by itself, where runs are compared and one iteration is not like the next. */
#include "analysis/figures/frame.h"
#include "analysis/figures/report.h"
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/exit_code.h"
#include "base/process/guard.h"
#include "job/scenario/scenario.h"
#include "job/steady/steady_run.h"
#include "schedules/schedule.h"
#include "simulator/engines/engine.h"
#include "simulator/program/ends.h"
#include "simulator/run/folded_run.h"
#include "studies/choice.h"
#include "studies/simulation_run.h"

#include <math.h>
#include <string.h>

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

/* ---- by itself ---- */

/* So many iterations show whether one is like the next. */
enum { LIKE_ITERATIONS = 4 };

/* Ranks that run ahead fill in the first iteration, which then does not count. */
static bool is_unlike(const struct frame *frame)
{
    double shortest = frame->shortest, longest = frame->longest, first = frame->ends[0] - frame->starts[0];
    if (frame->steady || frame->whole)
        return false;
    if (!frame->joined) {
        shortest = fmin(shortest, first);
        longest = fmax(longest, first);
    }
    return frame_iterations_differ(shortest, longest, frame->iteration);
}

/* `user` is the run, whose scenario has LIKE_ITERATIONS. What fails or is too large to be settled is not unlike. */
static int compare_child(void *user, struct isolated *self)
{
    struct run *run = user;
    struct fault fault = {""};
    struct diag silent = {0};
    bool unlike = false;
    const struct engine *engine = run->scenario->engine == ENGINE_ANALYTIC ? &engine_analytic : &engine_simgrid;
    struct job *job = job_create_steady(run->scenario, run->platform, run->arena, &silent);
    if (job && job_may_double(job, LIKE_ITERATIONS)) {
        struct engine_job timed = {.program = job->program, .platform = run->platform, .hosts = job->hosts};
        struct folded_run folded;
        struct steady steady;
        if (steady_run(run->scenario, engine, &timed, run->arena, &folded, &steady, &fault)) {
            unlike = is_unlike(frame_create(folded.timeline, run->arena));
            timeline_destroy(folded.timeline);
        }
    }
    fwrite(&unlike, sizeof unlike, 1, self->results);
    return EXIT_DONE;
}

/* Whether the scenario leaves open how many iterations there are. */
static bool is_open(const struct scenario *scenario)
{
    return scenario->iterations == 1 && !scenario_is_own(scenario, "iterations") && !scenario->kind &&
           !scenario->tails.given && !(scenario->schedule && scenario->schedule->crosses);
}

/* The same scenario with `iterations: settled`. */
static struct scenario *load_settled(const struct scenario *scenario, struct arena *arena)
{
    static const struct scenario_set settled = {.text = "iterations=settled"};
    struct diag silent = {0};
    struct scenario_request request = scenario_request_with(&scenario->request, &settled, 1, arena);
    struct scenario *loaded = choice_reload(scenario, &request, arena, &silent);
    if (loaded)
        loaded->schedule_name = scenario->schedule_name;
    return loaded;
}

void run_settle_unlike(struct run *run)
{
    struct fault fault = {""};
    bool unlike = false;
    const struct scenario *asked = run->scenario;
    if (!run->request->settles || !is_open(asked))
        return;
    struct scenario *longer = arena_alloc(run->arena, sizeof *longer);
    *longer = *asked;
    longer->iterations = LIKE_ITERATIONS;
    run->scenario = longer;
    guard_doing("finding whether one iteration of %s is like the next", asked->name);
    unlike = isolate_value(compare_child, run, &unlike, sizeof unlike, &fault) && unlike;
    run->scenario = asked;
    struct scenario *settled = unlike ? load_settled(asked, run->arena) : NULL;
    if (!settled)
        return;
    run->scenario = settled;
    run->settled = true;
}

void run_note_settled(const struct run *run, const struct report *report, bool last, struct comparison_row *row)
{
    if (!run->settled)
        return;
    size_t used = strlen(row->notes);
    const char *text = arena_print(run->arena,
                                   "%s/%s: one iteration is not like the next: figures are of %u iterations, as with "
                                   "`iterations: settled`",
                                   row->scenario, row->schedule, report->iterations);
    row->settled = report->iterations;
    snprintf(row->notes + used, sizeof row->notes - used, "%s\n", text);
    if (last && !run->request->quiet)
        diag_print(run->self->console, "note: %s\n", text);
}

struct scenario *simulation_settled(struct scenario *scenario, const struct simulation_result *result,
                                    struct arena *arena)
{
    bool other = result->row_count && result->rows[result->row_count - 1].settled;
    struct scenario *settled = other ? load_settled(scenario, arena) : NULL;
    return settled ? settled : scenario;
}
