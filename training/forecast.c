/* SPDX-License-Identifier: Apache-2.0 */
#include "training/forecast.h"

#include "base/arena.h"
#include "training/best_interval.h"
#include "training/shares.h"
#include "training/spares.h"

#include <math.h>

/* Simulations for the choice of an interval; they meet the same failures, so few are enough. */
enum { CHOICE_RUNS = 24 };
/* Recovery from the memory of other nodes is up to so many times as fast as from storage: Wang et al., "Gemini", SOSP
 * 2023. */
static const double NEAR_SPEED = 13;

static const struct distribution *fixed(double seconds, struct arena *arena)
{
    struct distribution *distribution = arena_alloc(arena, sizeof *distribution);
    *distribution = distribution_fixed(seconds);
    return distribution;
}

void training_plan_times(struct training_plan *plan, const struct training_settings *settings, double bytes,
                         const struct training_traffic *traffic, struct arena *arena)
{
    double transfer = traffic->known ? traffic->write : bytes / settings->storage;
    bool blocking = settings->way == CHECKPOINT_BLOCKING;
    plan->near = settings->way == CHECKPOINT_MEMORY;
    if (!plan->save)
        plan->save = fixed(blocking ? transfer : plan->near ? 0.04 : 0.5, arena);
    if (!plan->write)
        plan->write = fixed(blocking ? 0 : transfer, arena);
    if (!plan->load)
        plan->load = fixed(traffic->known ? traffic->load : transfer, arena);
    plan->write_near = fixed(traffic->write_near, arena);
    plan->slowed = traffic->slowed;
    plan->slowed_near = traffic->slowed_near;
    if (!plan->load_near)
        plan->load_near = fixed(distribution_mean(plan->load) / NEAR_SPEED, arena);
}

/* What is slow for a change of the platform is as slow as that makes steps. */
static void fill_slow(struct training_plan *plan, const struct training_job *job, struct arena *arena)
{
    struct failure_component *components = arena_array(arena, plan->component_count + 1, sizeof *components);
    for (size_t i = 0; i < plan->component_count; i++) {
        components[i] = plan->components[i];
        if (components[i].change && i < TRAINING_CAUSES && job->slow[i] > 0)
            components[i].slow = job->slow[i];
    }
    plan->components = components;
}

static double in_whole_steps(double seconds, double step)
{
    return isfinite(seconds) ? fmax(1, round(seconds / step)) * step : INFINITY;
}

static void fill_interval(struct training_plan *plan, const struct training_settings *settings,
                          struct training_forecast *forecast)
{
    plan->evaluate_every = settings->evaluate_steps > 0 ? settings->evaluate_steps * plan->step : INFINITY;
    plan->far_interval = plan->near ? in_whole_steps(settings->far_interval, plan->step) : INFINITY;
    forecast->interval_chosen = !(settings->interval_steps > 0) && settings->interval < 0;
    if (settings->interval_steps > 0)
        plan->interval = settings->interval_steps * plan->step;
    else if (settings->interval >= 0)
        plan->interval = in_whole_steps(settings->interval, plan->step);
    else {
        struct best_interval best =
            best_interval_find(*plan, settings->runs < CHOICE_RUNS ? settings->runs : CHOICE_RUNS);
        plan->interval = best.interval;
        forecast->formula = best.formula;
        forecast->half = best.half - best.mean;
        forecast->twice = best.twice - best.mean;
    }
}

struct training_plan *training_plan_of(const struct training_settings *settings, const struct training_job *job,
                                       struct training_forecast *forecast, struct arena *arena)
{
    struct training_plan *plan = arena_alloc(arena, sizeof *plan);
    double bytes = settings->state_bytes > 0 ? settings->state_bytes : job->state_bytes;
    *plan = settings->plan;
    fill_slow(plan, job, arena);
    plan->nodes = job->nodes;
    plan->gpus_per_node = job->gpus_per_node;
    plan->replicas = job->replicas < job->nodes ? job->replicas : job->nodes;
    plan->stages = job->stages ? job->stages : 1;
    plan->micro_batches = settings->batch_kept ? job->micro_batches : 0;
    forecast->redundancy = shares_redundancy(plan);
    plan->step = (settings->step > 0 ? settings->step : job->iteration) * forecast->redundancy;
    forecast->step = plan->step;
    forecast->steps = settings->steps > 0 ? settings->steps : ceil(job->tokens / job->per_step);
    forecast->work = plan->work = forecast->steps * plan->step;
    plan->busy_watts = job->joules >= 0 ? job->joules / job->iteration : 0;
    plan->idle_watts = job->joules >= 0 ? fmax(0, job->idle_watts) : 0;
    training_plan_times(plan, settings, bytes, &job->traffic, arena);
    forecast->spares_chosen = settings->spares == SPARES_AUTO;
    plan->spares = forecast->spares_chosen ? spares_chosen(plan) : settings->spares;
    fill_interval(plan, settings, forecast);
    double rate = failures_per_second(plan, 1u << EFFECT_STOP | 1u << EFFECT_CORRUPT);
    forecast->nodes = plan->nodes;
    forecast->gpus_per_node = plan->gpus_per_node;
    forecast->spares = plan->spares;
    forecast->between = rate > 0 ? 1 / rate : INFINITY;
    forecast->interval = plan->interval;
    forecast->state_bytes = bytes;
    forecast->save = distribution_mean(plan->save);
    forecast->write = distribution_mean(plan->write);
    forecast->slowed = plan->slowed;
    forecast->load = distribution_mean(plan->load);
    return plan;
}

void training_forecast_finish(struct training_forecast *forecast, const struct training_plan *plan,
                              const struct training_outcome *outcome, const struct training_job *job)
{
    forecast->known = true;
    forecast->outcome = *outcome;
    if (forecast->interval_chosen) {
        forecast->half += outcome->mean;
        forecast->twice += outcome->mean;
    }
    double hours = outcome->wall.middle / 3600, gpus = (double)(plan->nodes + plan->spares) * plan->gpus_per_node;
    forecast->joules = -1;
    if (job->joules >= 0)
        forecast->joules =
            plan->busy_watts * outcome->computed + plan->idle_watts * (outcome->mean - outcome->computed);
    forecast->cost = (struct training_band){outcome->wall.low / 3600 * gpus * job->price, hours * gpus * job->price,
                                            outcome->wall.high / 3600 * gpus * job->price};
}

struct training_forecast training_forecast_of(const struct training_settings *settings, const struct training_job *job)
{
    struct arena *arena = arena_create();
    struct training_forecast forecast = {0};
    const struct training_plan *plan = training_plan_of(settings, job, &forecast, arena);
    struct training_outcome outcome = training_outcome_of(plan, settings->runs);
    training_forecast_finish(&forecast, plan, &outcome, job);
    arena_destroy(arena);
    return forecast;
}
