/* SPDX-License-Identifier: Apache-2.0 */
/* When what fails. */
#include "training/clocks.h"

#include "base/arena.h"
#include "test/support/samples.h"
#include "test/training/simple_plan.h"
#include "training/failure_rates.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DAY 86400.0

static void use_rates(struct simple_plan *simple, const char *name, uint32_t nodes)
{
    const struct failure_rates *rates = failure_rates_find(name);
    simple_plan_init(simple, 1, 1);
    simple->plan.components = rates->components;
    simple->plan.component_count = rates->count;
    simple->plan.nodes = nodes;
    simple->plan.gpus_per_node = 8;
}

/* Failures of the first `nodes` nodes until `end`, at most `most` of them. */
static size_t list(const struct training_plan *plan, uint32_t machines, uint32_t nodes, double end,
                   struct failure *failures, size_t most)
{
    struct clocks *clocks = clocks_create(plan, machines, 3);
    size_t count = 0;
    double last = 0;
    while (clocks_next(clocks) < end) {
        struct failure failure = clocks_take(clocks);
        cr_assert(failure.time >= last);
        last = failure.time;
        if (failure.first < nodes && count < most)
            failures[count++] = failure;
    }
    clocks_destroy(clocks);
    return count;
}

/* One more node, or a hundred, change the fate of no other. */
Test(clocks, nodes_have_streams_of_their_own)
{
    enum { MOST = 400 };
    struct failure few[MOST], many[MOST];
    struct simple_plan simple;
    use_rates(&simple, "llama3", 10);
    size_t count = list(&simple.plan, 10, 10, 3000 * DAY, few, MOST);
    cr_assert_gt(count, 60);
    for (uint32_t more = 11; more <= 110; more += 99) {
        cr_assert_eq(list(&simple.plan, more, 10, 3000 * DAY, many, MOST), count);
        for (size_t i = 0; i < count; i++)
            cr_assert(many[i].time == few[i].time && many[i].first == few[i].first &&
                      many[i].component == few[i].component && many[i].draws.state == few[i].draws.state);
    }
}

/* 6.50e-3 of a node in a day: a failure of 16,384 GPUs in 1.803 h, of 131,072 in 0.2254 h. Those of Llama 3 come to
 * 3.79e-3. */
Test(clocks, times_between_failures_of_published_clusters)
{
    cr_assert_float_eq(24 / (failure_rates_per_node_day(failure_rates_find("rsc-1")) * 2048), 1.803, 0.0018);
    cr_assert_float_eq(24 / (failure_rates_per_node_day(failure_rates_find("rsc-1")) * 16384), 0.2254, 0.0002);
    double all = 0;
    const struct failure_rates *llama3 = failure_rates_find("llama3");
    for (size_t i = 0; i < llama3->count; i++)
        if (llama3->components[i].effect == EFFECT_STOP)
            all += DAY / llama3->components[i].every * (llama3->components[i].unit == UNIT_GPU ? 8 : 1);
    cr_assert_float_eq(all, 3.789e-3, 0.0005e-3);
    cr_assert_null(failure_rates_find("rsc-3"));
}

/* Each kind comes as often as it says; of regular ones the times of a unit are alike. */
Test(clocks, components_come_as_often_as_they_say)
{
    enum { MOST = 40000 };
    static struct failure failures[MOST];
    struct failure_component components[] = {
        {.name = "a", .unit = UNIT_GPU, .every = 80 * DAY, .shape = 1},
        {.name = "b", .unit = UNIT_NODE, .every = 30 * DAY, .shape = 1},
        {.name = "c", .unit = UNIT_RACK, .every = 20 * DAY, .shape = 1},
        {.name = "d", .unit = UNIT_SWITCH, .every = 40 * DAY, .shape = 0.7},
        {.name = "e", .unit = UNIT_JOB, .every = 5 * DAY, .shape = 1},
        {.name = "f", .unit = UNIT_GPU, .every = 100 * DAY, .shape = 1.5},
    };
    static const double units[] = {80, 10, 4, 2, 1, 80};
    struct simple_plan simple;
    simple_plan_init(&simple, 1, 1);
    simple.plan.nodes = 10;
    simple.plan.gpus_per_node = 8;
    simple.plan.rack = 3;
    simple.plan.behind_switch = 5;
    simple.plan.components = components;
    simple.plan.component_count = 6;
    double days = 8000, counts[6] = {0};
    size_t count = list(&simple.plan, 10, 10, days * DAY, failures, MOST);
    for (size_t i = 0; i < count; i++) {
        size_t which = (size_t)(failures[i].component - components);
        static const uint32_t nodes[] = {1, 1, 3, 5, 0, 1};
        counts[which]++;
        cr_assert(failures[i].count == nodes[which] ||
                  (which == 2 && failures[i].first == 9 && failures[i].count == 1));
    }
    for (size_t i = 0; i < 6; i++) {
        double expected = units[i] * days * DAY / components[i].every;
        cr_assert_float_eq(counts[i], expected, 5 * sqrt(expected), "%s: %g, expected %g", components[i].name,
                           counts[i], expected);
    }
}

/* A few nodes fail often; all together as often as before, until those are exchanged. */
Test(clocks, lemons)
{
    enum { NODES = 400 };
    double counts[NODES] = {0}, all = 0, largest = 0;
    struct simple_plan simple;
    use_rates(&simple, "rsc-1", NODES);
    simple.plan.lemons = 0.02;
    simple.plan.lemon_rate = 30;
    struct clocks *clocks = clocks_create(&simple.plan, NODES, 1);
    while (clocks_next(clocks) < 2000 * DAY) {
        struct failure failure = clocks_take(clocks);
        counts[failure.first]++;
    }
    clocks_destroy(clocks);
    double factor = 0, lemons = 0;
    for (int i = 0; i < NODES; i++) {
        all += counts[i];
        largest = fmax(largest, counts[i]);
        lemons += counts[i] > 60;
    }
    factor = (1 + lemons / NODES * 29) / (1 + 0.02 * 29); /* as many as were drawn */
    cr_assert_float_eq(all / (2000 * 6.5e-3 * NODES * factor), 1, 0.06);
    cr_assert(lemons >= 2 && lemons <= 18);
    cr_assert_gt(largest, 150);
}

/* The share of moments, four a day, at which more than 20 nodes are away. */
static double share_lacking(const struct failure *failures, size_t count, const struct distribution *repair,
                            size_t days)
{
    size_t moments = 4 * days, first = 80;
    double *away = array_zeroed(moments, sizeof *away), lacking = 0;
    struct draws draws = {7};
    for (size_t i = 0; i < count; i++) {
        double end = failures[i].time + distribution_draw(repair, &draws);
        for (double t = ceil(failures[i].time / (DAY / 4)); t * DAY / 4 < end && t < (double)moments; t++)
            away[(size_t)t]++;
    }
    for (size_t t = first; t < moments; t++)
        lacking += away[t] > 20;
    free(away);
    return lacking / (double)(moments - first);
}

/* Nodes away are Poisson however long repairs take: counted at many moments against the formula's 0.0310. A day is
 * about as long as it takes until they are others. */
Test(clocks, nodes_in_repair_are_poisson)
{
    size_t days = 800 * (size_t)samples_percent() + 2000, most = days * 15;
    struct failure *failures = array_zeroed(most, sizeof *failures);
    struct simple_plan simple;
    use_rates(&simple, "rsc-1", 2048);
    struct distribution repairs[] = {distribution_fixed(DAY), distribution_log_normal(DAY, 2 * DAY)};
    size_t count = list(&simple.plan, 2048, 2048, (double)days * DAY, failures, most);
    double error = sqrt((1 - 0.0310) / 0.0310 / (double)days);
    cr_assert_lt(count, most);
    for (int k = 0; k < 2; k++) {
        double share = share_lacking(failures, count, &repairs[k], days);
        cr_assert_float_eq(share / 0.0310, 1, fmax(0.05, 4 * error), "%g of %zu days", share, days);
        printf("# more than 20 away at %.4f of the moments of %zu days\n", share, days);
    }
    free(failures);
}
