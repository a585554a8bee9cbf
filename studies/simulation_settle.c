/* SPDX-License-Identifier: Apache-2.0 */
/* iterations: settled on SimGrid, which simulates once in a process: each number of iterations is tried in one of its
 * own. And by itself, where runs are compared and the next iteration may take another time. */
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

bool run_is_open(const struct run *run)
{
    const struct scenario *scenario = run->scenario;
    return run->request->settles && scenario->iterations == 1 && !scenario_is_own(scenario, "iterations") &&
           !scenario->tails.given && !(scenario->schedule && scenario->schedule->crosses);
}

/* Speeds that change over time do so in the next iteration, whoever runs ahead. */
bool run_is_ahead(const struct run *run, const struct engine *engine, const struct timeline *timeline)
{
    bool varies = engine != &engine_analytic && run->platform->host_count && run->platform->hosts[0].varies;
    return run_is_open(run) && (varies || job_runs_ahead(run->scenario, run->platform, timeline));
}

void run_note_ahead(struct run *run, bool ahead, double operations)
{
    run->unsettled = ahead && !job_may_settle(operations);
    run->ahead = ahead && !run->unsettled;
}

/* The same scenario with `iterations: settled`; NULL: it does not go. */
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

struct simulation_request simulation_again(const struct simulation_request *request,
                                           const struct simulation_result *one, struct arena *arena)
{
    struct simulation_request again = *request;
    again.scenario = load_settled(request->scenario, arena);
    again.settles = false;
    again.settled = one->rows[one->row_count - 1].iteration;
    again.files = NULL;
    again.output = NULL;
    again.draw = again.print = false;
    again.quiet = true;
    return again;
}

bool simulation_is_unlike(const struct simulation_result *settled)
{
    return settled->row_count && settled->rows[settled->row_count - 1].settled;
}

/* Where ranks run ahead the first iteration fills, and is like no other. */
void run_note_unlike(struct run *run, const struct frame *frame)
{
    const double nearly = 1e-5;
    double one = run->request->settled;
    double longest = frame->joined ? frame->longest : fmax(one, frame->longest);
    double shortest = frame->joined ? frame->shortest : fmin(one, frame->shortest);
    run->unlike = one > 0 && frame->measured > 1 && !frame->whole && longest - shortest > nearly * frame->iteration;
}

/* Behind the row's notes; returns what they now say more. */
static const char *add_note(struct comparison_row *row, const char *figures, struct arena *arena)
{
    size_t used = strlen(row->notes);
    const char *text = arena_print(arena, "%s/%s: %s", row->scenario, row->schedule, figures);
    snprintf(row->notes + used, sizeof row->notes - used, "%s\n", text);
    return text;
}

static const char *add_unsettled(struct comparison_row *row, const char *why, struct arena *arena)
{
    row->unsettled = true;
    return add_note(
        row, arena_print(arena, "the next iteration may take another time: figures are of one, for %s", why), arena);
}

const char *simulation_note_unsettled(struct comparison_row *row, struct arena *arena)
{
    return add_unsettled(row, "the run with `iterations: settled` failed", arena);
}

void run_note_settled(const struct run *run, const struct report *report, bool last, struct comparison_row *row)
{
    const char *text = NULL;
    if (run->unsettled) {
        text = add_unsettled(row, "the job is too large for `iterations: settled` unasked", run->arena);
    } else if (run->unlike) {
        row->settled = report->iterations;
        text = add_note(row,
                        arena_print(run->arena,
                                    "one iteration is not like the next: figures are of %u iterations, as with "
                                    "`iterations: settled`",
                                    report->iterations),
                        run->arena);
    }
    if (text && last)
        diag_print(run->told, "note: %s\n", text);
}

struct scenario *simulation_settled(struct scenario *scenario, const struct simulation_result *result,
                                    struct arena *arena)
{
    struct scenario *settled = simulation_is_unlike(result) ? load_settled(scenario, arena) : NULL;
    return settled ? settled : scenario;
}
