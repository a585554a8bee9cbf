/* SPDX-License-Identifier: Apache-2.0 */
/* Trainings whose failures and goodput were published. */
#include "test/training/simple_plan.h"
#include "training/best_interval.h"
#include "training/failure_rates.h"
#include "training/spares.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#define MINUTE 60.0
#define HOUR 3600.0
#define DAY 86400.0

static void use_rates(struct simple_plan *simple, const char *name, uint32_t nodes)
{
    const struct failure_rates *rates = failure_rates_find(name);
    simple->plan.components = rates->components;
    simple->plan.component_count = rates->count;
    simple->plan.nodes = nodes;
    simple->plan.gpus_per_node = 8;
}

/* (1 - N r (u0 + d/2)) / (1 + w/d): Kokolis et al., arXiv 2410.21680. */
static double formula(double between, double restart, double save, double interval)
{
    return (1 - (restart + interval / 2) / between) / (1 + save / interval);
}

/* 16,384 GPUs of RSC-1, u0 = d = 5 min, w = 0: 0.9307. 12,000 of them, w = 1 min: 0.858 at its best interval of 16
 * minutes. The formula is of the first order, and the simulation is not. */
Test(published, effective_training_time_of_rsc_1)
{
    double between = DAY / (2048 * 6.50e-3), smaller = DAY / (1500 * 6.50e-3), best = 0, value = 0;
    cr_assert_float_eq(formula(between, 300, 0, 300), 0.9307, 1e-4);
    for (double d = 100; d < 4000; d++)
        if (formula(smaller, 300, 60, d) > value)
            value = formula(smaller, 300, 60, best = d);
    cr_assert_float_eq(best / 960, 1, 0.02);
    cr_assert_float_eq(value, 0.858, 0.001);
    struct simple_plan simple;
    simple_plan_init(&simple, 30 * DAY, 1);
    simple_plan_checkpoints(&simple, 300, 0);
    use_rates(&simple, "rsc-1", 2048);
    simple.plan.spares = 64;
    simple.repair = distribution_fixed(DAY);
    simple.restart = distribution_fixed(5 * MINUTE);
    struct training_outcome outcome = training_outcome_of(&simple.plan, 20);
    cr_assert_float_eq(outcome.steps_share.middle, 0.9307, 0.01, "%g", outcome.steps_share.middle);
    simple_plan_checkpoints(&simple, 960, 60);
    simple.plan.nodes = 1500;
    outcome = training_outcome_of(&simple.plan, 20);
    cr_assert_float_eq(outcome.steps_share.middle, 0.858, 0.01, "%g", outcome.steps_share.middle);
    struct best_interval found = best_interval_find(simple.plan, 20);
    cr_assert(found.interval > 480 && found.interval < 1920, "%g", found.interval);
    cr_assert(found.half > found.mean && found.twice > found.mean);
}

/* Stops of 54 days: mean of so many runs, the fewest and the most. */
struct stops {
    double mean, low, high;
};

static struct stops count_stops(const struct training_plan *plan, uint64_t runs)
{
    struct stops stops = {0, INFINITY, 0};
    for (uint64_t i = 0; i < runs; i++) {
        struct training_run run = training_simulate(plan, i, NULL);
        double count = run.stops * 54 * DAY / run.wall;
        stops.low = fmin(stops.low, count);
        stops.high = fmax(stops.high, count);
        stops.mean += count / (double)runs;
    }
    return stops;
}

/* As many as were counted, within what a Poisson process has; two that come together are one stop. */
static void check_stops(const struct training_plan *plan, double counted)
{
    enum { RUNS = 20 };
    struct stops stops = count_stops(plan, RUNS);
    printf("# Llama 3: %.1f stops, %.0f to %.0f; counted %.0f\n", stops.mean, stops.low, stops.high, counted);
    cr_assert(stops.low < counted && stops.high > counted, "%g to %g", stops.low, stops.high);
    cr_assert_float_eq(stops.mean, counted, 4 * sqrt(counted / RUNS) + 0.02 * counted);
}

/* 54 days on 16,384 H100: 419 stops that nobody planned and 47 planned ones, more than 90 % effective time. Restarts
 * are those that Meta gives for jobs that restart by themselves, 5 minutes; state is saved in the background with a
 * stall of 10 s. */
Test(published, llama_3)
{
    struct simple_plan simple;
    simple_plan_init(&simple, 50 * DAY, 1);
    use_rates(&simple, "llama3", 2048);
    simple.plan.spares = spares_for(spares_away(&simple.plan), 0.01) + 10;
    simple.repair = distribution_fixed(12 * HOUR);
    simple.restart = distribution_fixed(5 * MINUTE);
    simple.write = distribution_fixed(60);
    simple_plan_checkpoints(&simple, best_interval_formula(10, 54 * DAY / 419), 10);
    check_stops(&simple.plan, 466);
    struct failure_component unplanned[TRAINING_CAUSES];
    struct training_plan plan = simple.plan;
    plan.components = unplanned;
    plan.component_count = 0;
    for (size_t i = 0; i < simple.plan.component_count; i++)
        if (simple.plan.components[i].effect != EFFECT_PLANNED)
            unplanned[plan.component_count++] = simple.plan.components[i];
    check_stops(&plan, 419);
    struct training_outcome outcome = training_outcome_of(&simple.plan, 20);
    cr_assert_gt(outcome.steps_share.low, 0.9, "%g", outcome.steps_share.low);
    cr_assert_lt(outcome.steps_share.high, 0.97);
}

/* The same with all that a scenario takes where it says nothing: up to 5 minutes of detection, 2.5 to 17.5 of restart,
 * repairs of a day, as many spares as leave one waiting in 99 % of the time. 10 % of 54 days are 16.7 minutes for each
 * of 466 stops; detection, restart and steps done again take less. */
Test(published, llama_3_by_defaults)
{
    struct simple_plan simple;
    simple_plan_init(&simple, 50 * DAY, 1);
    use_rates(&simple, "llama3", 2048);
    simple.repair = distribution_fixed(DAY);
    simple.plan.spares = spares_for(spares_away(&simple.plan), 0.01);
    simple.detect = (struct distribution){.kind = DISTRIBUTION_UNIFORM, .a = 0, .b = 5 * MINUTE};
    simple.restart = (struct distribution){.kind = DISTRIBUTION_UNIFORM, .a = 2.5 * MINUTE, .b = 17.5 * MINUTE};
    simple.write = simple.load = distribution_fixed(57); /* 405e9 parameters of 14 B over 100 GB/s */
    simple_plan_checkpoints(&simple, best_interval_formula(0.5, 54 * DAY / 419), 0.5);
    struct training_outcome outcome = training_outcome_of(&simple.plan, 40);
    printf("# Llama 3 by defaults: %.4f, %.4f to %.4f\n", outcome.steps_share.middle, outcome.steps_share.low,
           outcome.steps_share.high);
    cr_assert_gt(outcome.steps_share.middle, 0.9, "%g", outcome.steps_share.middle);
    cr_assert_lt(outcome.steps_share.high, 0.95);
}

/* BLOOM, 18 March to 9 May 2022: 38,305 steps of 105.5 s in 52 days on 384 A100: 89.9 % of the time. A save of 40 s
 * every 100 steps, 12 minutes of evaluation every 1,000; failures of nodes at the published rate. Beside them all that
 * its log tells of these days (BigScience, chronicles of the 176B model): hangs of 18 and 6 h, eight restarts for new
 * code, a GPU that made steps take 111 s from step 42,780 to 45,000. Of the GPUs that fail every week or so the log
 * says that mostly the job starts again by itself, with a loss of 3 h at most, and that sometimes it hangs until
 * somebody looks. How often, it does not say; hangs whose loss it gives took 18, 6 and 11 h. */
static struct training_outcome bloom(double hanging)
{
    struct simple_plan simple;
    struct failure_component components[4];
    struct distribution hang = {
        .kind = DISTRIBUTION_SAMPLES, .values = (const double[]){18 * HOUR, 6 * HOUR}, .count = 2};
    struct distribution slow = distribution_fixed(2220 * 111.0);
    struct distribution noticed[] = {
        {.kind = DISTRIBUTION_UNIFORM, .a = 0, .b = 3 * HOUR},
        {.kind = DISTRIBUTION_SAMPLES, .values = (const double[]){18 * HOUR, 6 * HOUR, 11 * HOUR}, .count = 3}};
    struct distribution detect = {
        .kind = DISTRIBUTION_MIXTURE, .values = (const double[]){1 - hanging, 1}, .parts = noticed, .count = 2};
    simple_plan_init(&simple, 38305 * 105.5, 1);
    simple_plan_checkpoints(&simple, 100 * 105.5, 40);
    components[0] = failure_rates_find("bloom")->components[0];
    components[1] = (struct failure_component){
        .name = "hang", .unit = UNIT_JOB, .every = 26 * DAY, .shape = 1, .slow = 1, .detect = &hang};
    components[2] = (struct failure_component){
        .name = "new code", .unit = UNIT_JOB, .every = 6.5 * DAY, .shape = 1, .slow = 1, .effect = EFFECT_PLANNED};
    components[3] = (struct failure_component){.name = "slow GPU",
                                               .unit = UNIT_JOB,
                                               .every = 52 * DAY,
                                               .shape = 1,
                                               .slow = 111.0 / 105.5,
                                               .effect = EFFECT_SLOW,
                                               .detect = &slow};
    simple.plan.components = components;
    simple.plan.component_count = 4;
    simple.plan.nodes = 48;
    simple.plan.gpus_per_node = 8;
    simple.plan.spares = 4;
    simple.repair = distribution_fixed(7 * DAY);
    simple.detect = detect;
    simple.restart = distribution_fixed(20 * MINUTE);
    simple.plan.evaluate_every = 1000 * 105.5;
    simple.plan.evaluate = 12 * MINUTE;
    struct training_outcome outcome = training_outcome_of(&simple.plan, 400);
    printf("# BLOOM, %.0f %% of the failures hang: %.4f of the time, %.4f to %.4f in 8 of 10; measured 0.899\n",
           100 * hanging, simple.plan.work / outcome.mean, outcome.steps_share.low, outcome.steps_share.high);
    return outcome;
}

/* 93.5 % where all start again by themselves. What was measured lies between a half and all of them hanging, so the
 * miss is of a size that the log has a mechanism for; but nothing published says how large a part it was. Nor can it
 * be found in one part of these days and tried on the others: from 12 to 28 April, in which no hang is logged, 88.3 %
 * were steps, so that the 2.3 failures to be expected cost 17 h each; with that, the other 36 days would be 85 %, and
 * 90.7 % were measured. */
Test(published, bloom)
{
    double work = 38305 * 105.5;
    static const double shares[] = {0, 1.0 / 3, 2.0 / 3, 1};
    double found[4];
    for (size_t i = 0; i < 4; i++)
        found[i] = work / bloom(shares[i]).mean;
    cr_assert_float_eq(found[0], 0.935, 0.005, "%g", found[0]);
    for (size_t i = 1; i < 4; i++)
        cr_assert_lt(found[i], found[i - 1]);
    cr_assert(found[1] > 0.899 && found[3] < 0.899, "%g, %g", found[1], found[3]);
}
