/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated trainings against what is known of them exactly: failures of the whole job at any moment alike, one in M;
 * T work, then a checkpoint of C; after a failure D in which nothing fails, then a restart of R, which can fail. */
#include "test/support/samples.h"
#include "test/training/simple_plan.h"
#include "training/best_interval.h"
#include "training/shares.h"
#include "training/spares.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

/* Mean time of a segment. */
static double segment(double work, double save, double between, double restart, double wait)
{
    return exp(restart / between) * (between + wait) * (exp((work + save) / between) - 1);
}

/* A tenth of them in any case, all with ten times the usual samples. */
static uint32_t runs_of(uint32_t all)
{
    return (uint32_t)(all * fmin(1, fmax(100, samples_percent()) / 1000.0)) + 10;
}

/* The mean of so many runs lies within the tolerance, or within four of its errors where CI runs fewer. */
static void check_mean(const struct training_plan *plan, uint32_t all, double expected, double tolerance)
{
    uint32_t runs = runs_of(all);
    struct training_outcome outcome = training_outcome_of(plan, runs);
    cr_assert_eq(outcome.stuck, 0);
    double allowed = fmax(tolerance * expected, 4 * outcome.error);
    printf("# %u runs: %+.3f %%, error %.3f %%\n", runs, 100 * (outcome.mean / expected - 1),
           100 * outcome.error / expected);
    cr_assert_lt(outcome.error, expected / 50);
    cr_assert_float_eq(outcome.mean, expected, allowed, "%u runs: %.9g, expected %.9g", runs, outcome.mean, expected);
}

Test(closed_forms, six_segments_with_checkpoints)
{
    struct simple_plan simple;
    simple_plan_init(&simple, 3600, 3600);
    simple_plan_checkpoints(&simple, 600, 60);
    simple.restart = distribution_fixed(120);
    double expected = 6 * segment(600, 60, 3600, 120, 0);
    cr_assert_float_eq(expected, 4493.555, 0.0005);
    check_mean(&simple.plan, 60000, expected, 0.003);
}

Test(closed_forms, no_checkpoint)
{
    struct simple_plan simple;
    simple_plan_init(&simple, 7200, 3600);
    double expected = segment(7200, 0, 3600, 0, 0);
    cr_assert_float_eq(expected, 23000.602, 0.0005);
    check_mean(&simple.plan, 60000, expected, 0.01);
}

/* Until a failure is noticed nothing fails. A spare that takes a node's place may fail while it does: then another one
 * begins anew, as after a failure in a restart. */
Test(closed_forms, detections_and_replacements)
{
    static const double waits[][2] = {{500, 0}, {0, 900}};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        struct simple_plan simple;
        simple_plan_init(&simple, 5000, 3000);
        simple_plan_checkpoints(&simple, 1000, 100);
        simple.component.replace = true;
        simple.plan.spares = 1;
        simple.detect = distribution_fixed(waits[i][0]);
        simple.replacement = distribution_fixed(waits[i][1]);
        simple.restart = distribution_fixed(200);
        simple.load = distribution_fixed(50);
        check_mean(&simple.plan, 60000, 5 * segment(1000, 100, 3000, 250 + waits[i][1], waits[i][0]), 0.005);
    }
}

/* Distributions of waits count by their means alone. */
Test(closed_forms, waits_that_differ)
{
    struct simple_plan simple;
    simple_plan_init(&simple, 5000, 3000);
    simple_plan_checkpoints(&simple, 1000, 100);
    simple.detect = distribution_log_normal(400, 600);
    simple.restart = distribution_fixed(100);
    check_mean(&simple.plan, 60000, 5 * segment(1000, 100, 3000, 100, 400), 0.005);
}

Test(closed_forms, many_nodes_fail_so_many_times_as_often)
{
    struct simple_plan simple;
    simple_plan_init(&simple, 5000, 3000 * 64.0);
    simple_plan_checkpoints(&simple, 1000, 100);
    simple.plan.nodes = 64;
    check_mean(&simple.plan, 20000, 5 * segment(1000, 100, 3000, 0, 0), 0.005);
    simple.plan.nodes = 8;
    simple.plan.gpus_per_node = 8;
    simple.component.unit = UNIT_GPU;
    check_mean(&simple.plan, 20000, 5 * segment(1000, 100, 3000, 0, 0), 0.005);
}

/* w/d + (d/2 + l + R + D)/M of the time, to the first order: with M large the simulated loss is that. */
Test(closed_forms, asynchronous_checkpoints_to_the_first_order)
{
    double between = 400000, stall = 5, interval = 2000, late = 600, restart = 300, wait = 100;
    struct simple_plan simple;
    simple_plan_init(&simple, 2e8, between);
    simple_plan_checkpoints(&simple, interval, stall);
    simple.write = distribution_fixed(late);
    simple.restart = distribution_fixed(restart);
    simple.detect = distribution_fixed(wait);
    struct training_outcome outcome = training_outcome_of(&simple.plan, runs_of(400));
    double loss = stall / interval + (interval / 2 + late + restart + wait) / between;
    cr_assert_float_eq((outcome.mean / 2e8 - 1) / loss, 1, 0.01, "%g, expected %g", outcome.mean / 2e8 - 1, loss);
    cr_assert_float_eq(sqrt(2 * stall * between), 2000, 1e-9); /* the best interval to that order */
}

/* Mean time of a plan's work with a checkpoint behind every interval, and none behind what is left over. */
static double whole_time(double work, double interval, const double *c)
{
    double left = fmod(work, interval);
    return floor(work / interval) * segment(interval, c[1], c[0], c[2], 0) +
           (left > 0 ? segment(left, 0, c[0], c[2], 0) : 0);
}

/* What was found with an interval is the mean of so many runs, and within four of its errors of the closed form. */
static void check_interval(const struct simple_plan *simple, uint32_t runs, double interval, double found,
                           const double *c)
{
    struct training_plan plan = simple->plan;
    plan.interval = interval;
    struct training_outcome outcome = training_outcome_of(&plan, runs);
    double expected = whole_time(plan.work, interval, c);
    cr_assert_float_eq(found / outcome.mean, 1, 1e-12);
    cr_assert_lt(outcome.error, expected / 100);
    cr_assert_float_eq(found, expected, 4 * outcome.error, "every %g s: %.9g, expected %.9g, error %g", interval, found,
                       expected, outcome.error);
}

/* The formula of the interval against the table, its time against the formula's minimum, and the search by simulation
 * against both: what half and twice as much cost is known as well. */
Test(closed_forms, the_best_interval)
{
    static const double cases[][6] = {/* M, C, R, T*, E/T*, Daly's */
                                      {8424, 60, 300, 965.8295, 1.170449, 965.823},
                                      {86400, 300, 600, 7001.4044, 1.095764, 7001.389}};
    for (size_t i = 0; i < 2; i++) {
        const double *c = cases[i];
        double best = best_interval_formula(c[1], c[0]), ratio = c[1] / (2 * c[0]);
        double daly = sqrt(2 * c[1] * c[0]) * (1 + sqrt(ratio) / 3 + ratio / 9) - c[1];
        cr_assert_float_eq(best / c[3], 1, 1e-7, "%.9g", best);
        cr_assert_float_eq(segment(best, c[1], c[0], c[2], 0) / best, c[4], 1e-6);
        cr_assert_float_eq(daly, c[5], 0.0005);
        struct simple_plan simple;
        simple_plan_init(&simple, 200 * c[3], c[0]);
        simple_plan_checkpoints(&simple, 1, c[1]);
        simple.restart = distribution_fixed(c[2]);
        uint32_t runs = runs_of(600);
        struct best_interval found = best_interval_find(simple.plan, runs);
        double least = 200 * c[3] / best * segment(best, c[1], c[0], c[2], 0);
        cr_assert_float_eq(found.interval, best, best / 2, "%g", found.interval);
        cr_assert_float_eq(whole_time(simple.plan.work, found.interval, c) / least, 1, 0.01);
        check_interval(&simple, runs, found.interval, found.mean, c);
        check_interval(&simple, runs, round(found.interval / 2), found.half, c);
        check_interval(&simple, runs, 2 * found.interval, found.twice, c);
    }
}

/* A failure every 18 minutes, 10 minutes of standing still: 0.444 where failures come so often whatever the job does,
 * and M/(M + s) where they come so often while it runs. */
Test(closed_forms, stalls_and_renewals)
{
    struct simple_plan simple;
    simple_plan_init(&simple, 4e6, 1080);
    simple_plan_checkpoints(&simple, 1, 0);
    simple.detect = distribution_fixed(600);
    struct training_outcome renewals = training_outcome_of(&simple.plan, runs_of(1000));
    cr_assert_float_eq(4e6 / renewals.mean, 1080.0 / 1680, 0.004);
    simple.component.shape = 100; /* nearly as regular as a clock */
    struct training_outcome regular = training_outcome_of(&simple.plan, 4);
    cr_assert_float_eq(4e6 / regular.mean, 0.444, 0.002, "%g", 4e6 / regular.mean);
}

/* Median 222 s, mean 2,334 s, one failure a day: 2.63 % are lost by means; by medians it would be 0.26 %. */
Test(closed_forms, recoveries_with_a_tail)
{
    struct simple_plan simple;
    double failures = runs_of(4000000);
    simple_plan_init(&simple, failures * 86400, 86400);
    simple_plan_checkpoints(&simple, 10, 0);
    simple.detect = distribution_log_normal_of_median(222, 2334);
    struct training_run run = training_simulate(&simple.plan, 0, NULL);
    double loss = run.parts[PART_DETECTION] / run.wall, expected = 2334 / (86400 + 2334.0);
    double spread = sqrt(exp(2.169 * 2.169) - 1) / sqrt(failures);
    cr_assert_float_eq(expected, 0.0263, 0.00005);
    cr_assert_float_eq(loss / expected, 1, fmax(0.01, 4 * spread), "%g", loss);
}

/* 1 - s/M - R/(n M): one of n replicas is away for R, and the others lose s when it leaves and when it comes back. */
Test(closed_forms, a_replica_drops_out_and_comes_back)
{
    uint32_t replicas = 8;
    double between = 20000, still = 60, away = 3000;
    struct simple_plan simple;
    simple_plan_init(&simple, 4e7, between * replicas);
    simple_plan_checkpoints(&simple, 1000, 0);
    simple.plan.nodes = simple.plan.replicas = replicas;
    simple.plan.policy = POLICY_REPLICA;
    simple.stall = distribution_fixed(still / 2);
    simple.restart = distribution_fixed(away);
    struct training_outcome outcome = training_outcome_of(&simple.plan, runs_of(200));
    double lost = 1 - 4e7 / outcome.mean, expected = still / between + away / (replicas * between);
    cr_assert_float_eq(lost / expected, 1, 0.06, "%g, expected %g", lost, expected);
    cr_assert_float_eq(outcome.parts[PART_REPLICAS] / outcome.mean, away / (replicas * between), 0.06 * expected);
    cr_assert_lt(outcome.parts[PART_LOST] / outcome.mean, 1e-4);
}

/* One of 32 workers is away for R: 7 of 8 do the 16 micro-batches of its stage's 8, 19 each, and a step of 16 + 3 beats
 * has 19 + 3, if its bubble stays. With pipelines made anew, 31 of 32 nodes are left. With redundant forwards a step
 * has 16 / 3 beats more, of which 3 . 2 / 3 fit into the bubble; where one worker does the work of two it has 2 . 16
 * + 2. One of 32 is too many at risk: 7 of 8 pipelines are left. */
Test(closed_forms, micro_batches_go_around_a_worker)
{
    static const double shares[][3] = {{POLICY_REROUTE, 19.0 / 22, 32},
                                       {POLICY_TEMPLATES, 31.0 / 32, 32},
                                       {POLICY_REDUNDANT, (19 + 16.0 / 3 - 2) / 34, 64},
                                       {POLICY_REDUNDANT, 16.0 / 19, 32}};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        double between = 200000, still = 60, away = 9000;
        struct simple_plan simple;
        simple_plan_init(&simple, 4e7, between * shares[i][2]);
        simple_plan_checkpoints(&simple, 1000, 0);
        simple.plan.nodes = (uint32_t)shares[i][2];
        simple.plan.replicas = simple.plan.nodes / 4;
        simple.plan.stages = 4;
        simple.plan.micro_batches = 16;
        simple.plan.policy = (unsigned)shares[i][0];
        simple.plan.bubble_stays = true;
        simple.stall = distribution_fixed(still / 2);
        simple.restart = distribution_fixed(away);
        struct training_outcome outcome = training_outcome_of(&simple.plan, runs_of(400));
        double lost = 1 - 4e7 / outcome.mean, expected = (still + (1 - shares[i][1]) * (away - still / 2)) / between;
        cr_assert_float_eq(lost / expected, 1, 0.06, "%g, expected %g", lost, expected);
        cr_assert_lt(outcome.parts[PART_LOST] / outcome.mean, 1e-4);
    }
}

/* Of 4 pipelines of 4 workers, a stage's workers that are left do all 4 m micro-batches. Up to 3 of them fit into the
 * bubble of p - 1 = 3; those beyond make the step longer. */
Test(closed_forms, rerouted_micro_batches_fill_the_bubble)
{
    static const struct {
        uint32_t micro_batches, gone;
        double filled, stays;
    } cases[] = {
        {8, 1, 1, 11.0 / 14},          /* 11 each */
        {9, 1, 1, 12.0 / 15},          /* 12 */
        {12, 1, 15.0 / 16, 15.0 / 19}, /* 16 in 15 */
        {12, 2, 15.0 / 24, 15.0 / 27}, {12, 3, 15.0 / 48, 15.0 / 51}, {12, 4, 0, 0},
    };
    struct simple_plan simple;
    simple_plan_init(&simple, 1, 1);
    simple.plan.nodes = 16;
    simple.plan.replicas = simple.plan.stages = 4;
    simple.plan.policy = POLICY_REROUTE;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double back[16] = {0};
        bool leave[16] = {false};
        for (uint32_t k = 0; k < cases[i].gone; k++)
            leave[4 * k + 2] = true;
        simple.plan.micro_batches = cases[i].micro_batches;
        simple.plan.bubble_stays = false;
        cr_assert_float_eq(shares_left(&simple.plan, back, 1, leave), cases[i].filled, 1e-12, "%zu", i);
        simple.plan.bubble_stays = true;
        cr_assert_float_eq(shares_left(&simple.plan, back, 1, leave), cases[i].stays, 1e-12, "%zu", i);
    }
}

/* Of 11 pipelines of 4 workers: which failures one worker cannot make up for, and how fast the others are. Many
 * micro-batches: 2 for 4/3 of the time, the 1.5 of the authors' simulator. */
Test(closed_forms, neighbours_do_each_others_work)
{
    static const struct {
        uint32_t gone[3];
        double share;
    } cases[] = {{{10, 10, 10}, 2.0 / 3}, /* one */
                 {{0, 1, 1}, 0},          /* it and the next one */
                 {{3, 0, 0}, 0},          /* the first one is the last one's neighbour */
                 {{3, 4, 4}, 10.0 / 11},  /* of two pipelines: both at risk, so 42 nodes make ten */
                 {{0, 2, 2}, 10.0 / 11},  /* of one */
                 {{4, 9, 38}, 10.0 / 11}};
    struct simple_plan simple;
    simple_plan_init(&simple, 1, 1);
    simple.plan.nodes = 44;
    simple.plan.replicas = 11;
    simple.plan.stages = 4;
    simple.plan.policy = POLICY_REDUNDANT;
    simple.plan.micro_batches = 9000000;
    cr_assert_float_eq(shares_redundancy(&simple.plan), 4.0 / 3, 1e-5);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double back[44] = {0};
        bool leave[44] = {false};
        for (size_t k = 0; k < 3; k++)
            leave[cases[i].gone[k]] = true;
        double share = shares_left(&simple.plan, back, 1, leave);
        cr_assert_float_eq(share, cases[i].share, 1e-5, "%zu: %g", i, share);
    }
    double back[44] = {[4] = 9, [6] = 9}; /* pipelines were made without them */
    cr_assert_float_eq(shares_left(&simple.plan, back, 1, (const bool[44]){[5] = true}), 10.0 / 11, 1e-5);
    back[6] = 0; /* one alone has a neighbour that does its work */
    cr_assert_float_eq(shares_left(&simple.plan, back, 1, (const bool[44]){[5] = true}), 0, 1e-5);
    simple.plan.micro_batches = 2;
    cr_assert_float_eq(shares_redundancy(&simple.plan), 1, 1e-12); /* all fits into the bubble */
    simple.plan.redundancy = 1.2;
    cr_assert_float_eq(shares_redundancy(&simple.plan), 1.2, 1e-12);
}

/* Of 4 pipelines of 4 nodes: three nodes of a stage may fail at once, but not all four, for then nobody has its state;
 * one after the other they may, for others have taken it over. */
Test(closed_forms, pipelines_made_anew_need_all_states)
{
    struct simple_plan simple;
    simple_plan_init(&simple, 1, 1);
    simple.plan.nodes = 16;
    simple.plan.replicas = simple.plan.stages = 4;
    simple.plan.policy = POLICY_TEMPLATES;
    double back[16] = {0};
    bool leave[16] = {[1] = true, [5] = true, [9] = true};
    cr_assert_float_eq(shares_left(&simple.plan, back, 1, leave), 13.0 / 16, 1e-12);
    leave[13] = true;
    cr_assert_float_eq(shares_left(&simple.plan, back, 1, leave), 0, 1e-12);
    back[1] = back[5] = back[9] = back[13] = 9;
    cr_assert_float_eq(shares_left(&simple.plan, back, 1, NULL), 12.0 / 16, 1e-12);
    cr_assert_float_eq(shares_left(&simple.plan, back, 1, (const bool[16]){[2] = true}), 11.0 / 16, 1e-12);
}

/* All that is lost is lost to a component, but for what would be there without failures and for missing replicas. */
Test(closed_forms, losses_have_causes)
{
    struct failure_component components[] = {
        {.name = "often", .unit = UNIT_NODE, .every = 3000, .shape = 1, .effect = EFFECT_STOP, .slow = 1},
        {.name = "rarely", .unit = UNIT_NODE, .every = 9000, .shape = 1, .effect = EFFECT_STOP, .slow = 1},
        {.name = "slow", .unit = UNIT_JOB, .every = 9000, .shape = 1, .effect = EFFECT_SLOW, .slow = 1.5}};
    struct simple_plan simple;
    simple_plan_init(&simple, 4e6, 1);
    simple_plan_checkpoints(&simple, 300, 10);
    simple.plan.components = components;
    simple.plan.component_count = 3;
    simple.detect = distribution_fixed(200);
    simple.restart = distribution_fixed(100);
    struct training_outcome outcome = training_outcome_of(&simple.plan, 20);
    double causes = outcome.causes[0] + outcome.causes[1] + outcome.causes[2];
    double parts =
        outcome.mean - outcome.parts[PART_STEPS] - outcome.parts[PART_CHECKPOINT] - outcome.parts[PART_START];
    cr_assert_float_eq(causes / parts, 1, 1e-6, "%g, %g", causes, parts);
    cr_assert_float_eq(outcome.causes[0] / outcome.causes[1], 3, 0.2, "%g", outcome.causes[0] / outcome.causes[1]);
    cr_assert_float_eq(outcome.causes[2], outcome.parts[PART_SLOW], 1e-6 * outcome.causes[2]);
}

/* Poisson's probability of more than `most`, by its own sum. */
static double more_than(double mean, unsigned most)
{
    double sum = 0;
    for (unsigned k = 0; k <= most; k++)
        sum += exp(k * log(mean) - mean - lgamma(k + 1.0));
    return 1 - sum;
}

Test(closed_forms, nodes_in_repair)
{
    cr_assert_float_eq(more_than(2048 * 6.50e-3, 20), 0.0310, 1e-4);
    cr_assert_eq(spares_for(2048 * 6.50e-3, 0.0311), 20);
    cr_assert_eq(spares_for(2048 * 6.50e-3, 0.0309), 21);
    cr_assert_eq(spares_for(0, 0.01), 0);
    uint32_t spares = spares_for(3000, 0.5); /* where e^-a is no double any more */
    cr_assert(more_than(3000, spares) <= 0.5 && more_than(3000, spares - 1) > 0.5);
}
