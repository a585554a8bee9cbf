/* SPDX-License-Identifier: Apache-2.0 */
/* Whole calendars: every second of them has one cause, whatever fails and whatever is done about it. */
#include "test/training/simple_plan.h"
#include "training/failure_rates.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#define DAY 86400.0

struct case_values {
    struct simple_plan simple;
    struct failure_component components[6];
    struct distribution near, pool;
};

/* Everything at once, drawn. */
static void draw_case(struct case_values *c, struct draws *draws)
{
    struct simple_plan *simple = &c->simple;
    simple_plan_init(simple, (2 + 8 * draw_unit(draws)) * DAY, 1);
    simple_plan_checkpoints(simple, 600 + 3000 * draw_unit(draws), 20 * draw_unit(draws));
    struct training_plan *plan = &simple->plan;
    plan->step = 10;
    plan->replicas = (uint32_t)(1 + draw_below(draws, 6));
    plan->nodes = plan->replicas * (uint32_t)(1 + draw_below(draws, 5));
    plan->gpus_per_node = 8;
    plan->spares = (uint32_t)draw_below(draws, 3);
    plan->rack = (uint32_t)(1 + draw_below(draws, 4));
    plan->behind_switch = (uint32_t)(1 + draw_below(draws, 8));
    plan->micro_batches = (uint32_t)draw_below(draws, 20);
    plan->policy = (unsigned)draw_below(draws, 3);
    plan->near = draw_below(draws, 2);
    plan->far_interval = 3 * plan->interval;
    plan->evaluate_every = draw_below(draws, 2) ? 7000 : INFINITY;
    plan->evaluate = 300;
    plan->seed = draw_bits(draws);
    plan->lemons = draw_below(draws, 2) ? 0.2 : 0;
    plan->lemon_rate = 10;
    plan->lemon_strikes = (uint32_t)draw_below(draws, 4);
    c->pool = distribution_exponential(7200);
    plan->pool = draw_below(draws, 2) ? &c->pool : NULL;
    c->near = distribution_fixed(20);
    plan->load_near = &c->near;
    simple->start = distribution_fixed(900);
    simple->detect = distribution_log_normal(300, 900);
    simple->replacement = distribution_fixed(60);
    simple->repair = distribution_exponential(DAY / 2);
    simple->restart = (struct distribution){.kind = DISTRIBUTION_UNIFORM, .a = 60, .b = 600};
    simple->load = distribution_fixed(120);
    simple->write = distribution_fixed(draw_below(draws, 2) ? 0 : 400);
    simple->stall = distribution_fixed(30);
    for (unsigned i = 0; i < 6; i++)
        c->components[i] = (struct failure_component){.name = "some",
                                                      .unit = i < FAILURE_UNITS ? i : UNIT_NODE,
                                                      .every = DAY * (3 + 30 * draw_unit(draws)) * (i ? 1 : 8),
                                                      .shape = draw_below(draws, 3) ? 1 : 0.7,
                                                      .effect = (unsigned)draw_below(draws, FAILURE_EFFECTS),
                                                      .slow = 1.4,
                                                      .replace = draw_below(draws, 2)};
    plan->components = c->components;
    plan->component_count = 6;
}

static void check_run(const struct training_plan *plan, uint64_t number)
{
    struct training_diary log = {.end = INFINITY};
    struct training_run run = training_simulate(plan, number, &log), again = training_simulate(plan, number, NULL);
    double sum = 0, last = 0, named[TRAINING_PARTS] = {0};
    cr_assert_not(run.stuck);
    for (int part = 0; part < TRAINING_PARTS; part++) {
        cr_assert(run.parts[part] >= -1e-6, "%s: %g", training_part_names[part], run.parts[part]);
        sum += run.parts[part];
    }
    cr_assert_float_eq(sum / run.wall, 1, 1e-9, "seed %llu: %.12g of %.12g", (unsigned long long)plan->seed, sum,
                       run.wall);
    for (size_t i = 0; i < log.count; i++) {
        cr_assert_float_eq(log.spans[i].from, last, 1e-6, "policy %u: span %zu of %s from %.9g, not %.9g", plan->policy,
                           i, training_part_names[log.spans[i].part], log.spans[i].from, last);
        cr_assert(log.spans[i].to > log.spans[i].from);
        last = log.spans[i].to;
        named[log.spans[i].part] += log.spans[i].to - log.spans[i].from;
    }
    cr_assert_float_eq(last / run.wall, 1, 1e-12);
    for (int part = PART_START; part < TRAINING_PARTS; part++)
        if (part != PART_LOST && part != PART_SLOW && part != PART_REPLICAS)
            cr_assert_float_eq(named[part], run.parts[part], 1e-6 * run.wall);
    cr_assert(fabs(again.wall / run.wall - 1) < 1e-9, "near %d write %g policy %u eval %g: %.12g %.12g", plan->near,
              plan->write->a, plan->policy, plan->evaluate_every, again.wall, run.wall);
    cr_assert_eq(again.stops, run.stops);
    free(log.spans);
}

Test(calendars, every_second_has_one_cause)
{
    struct draws draws = {12};
    for (int i = 0; i < 400; i++) {
        struct case_values values;
        draw_case(&values, &draws);
        check_run(&values.simple.plan, (uint64_t)i);
    }
}

/* ---- by hand: failures as regular as a clock's ---- */

/* One node; 1,000 s of work, saved for 10 s behind every 100 s. It fails at about 360 s and 720 s. */
static struct training_run by_hand(struct simple_plan *simple, unsigned effect)
{
    simple_plan_init(simple, 1000, 360);
    simple_plan_checkpoints(simple, 100, 10);
    simple->component.shape = 1e6;
    simple->component.effect = effect;
    simple->component.slow = 2;
    simple->detect = distribution_fixed(30);
    simple->restart = distribution_fixed(40);
    simple->load = distribution_fixed(5);
    return training_simulate(&simple->plan, 0, NULL);
}

/* 360 s: 3 rounds of 110 s and 30 s, which are lost; on again at 435 s. 720 s: 2 rounds and 65 s. On again at 795 s
 * with 500 s, which take 550 s; but at 1,080 s it fails again after 2 rounds and 65 s, and goes on at 1,155 s with 300
 * s. */
Test(calendars, stops_by_hand)
{
    struct simple_plan simple;
    struct training_run run = by_hand(&simple, EFFECT_STOP);
    cr_assert_eq(run.stops, 4);
    cr_assert_float_eq(run.parts[PART_LOST], 30 + 65 + 65 + 65, 0.05);
    cr_assert_float_eq(run.parts[PART_DETECTION], 4 * 30, 0.01);
    cr_assert_float_eq(run.parts[PART_RESTART], 4 * 40, 0.01);
    cr_assert_float_eq(run.parts[PART_LOAD], 4 * 5, 0.01);
    cr_assert_float_eq(run.parts[PART_CHECKPOINT], 100, 1e-6);
    cr_assert_float_eq(run.wall, 1000 + 100 + 225 + 300, 0.1);
}

/* Planned: 360 s are 3 rounds and 30 s of work, saved for 10 s; then a restart of 45 s and no detection. */
Test(calendars, planned_stops_by_hand)
{
    struct simple_plan simple;
    struct training_run run = by_hand(&simple, EFFECT_PLANNED);
    cr_assert_eq(run.stops, 3);
    cr_assert_float_eq(run.parts[PART_LOST], 0, 1e-6);
    cr_assert_float_eq(run.parts[PART_DETECTION], 0, 1e-6);
    cr_assert_float_eq(run.parts[PART_RESTART] + run.parts[PART_LOAD], 3 * 45, 0.01);
}

/* Slow for 30 s each time, in which half of the steps are done; 30 s of steps at double time, the rest standing. */
Test(calendars, slow_steps_by_hand)
{
    struct simple_plan simple;
    struct training_run run = by_hand(&simple, EFFECT_SLOW);
    cr_assert_eq(run.slowed, 3);
    cr_assert_eq(run.stops, 0);
    cr_assert(run.parts[PART_SLOW] > 30 && run.parts[PART_SLOW] <= 45.01, "%g", run.parts[PART_SLOW]);
    cr_assert_float_eq(run.wall, 1100 + run.parts[PART_SLOW], 1e-6);
}

/* Corrupt at 360 s, noticed at 390 s: the state of 300 s is the last clean one, 55 s have been done since. */
Test(calendars, corruption_by_hand)
{
    struct simple_plan simple;
    struct training_run run = by_hand(&simple, EFFECT_CORRUPT);
    cr_assert(run.stops >= 3);
    cr_assert_float_eq(run.parts[PART_DETECTION], 0, 1e-6);
    cr_assert_float_eq(run.parts[PART_RESTART] + run.parts[PART_LOAD], 45.0 * run.stops, 0.01);
    cr_assert_float_eq(run.wall, 1000 + run.parts[PART_CHECKPOINT] + run.parts[PART_LOST] + 45.0 * run.stops, 1e-6);
    cr_assert_gt(run.parts[PART_LOST], 55);
}

/* Without spares a node is waited for until its repair; a smaller job goes on. All policies meet the same failures. */
Test(calendars, policies_meet_the_same_failures)
{
    struct simple_plan simple;
    simple_plan_init(&simple, 40 * DAY, 1);
    simple_plan_checkpoints(&simple, 1800, 10);
    const struct failure_rates *rates = failure_rates_find("rsc-1");
    simple.plan.components = rates->components;
    simple.plan.component_count = rates->count;
    simple.plan.nodes = simple.plan.replicas = 128;
    simple.plan.gpus_per_node = 8;
    simple.repair = distribution_fixed(DAY / 2);
    simple.restart = distribution_fixed(600);
    double walls[4];
    for (unsigned policy = 0; policy < 3; policy++) {
        simple.plan.policy = policy;
        walls[policy] = training_outcome_of(&simple.plan, 10).mean;
    }
    simple.plan.policy = POLICY_RESTART;
    simple.plan.spares = 8;
    walls[3] = training_outcome_of(&simple.plan, 10).mean;
    cr_assert_gt(walls[POLICY_RESTART], 1.3 * walls[POLICY_SHRINK]);
    cr_assert_gt(walls[POLICY_SHRINK], walls[3]);
    cr_assert_gt(walls[3], walls[POLICY_REPLICA] * 0.99);
}
