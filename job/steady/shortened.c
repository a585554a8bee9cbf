/* SPDX-License-Identifier: Apache-2.0 */
#include "job/steady/shortened.h"

#include "base/arena.h"
#include "schedules/plan/plan_repeats.h"
#include "simulator/program/extension.h"

#include <math.h>

/* A shorter job has at most this share of the micro-batches: an attempt in vain costs about as much of the whole. */
static const double worthwhile = 0.25;

struct attempt {
    const struct scenario *scenario;
    struct platform *platform;
    struct class_store *classes; /* shared; NULL: none are */
    struct arena *arena;
    struct diag diag; /* of shorter jobs: says nothing */
    const struct plan *whole;
    uint32_t step; /* micro-batches of a beat */
    struct shortened *shortened;
};

/* One shorter job. */
struct shorter {
    struct scenario *scenario;
    struct job *job;
    uint32_t more; /* beats that the whole has more */
    struct beats *beats;
};

/* A scenario with fewer micro-batches; it is told apart only by that. Jobs refer to their scenario: it lives as long as
 * the arena. */
static struct scenario *with(const struct scenario *scenario, uint32_t micro_batches, struct arena *arena)
{
    struct scenario *shorter = arena_alloc(arena, sizeof *shorter);
    *shorter = *scenario;
    shorter->global_batch = scenario->global_batch / scenario->micro_batches * micro_batches;
    shorter->micro_batches = micro_batches;
    return shorter;
}

static struct plan *plan_of(const struct scenario *scenario)
{
    struct schedule_refusal refusal;
    struct schedule_request request = scenario_schedule_request(scenario);
    return schedule_fits(scenario->schedule, &request, &refusal) ? scenario->schedule->plan(&request) : NULL;
}

/* Whether the plan of a scenario with fewer micro-batches is that of the whole but for these beats. */
static bool lacks_beats(const struct attempt *attempt, const struct scenario *shorter, uint32_t more)
{
    struct plan *plan = plan_of(shorter);
    bool lacks = plan && plan_extends(attempt->whole, plan, more, NULL);
    plan_destroy(plan);
    return lacks;
}

/* Builds it, and for comparison the one with a beat more. */
static bool build_shorter(struct attempt *attempt, uint32_t micro_batches, struct shorter *shorter)
{
    *shorter = (struct shorter){.scenario = with(attempt->scenario, micro_batches, attempt->arena)};
    shorter->more = (attempt->scenario->micro_batches - micro_batches) / attempt->step;
    const struct scenario *longer = with(attempt->scenario, micro_batches + attempt->step, attempt->arena);
    if (!lacks_beats(attempt, shorter->scenario, shorter->more))
        return false;
    shorter->job = job_create(shorter->scenario, attempt->platform, 1, attempt->arena, &attempt->diag);
    struct job *next = shorter->job ? job_create(longer, attempt->platform, 1, attempt->arena, &attempt->diag) : NULL;
    if (next)
        shorter->beats = extension_beats(next->program, shorter->job->program, 1, attempt->arena);
    if (!shorter->beats || next->program->uneven)
        return false;
    double operations = (double)program_operations(shorter->job->program);
    double beat = (double)program_operations(next->program) - operations;
    attempt->shortened->operations = operations + shorter->more * beat;
    return true;
}

/* Runs it and looks for a state that comes back. */
static bool run_shorter(struct attempt *attempt, const struct shorter *shorter, struct cycle *cycle)
{
    struct fault fault = {""};
    struct shortened *shortened = attempt->shortened;
    struct engine_job job = {.program = shorter->job->program,
                             .platform = attempt->platform,
                             .hosts = shorter->job->hosts,
                             .classes = attempt->classes};
    if (!folded_run(&engine_analytic, &job, true, attempt->arena, &shortened->run, &fault))
        return false;
    if (beats_find_cycle(shorter->beats, shortened->run.timeline, engine_analytic.rounding, cycle, attempt->arena))
        return true;
    timeline_destroy(shortened->run.timeline);
    return false;
}

/* Of a job that lacks so many beats of `step` micro-batches. */
static struct steady steady_of(const struct beats *beats, const struct cycle *cycle, uint32_t more, uint32_t step)
{
    return (struct steady){.period = cycle->beats * step,
                           .start = cycle->start,
                           .length = cycle->length,
                           .cycles = more / cycle->beats,
                           .left_out = more * step,
                           .beats = beats,
                           .cycle_beats = cycle->beats};
}

static void describe(struct attempt *attempt, const struct shorter *shorter, const struct cycle *cycle)
{
    struct shortened *shortened = attempt->shortened;
    shorter->job->scenario = attempt->scenario; /* what is said of it is said of the whole */
    shortened->job = shorter->job;
    shortened->step = attempt->step;
    shortened->steady = steady_of(shorter->beats, cycle, shorter->more, attempt->step);
    shortened->steady.micro_batches = shorter->scenario->micro_batches;
}

/* The job with at least so many micro-batches, or a few more so that whole cycles are left out. -1: the order does not
 * repeat with this step; 0: times do not, or too late. */
static int try_one(struct attempt *attempt, double least)
{
    uint32_t micro_batches = attempt->scenario->micro_batches;
    uint32_t more = least < micro_batches ? (uint32_t)((micro_batches - least) / attempt->step) : 0;
    for (int turn = 0; turn < 2; turn++) {
        struct shorter shorter;
        struct cycle cycle;
        uint32_t rest = micro_batches - more * attempt->step;
        if (rest > worthwhile * micro_batches)
            return 0;
        if (!build_shorter(attempt, rest, &shorter))
            return -1;
        if (!run_shorter(attempt, &shorter, &cycle))
            return 0;
        if (more % cycle.beats == 0) {
            describe(attempt, &shorter, &cycle);
            return 1;
        }
        timeline_destroy(attempt->shortened->run.timeline);
        more -= more % cycle.beats;
    }
    return 0;
}

/* Times settle behind the filling of the pipeline, or much later. Micro-batches of one direction of a pipeline count on
 * by one where two are added. */
static bool try_all(struct attempt *attempt)
{
    uint32_t least = plan_step(attempt->whole);
    int result = -1;
    for (uint32_t factor = 1; least && factor <= 2 && result < 0; factor++) {
        attempt->step = factor * least;
        result = try_one(attempt, 1.4 * attempt->scenario->workers + 3.0 * attempt->step);
    }
    return result > 0;
}

/* Weight gradients that fill idle time keep differences between stages for hundreds of micro-batches. */
static bool may_be_shorter(const struct scenario *scenario, const struct platform *platform)
{
    return scenario->steady == STEADY_AUTO && scenario->fold == FOLD_AUTO && scenario->schedule &&
           !scenario->schedule->adapts && !scenario->schedule->crosses && !scenario->schedule->slices &&
           !scenario->schedule->split_backward && scenario->micro_batches && scenario->iterations == 1 &&
           !(platform->host_count && platform->hosts[0].varies);
}

bool shortened_run(const struct scenario *scenario, struct platform *platform, struct class_store *classes,
                   struct arena *arena, struct shortened *shortened)
{
    *shortened = (struct shortened){0};
    if (!may_be_shorter(scenario, platform))
        return false;
    struct plan *whole = plan_of(scenario);
    struct attempt attempt = {.scenario = scenario,
                              .platform = platform,
                              .classes = classes,
                              .arena = arena,
                              .whole = whole,
                              .shortened = shortened};
    bool found = whole && whole->iterations == 1 && try_all(&attempt);
    plan_destroy(whole);
    return found;
}

bool shortened_run_free(const struct shortened *shortened, struct class_store *classes, struct arena *arena,
                        struct timeline **timeline, struct steady *steady)
{
    struct fault fault = {""};
    struct folded_run run;
    struct cycle cycle;
    struct engine_job job = {.program = shortened->job->program,
                             .platform = shortened->job->platform,
                             .hosts = shortened->job->hosts,
                             .classes = classes,
                             .transfers_free = true};
    const struct steady *own = &shortened->steady;
    uint32_t more = own->left_out / shortened->step;
    if (!folded_run(&engine_analytic, &job, true, arena, &run, &fault))
        return false;
    *timeline = run.timeline;
    if (!beats_find_cycle(own->beats, run.timeline, engine_analytic.rounding, &cycle, arena) || more % cycle.beats) {
        timeline_destroy(run.timeline);
        return false;
    }
    *steady = steady_of(own->beats, &cycle, more, shortened->step);
    return true;
}
