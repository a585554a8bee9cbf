/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/power/power.h"

#include "base/arena.h"
#include "base/rounded/rounded.h"

#include <math.h>

/* ---- the curve ---- */

double power_clock(double idle, double full, double alpha, double cap)
{
    return cap >= full ? 1 : rounded_pow((cap - idle) / (full - idle), 1 / alpha);
}

double power_watts(double idle, double full, double alpha, double clock)
{
    return clock >= 1 ? full : idle + (full - idle) * rounded_pow(clock, alpha);
}

double power_stretch(double clock, double compute_bound)
{
    return compute_bound / clock + 1 - compute_bound;
}

double power_table_speed(const struct power_settings *settings, double cap)
{
    const struct power_point *points = settings->table;
    size_t above = 0;
    while (above < settings->table_count && points[above].cap <= cap)
        above++;
    if (above == 0 || above == settings->table_count)
        return points[above ? above - 1 : 0].speed;
    const struct power_point *low = &points[above - 1], *high = &points[above];
    return low->speed + (high->speed - low->speed) * (cap - low->cap) / (high->cap - low->cap);
}

bool power_by_operator(const struct power_settings *settings)
{
    return settings->compute_bound < 0 && !settings->table_count;
}

/* ---- the states of a job ---- */

/* The watts of a rank's host; false with the fault filled. */
static bool find_watts(const struct power_settings *settings, const struct platform_host *host,
                       struct power_state *state, const char **key, struct fault *fault)
{
    state->idle = settings->idle >= 0 ? settings->idle : host->idle_watts;
    state->full = settings->full >= 0 ? settings->full : host->busy_watts;
    *key = settings->full >= 0 ? "power.full" : settings->idle >= 0 ? "power.idle" : "power";
    if (!host->has_watts && (settings->idle < 0 || settings->full < 0))
        return fault_set(fault,
                         "the platform gives no watts of the GPU '%.80s'; expected the property wattage_per_state, or "
                         "power.idle and power.full",
                         host->name);
    if (state->full > state->idle)
        return true;
    return fault_set(fault,
                     "the GPU '%.80s' draws %.10g W when it is idle and %.10g W at full load; expected more there",
                     host->name, state->idle, state->full);
}

static bool find_state(const struct power_plan *plan, const struct platform_host *host, struct power_state *state,
                       const char **key, struct fault *fault)
{
    const struct power_settings *settings = plan->settings;
    if (!find_watts(settings, host, state, key, fault))
        return false;
    state->clock = 1;
    state->busy = state->full;
    if (plan->cap <= 0 || plan->cap >= state->full)
        return true;
    bool shared = plan->cap < settings->cap || settings->cap <= 0;
    *key = shared ? "power.budget" : "power.cap";
    if (plan->cap <= state->idle)
        return fault_set(fault, "%s %.10g W to the GPU '%.80s', which draws %.10g W when it is idle; expected more",
                         shared ? "the budget leaves" : "the cap gives", plan->cap, host->name, state->idle);
    state->clock = settings->table_count ? power_table_speed(settings, plan->cap)
                                         : power_clock(state->idle, state->full, settings->alpha, plan->cap);
    state->busy = settings->table_count
                      ? plan->cap
                      : power_watts(state->idle, state->full, settings->alpha, state->clock); /* the cap */
    return true;
}

/* What is no GPU of the job's: every link at its most, GPUs without a rank idle. */
static double set_aside(const struct power_settings *settings, const struct platform *platform, const uint32_t *hosts,
                        uint32_t ranks, struct arena *arena)
{
    bool *used = arena_array(arena, (size_t)platform->host_count + 1, sizeof *used);
    double watts = 0;
    for (uint32_t rank = 0; rank < ranks; rank++)
        used[hosts[rank]] = true;
    for (uint32_t i = 0; i < platform->host_count; i++)
        if (!used[i])
            watts += settings->idle >= 0 ? settings->idle : platform->hosts[i].idle_watts;
    for (uint32_t i = 0; platform->link_watts && i < platform->link_count; i++)
        watts += platform->link_watts[i].busy;
    return watts;
}

/* The cap of each GPU: the scenario's, and its share of the budget. */
static bool find_cap(struct power_plan *plan, const struct platform *platform, const uint32_t *hosts, uint32_t ranks,
                     struct arena *arena, const char **key, struct fault *fault)
{
    const struct power_settings *settings = plan->settings;
    plan->cap = settings->cap;
    if (settings->budget <= 0)
        return true;
    plan->links = set_aside(settings, platform, hosts, ranks, arena);
    double share = (settings->budget - plan->links) / ranks;
    *key = "power.budget";
    if (share <= 0)
        return fault_set(fault,
                         "the budget is %.10g W, but links and GPUs without a rank alone draw up to %.10g W; expected "
                         "more",
                         settings->budget, plan->links);
    plan->cap = plan->cap > 0 ? fmin(plan->cap, share) : share;
    return true;
}

struct power_plan *power_plan_create(const struct power_settings *settings, const struct platform *platform,
                                     const uint32_t *hosts, uint32_t ranks, struct arena *arena, const char **key,
                                     struct fault *fault)
{
    struct power_plan *plan = arena_alloc(arena, sizeof *plan);
    *plan = (struct power_plan){.settings = settings,
                                .states = arena_array(arena, (size_t)ranks + 1, sizeof *plan->states),
                                .least_clock = 1,
                                .stretched = -1};
    if (!find_cap(plan, platform, hosts, ranks, arena, key, fault))
        return NULL;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        if (!find_state(plan, &platform->hosts[hosts[rank]], &plan->states[rank], key, fault))
            return NULL;
        plan->least_clock = fmin(plan->least_clock, plan->states[rank].clock);
    }
    plan->capped = plan->least_clock < 1;
    return plan;
}

/* ---- carbon ---- */

/* The integral of the intensity from 0 to a time within one round of the series. */
static double integral_within(const struct power_settings *settings, double time)
{
    double sum = 0;
    for (size_t i = 0; i < settings->carbon_count && settings->carbon[i].time < time; i++) {
        bool last = i + 1 == settings->carbon_count;
        double end = last || settings->carbon[i + 1].time > time ? time : settings->carbon[i + 1].time;
        sum += settings->carbon[i].grams * (end - settings->carbon[i].time);
    }
    return sum;
}

static double integral_to(const struct power_settings *settings, double time)
{
    size_t count = settings->carbon_count;
    if (count == 1)
        return settings->carbon[0].grams * time;
    double last = settings->carbon[count - 1].time, round = 2 * last - settings->carbon[count - 2].time;
    double rounds = floor(time / round);
    return rounds * integral_within(settings, round) + integral_within(settings, time - rounds * round);
}

static double integral_between(const struct power_settings *settings, double from, double to)
{
    double start = settings->carbon_start;
    return integral_to(settings, start + to) - integral_to(settings, start + from);
}

double power_grams_between(const struct power_settings *settings, double watts, double from, double to)
{
    return watts / 3.6e6 * settings->pue * integral_between(settings, from, to);
}

double power_grams(const struct power_settings *settings, double joules, double seconds)
{
    double mean = settings->carbon_count == 1 || seconds <= 0 ? settings->carbon[0].grams
                                                              : integral_between(settings, 0, seconds) / seconds;
    return joules / 3.6e6 * settings->pue * mean;
}
