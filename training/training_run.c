/* SPDX-License-Identifier: Apache-2.0 */
/* One training: what fails on its calendar, and what becomes of it. */
#include "base/arena.h"
#include "training/clocks.h"
#include "training/crew.h"
#include "training/progress.h"
#include "training/shares.h"

#include <math.h>
#include <stdlib.h>

/* A training that takes so many times as long as its steps is given up. */
static const double GIVEN_UP = 200;

/* What will be noticed, mended or back at some time. */
enum timer_kind { TIMER_SLOW, TIMER_CORRUPT, TIMER_BACK };

struct timer {
    double time;
    enum timer_kind kind;
    uint32_t replica;       /* TIMER_BACK */
    double clean;           /* TIMER_CORRUPT: work that was safe before */
    struct failure failure; /* the others */
};

/* Nobody computes: until when what goes on, one behind the other. */
struct pause {
    double saved, detected, there, replaced, restarted, up;
    double counted; /* all before is counted */
    const struct failure_component *cause;
    uint32_t nodes; /* that were lost since the job stopped */
    bool whole;     /* it starts again with what is safe; otherwise it goes on where it stood */
    bool start;     /* the first start */
};

struct world {
    const struct training_plan *plan;
    struct training_run run;
    struct progress progress;
    struct clocks *clocks;
    struct crew *crew;
    struct timer *timers; /* timer_count of them, in no order */
    size_t timer_count, timer_capacity;
    double *back;   /* [unit]: when it is there again; not above the time: it is */
    uint32_t units; /* that drop out by themselves */
    double now;
    bool down;
    struct pause pause;
};

/* ---- timers ---- */

static void add_timer(struct world *world, struct timer timer)
{
    world->timers = array_grow(world->timers, &world->timer_capacity, world->timer_count + 1, sizeof *world->timers);
    world->timers[world->timer_count++] = timer;
}

static size_t next_timer(const struct world *world)
{
    size_t next = 0;
    for (size_t i = 1; i < world->timer_count; i++)
        next = world->timers[i].time < world->timers[next].time ? i : next;
    return next;
}

static double timer_time(const struct world *world)
{
    return world->timer_count ? world->timers[next_timer(world)].time : INFINITY;
}

/* ---- speed ---- */

static uint32_t unit_of(const struct world *world, uint32_t place)
{
    return (uint32_t)((uint64_t)place * world->units / world->plan->nodes);
}

static void set_speed(struct world *world)
{
    world->progress.slow = 1;
    world->progress.cause = NULL;
    for (size_t i = 0; i < world->timer_count; i++) {
        const struct timer *timer = &world->timers[i];
        if (timer->kind == TIMER_SLOW && timer->failure.component->slow > world->progress.slow) {
            world->progress.slow = timer->failure.component->slow;
            world->progress.cause = timer->failure.component;
        }
    }
    double share = shares_left(world->plan, world->back, world->now, NULL);
    world->progress.share = share > 0 ? share : 1;
}

/* ---- draws of a failure ---- */

static double draw_detection(const struct world *world, struct failure *failure)
{
    const struct distribution *own = failure->component->detect;
    return distribution_draw(own ? own : world->plan->detect, &failure->draws);
}

static double draw_repair(const struct world *world, struct failure *failure)
{
    const struct distribution *own = failure->component->repair;
    return distribution_draw(own ? own : world->plan->repair, &failure->draws);
}

/* Places in the job of the machines that fail; all of them, or none where it is the job. */
static uint32_t count_places(const struct world *world, const struct failure *failure)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < failure->count; i++)
        count += crew_place(world->crew, failure->first + i) != NO_PLACE;
    return count;
}

static bool concerns(const struct world *world, const struct failure *failure)
{
    return !failure->count || count_places(world, failure) > 0;
}

/* The machines leave at `time`; others are there when this says. `back`: of their replicas, too. */
static double replace(struct world *world, struct failure *failure, double time, bool replicas)
{
    double there = time;
    for (uint32_t i = 0; i < failure->count; i++) {
        uint32_t machine = failure->first + i, place = crew_place(world->crew, machine);
        if (place == NO_PLACE)
            continue;
        double pool = world->plan->pool ? distribution_draw(world->plan->pool, &failure->draws) : INFINITY;
        double from = crew_replace(world->crew, machine, time, draw_repair(world, failure), pool, world->clocks);
        if (replicas && from > time) {
            uint32_t replica = unit_of(world, place);
            world->back[replica] = fmax(world->back[replica], from);
        }
        there = fmax(there, from);
    }
    return there;
}

/* ---- pauses ---- */

static void count_pause(struct world *world, double until)
{
    struct pause *pause = &world->pause;
    const struct {
        double end;
        enum training_part part;
    } stretches[] = {{pause->saved, PART_CHECKPOINT},
                     {pause->detected, PART_DETECTION},
                     {pause->there, PART_WAITING},
                     {pause->replaced, PART_REPLACEMENT},
                     {pause->restarted, pause->start ? PART_START : PART_RESTART},
                     {pause->up, PART_LOAD}};
    for (size_t i = 0; i < sizeof stretches / sizeof *stretches; i++) {
        double end = fmin(stretches[i].end, until);
        if (end > pause->counted) {
            progress_count(&world->progress, stretches[i].part, pause->counted, end, pause->cause);
            pause->counted = end;
        }
    }
}

/* The last two stretches, from when all nodes are there. */
static void plan_restart(struct world *world, struct failure *failure, bool load)
{
    const struct training_plan *plan = world->plan;
    struct pause *pause = &world->pause;
    bool near = plan->near && pause->nodes < 2;
    pause->restarted = pause->replaced + distribution_draw(plan->restart, &failure->draws);
    pause->up = pause->restarted + (load ? distribution_draw(near ? plan->load_near : plan->load, &failure->draws) : 0);
}

static double draw_replacement(const struct world *world, struct failure *failure)
{
    return failure->component->replace && failure->count ? distribution_draw(world->plan->replacement, &failure->draws)
                                                         : 0;
}

/* Replicas whose nodes are not there come later; the first that are there at all are waited for. */
static double go_on_without(struct world *world, double there, double time)
{
    double first = INFINITY;
    for (uint32_t replica = 0; replica < world->units; replica++)
        first = fmin(first, fmax(world->back[replica], time));
    for (uint32_t replica = 0; replica < world->units && there > time; replica++)
        if (world->back[replica] > first)
            add_timer(world, (struct timer){.time = world->back[replica], .kind = TIMER_BACK, .replica = replica});
    return first;
}

/* From now on nobody computes: `save` seconds of saving first, then a detection, then nodes, then a restart. */
static void pause_for(struct world *world, struct failure *failure, double save, double detection)
{
    struct pause *pause = &world->pause;
    bool shrinks = world->plan->policy == POLICY_SHRINK;
    *pause = (struct pause){
        .counted = world->now, .cause = failure->component, .nodes = count_places(world, failure), .whole = true};
    pause->saved = world->now + save;
    pause->detected = pause->saved + detection;
    pause->there = pause->detected;
    if (failure->component->replace)
        pause->there = replace(world, failure, pause->detected, shrinks);
    if (shrinks)
        pause->there = go_on_without(world, pause->there, pause->detected);
    pause->replaced = pause->there + draw_replacement(world, failure);
    plan_restart(world, failure, true);
    world->down = true;
}

static void stop(struct world *world, struct failure *failure, double detection)
{
    progress_stop(&world->progress, world->now, count_places(world, failure) > 1, failure->component);
    world->run.stops++;
    pause_for(world, failure, 0, detection);
}

/* Another one while nobody computes. */
static void stop_again(struct world *world, struct failure *failure)
{
    struct pause *pause = &world->pause;
    uint32_t nodes = pause->nodes + count_places(world, failure);
    count_pause(world, world->now);
    if (!pause->whole)
        progress_stop(&world->progress, world->now, nodes > 1, failure->component);
    if (world->now >= pause->replaced) { /* it was starting */
        world->run.stops++;
        pause_for(world, failure, 0, draw_detection(world, failure));
    } else if (failure->component->replace && failure->count) {
        double there = replace(world, failure, fmax(world->now, pause->detected), false);
        pause->there = fmax(pause->there, there);
        pause->replaced = fmax(pause->replaced, there + draw_replacement(world, failure));
        plan_restart(world, failure, true);
    }
    pause->nodes = nodes;
    if (world->plan->near && nodes > 1) {
        progress_stop(&world->progress, world->now, true, failure->component);
        if (!world->pause.start)
            plan_restart(world, failure, true);
    }
}

/* ---- replicas that drop out and come back ---- */

static void stand_still(struct world *world, double seconds, const struct failure_component *cause)
{
    struct pause *pause = &world->pause;
    progress_pause(&world->progress, world->now);
    *pause = (struct pause){.counted = world->now, .cause = cause};
    pause->saved = pause->detected = pause->there = pause->replaced = world->now;
    pause->restarted = pause->up = world->now + seconds;
    world->down = true;
}

/* Replicas of the machines that fail, count of them; the caller frees it. */
static uint32_t *replicas_of(const struct world *world, const struct failure *failure, uint32_t *count)
{
    uint32_t *replicas = array_zeroed(failure->count, sizeof *replicas);
    *count = 0;
    for (uint32_t i = 0; i < failure->count; i++) {
        uint32_t place = crew_place(world->crew, failure->first + i);
        if (place != NO_PLACE)
            replicas[(*count)++] = unit_of(world, place);
    }
    return replicas;
}

/* They are back after all that a restart takes. */
static void drop_out(struct world *world, struct failure *failure)
{
    const struct training_plan *plan = world->plan;
    uint32_t count;
    uint32_t *replicas = replicas_of(world, failure, &count);
    double back = world->now + draw_detection(world, failure);
    if (failure->component->replace)
        back = replace(world, failure, back, false);
    back += draw_replacement(world, failure) + distribution_draw(plan->restart, &failure->draws) +
            distribution_draw(plan->load_near, &failure->draws);
    bool leaves = false;
    for (uint32_t i = 0; i < count; i++) {
        double *own = &world->back[replicas[i]];
        if (*own <= world->now) {
            leaves = true;
            add_timer(world, (struct timer){.time = back, .kind = TIMER_BACK, .replica = replicas[i]});
        }
        *own = fmax(*own, back);
    }
    free(replicas);
    world->run.stops += leaves;
    if (leaves)
        stand_still(world, distribution_draw(plan->stall, &failure->draws), failure->component);
}

/* Whether too few are left to go on. */
static bool leaves_none(const struct world *world, const struct failure *failure)
{
    uint32_t count;
    uint32_t *leaving = replicas_of(world, failure, &count);
    bool *leave = array_zeroed(world->units, sizeof *leave);
    for (uint32_t i = 0; i < count; i++)
        leave[leaving[i]] = true;
    bool none = !failure->count || !(shares_left(world->plan, world->back, world->now, leave) > 0);
    free(leaving);
    free(leave);
    return none;
}

/* All replicas start again together; none is on its way any more. */
static void gather(struct world *world)
{
    size_t kept = 0;
    for (uint32_t replica = 0; replica < world->units; replica++)
        world->back[replica] = fmin(world->back[replica], world->now);
    for (size_t i = 0; i < world->timer_count; i++)
        if (world->timers[i].kind != TIMER_BACK)
            world->timers[kept++] = world->timers[i];
    world->timer_count = kept;
}

static void come_back(struct world *world, const struct timer *timer)
{
    const struct training_plan *plan = world->plan;
    struct failure failure = {.time = world->now, .draws = draws_of(plan->seed, timer->replica, (uint64_t)world->now)};
    double back = world->back[timer->replica];
    if (back > world->now) { /* something else failed there meanwhile */
        add_timer(world, (struct timer){.time = back, .kind = TIMER_BACK, .replica = timer->replica});
        return;
    }
    if (world->down)
        return; /* it starts with the others */
    if (shares_go_on(plan)) {
        stand_still(world, distribution_draw(plan->stall, &failure.draws), NULL);
    } else {
        stand_still(world, 0, NULL);
        plan_restart(world, &failure, true);
    }
}

/* ---- failures by their effect ---- */

static void stop_by(struct world *world, struct failure *failure)
{
    if (shares_go_on(world->plan) && !(world->down && world->pause.whole) && !leaves_none(world, failure)) {
        if (world->down)
            count_pause(world, world->now);
        drop_out(world, failure);
        return;
    }
    if (shares_go_on(world->plan))
        gather(world);
    if (world->down)
        stop_again(world, failure);
    else
        stop(world, failure, draw_detection(world, failure));
}

static void slow_by(struct world *world, struct failure *failure)
{
    double noticed = world->now + draw_detection(world, failure);
    if (!failure->component->replace)
        noticed += draw_repair(world, failure);
    add_timer(world, (struct timer){.time = noticed, .kind = TIMER_SLOW, .failure = *failure});
    world->run.slowed++;
}

static void corrupt_by(struct world *world, struct failure *failure)
{
    double noticed = world->now + draw_detection(world, failure);
    add_timer(
        world,
        (struct timer){.time = noticed, .kind = TIMER_CORRUPT, .clean = world->progress.safe_far, .failure = *failure});
}

/* Nothing is lost: the state is saved first. Where nobody computes, it is one more thing to wait for. */
static void plan_for(struct world *world, struct failure *failure)
{
    if (world->down || shares_go_on(world->plan)) {
        stop_by(world, failure);
        return;
    }
    double save = distribution_draw(world->plan->save, &failure->draws);
    progress_keep(&world->progress, world->now);
    world->run.stops++;
    pause_for(world, failure, save, 0);
}

static void fail(struct world *world, struct failure failure)
{
    static void (*const effects[FAILURE_EFFECTS])(struct world *, struct failure *) = {stop_by, slow_by, corrupt_by,
                                                                                       plan_for};
    if (concerns(world, &failure))
        effects[failure.component->effect](world, &failure);
}

/* What corrupted the state is found: back to before it. */
static void find_corruption(struct world *world, struct timer timer)
{
    size_t kept = 0;
    for (size_t i = 0; i < world->timer_count; i++)
        if (world->timers[i].kind != TIMER_CORRUPT || world->timers[i].clean < timer.clean)
            world->timers[kept++] = world->timers[i];
    world->timer_count = kept;
    gather(world);
    progress_stop(&world->progress, world->now, true, timer.failure.component);
    progress_return(&world->progress, timer.clean, timer.failure.component);
    if (world->down) {
        stop_again(world, &timer.failure);
        return;
    }
    world->run.stops++;
    pause_for(world, &timer.failure, 0, 0);
}

static void ring(struct world *world)
{
    size_t next = next_timer(world);
    struct timer timer = world->timers[next];
    world->timers[next] = world->timers[--world->timer_count];
    if (timer.kind == TIMER_BACK)
        come_back(world, &timer);
    else if (timer.kind == TIMER_CORRUPT)
        find_corruption(world, timer);
    else if (timer.failure.component->replace && count_places(world, &timer.failure) > 0)
        plan_for(world, &timer.failure);
}

/* ---- the whole ---- */

static void begin(struct world *world, uint64_t run)
{
    const struct training_plan *plan = world->plan;
    struct draws draws = draws_of(plan->seed, 1, run);
    uint64_t seed = draw_bits(&draws);
    progress_begin(&world->progress, plan, seed, &world->run, world->progress.log);
    world->crew = crew_create(plan);
    world->clocks = clocks_create(plan, crew_machines(world->crew), run);
    world->units = shares_units(plan);
    world->back = array_zeroed(world->units, sizeof *world->back);
    world->pause.start = world->pause.whole = world->down = true;
    world->pause.restarted = world->pause.up = distribution_draw(plan->start, &draws);
}

/* To the next thing that happens; false at the end. */
static bool go_on(struct world *world)
{
    double next = fmin(clocks_next(world->clocks), timer_time(world));
    bool finished = false;
    if (world->down && world->pause.up <= next) {
        count_pause(world, world->pause.up);
        world->now = world->pause.up;
        world->down = false;
        return true;
    }
    if (!world->down) {
        set_speed(world);
        world->now = progress_advance(&world->progress, world->now, next, &finished);
        if (finished)
            return false;
    }
    world->now = next;
    if (timer_time(world) <= next)
        ring(world);
    else
        fail(world, clocks_take(world->clocks));
    world->run.stuck = world->now > GIVEN_UP * world->plan->work + 1e7;
    return !world->run.stuck;
}

struct training_run training_simulate(const struct training_plan *plan, uint64_t run, struct training_diary *log)
{
    struct world world = {.plan = plan, .progress.log = log};
    begin(&world, run);
    while (go_on(&world))
        ;
    world.run.wall = world.now;
    world.run.parts[PART_STEPS] = plan->work;
    world.run.parts[PART_LOST] = world.run.computed - plan->work;
    world.run.spares_used = crew_away_most(world.crew);
    clocks_destroy(world.clocks);
    crew_destroy(world.crew);
    free(world.timers);
    free(world.back);
    return world.run;
}
