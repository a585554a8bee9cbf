/* SPDX-License-Identifier: Apache-2.0 */
/* Orders around failed workers: each micro-batch goes through workers that are there, no worker has more of them than
 * the closed form says, and a step takes as long as `train` says of its policy `reroute`. */
#include "base/arena.h"
#include "schedules/steady.h"
#include "test/schedules/harness.h"
#include "training/shares.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct shape {
    uint32_t stages, replicas, dead, stage, micro_batches; /* micro-batches of a replica */
};

static struct schedule_request request_of(const struct shape *shape, const char *order)
{
    char texts[3][32], word[32];
    snprintf(texts[0], sizeof texts[0], "replicas=%u", shape->replicas);
    snprintf(texts[1], sizeof texts[1], "dead=%u", shape->dead);
    snprintf(texts[2], sizeof texts[2], "stage=%u", shape->stage);
    snprintf(word, sizeof word, "order=%s", order);
    const char *options[] = {texts[0], texts[1], texts[2], word, NULL};
    return harness_request("recycle", shape->stages * shape->replicas, shape->micro_batches * shape->replicas, options);
}

/* A step's time in forwards and backwards of a micro-batch: F = 1, and B = 2 in one piece, or twice 1. */
static double beats_of(const struct shape *shape, const char *order)
{
    struct schedule_request request = request_of(shape, order);
    struct plan *plan = harness_plan("recycle", &request);
    double *times = array_zeroed(3 * (size_t)shape->stages, sizeof *times);
    for (uint32_t stage = 0; stage < shape->stages; stage++) {
        times[stage] = times[2 * shape->stages + stage] = 1;
        times[shape->stages + stage] = 2;
    }
    struct plan_costs costs = {
        .forward = times, .backward = times + shape->stages, .weight = times + 2 * (size_t)shape->stages};
    struct plan_timing timing;
    plan_timing_init(&timing, plan, &costs);
    double time = schedule_steady_iteration(schedule_find("recycle"), &request, &costs, plan, &timing);
    plan_timing_finish(&timing);
    plan_destroy(plan);
    free(times);
    return time / 3;
}

/* How much faster than with all workers `train` says a step is. */
static double share_of(const struct shape *shape, bool bubble_stays)
{
    uint32_t nodes = shape->replicas * shape->stages;
    struct training_plan plan = {.nodes = nodes,
                                 .replicas = shape->replicas,
                                 .stages = shape->stages,
                                 .micro_batches = shape->micro_batches,
                                 .policy = POLICY_REROUTE,
                                 .bubble_stays = bubble_stays};
    double *back = array_zeroed(nodes, sizeof *back);
    bool *leave = array_zeroed(nodes, sizeof *leave);
    for (uint32_t i = 1; i <= shape->dead; i++)
        leave[nodes - i * shape->stages + shape->stage] = true;
    double share = shares_left(&plan, back, 1, leave);
    free(back);
    free(leave);
    return share;
}

static void check_shape(const struct shape *shape)
{
    struct shape whole = *shape;
    whole.dead = 0;
    uint32_t p = shape->stages, left = shape->replicas - shape->dead;
    double m = shape->micro_batches, rounds = ceil(m * shape->replicas / left), all = beats_of(&whole, "1f1b");
    double stays = beats_of(shape, "1f1b"), filled = beats_of(shape, "zb-h2");
    cr_assert(harness_equal(all, m + p - 1), "1f1b: %g of %g", all, m + p - 1);
    cr_assert(stays <= rounds + p - 1 + 1e-9, "%u %u %u %u %g: %g, rounds %g", p, shape->replicas, shape->dead,
              shape->stage, m, stays, rounds);
    if (shape->stage == p - 1 || (m >= p && m * shape->replicas == rounds * left))
        cr_assert(harness_equal(share_of(shape, true), all / stays), "%u %u %u %u %g: %g, train %g", p, shape->replicas,
                  shape->dead, shape->stage, m, all / stays, share_of(shape, true));
    /* The busiest worker works without a gap; a step is never said to be shorter than with all workers. */
    if (m >= 2 * p - 1)
        cr_assert(harness_equal(filled, rounds), "%u %u %u %u %g: %g of %g", p, shape->replicas, shape->dead,
                  shape->stage, m, filled, rounds);
    if (m >= 2 * p - 1)
        cr_assert(harness_equal(share_of(shape, false), fmin(1, all / filled)));
}

Test(recycle, takes_what_train_says)
{
    struct shape shape;
    for (shape.stages = 1; shape.stages <= 6; shape.stages++)
        for (shape.replicas = 1; shape.replicas <= 5; shape.replicas++)
            for (shape.dead = 0; shape.dead < shape.replicas; shape.dead++)
                for (shape.stage = 0; shape.stage < shape.stages; shape.stage++)
                    for (shape.micro_batches = 1; shape.micro_batches <= 13; shape.micro_batches += 3)
                        check_shape(&shape);
}

/* Nothing runs on a worker that has failed; those of a round are of different replicas, so that no worker has more than
 * the rounds. */
Test(recycle, goes_around)
{
    struct shape shape = {4, 3, 1, 2, 8};
    struct schedule_request request = request_of(&shape, "1f1b");
    struct plan *plan = harness_plan("recycle", &request);
    size_t most = 0, all = 0;
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        most = plan->orders[worker].count > most ? plan->orders[worker].count : most;
        all += plan->orders[worker].count;
    }
    cr_assert_eq(plan->orders[10].count, 0);
    cr_assert_eq(most, 2 * 12);
    cr_assert_eq(all, 2 * 4 * 24);
    plan_destroy(plan);
}
