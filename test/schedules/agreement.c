/* SPDX-License-Identifier: Apache-2.0 */
/* The product's evaluation of plans and the tests' own agree. */
#include "test/schedules/harness.h"
#include "test/schedules/replay.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *const names[] = {
    "1f1b",        "interleaved", "hanayo",   "zb-h1",      "zb-h2", "zb-v",   "v-half",
    "v-min",       "gems",        "dualpipe", "dualpipe-v", "bpipe", "1f1b-v", "group-interleaved",
    "zb-v-greedy", "weipipe"};
static const struct times times[] = {
    {1, 2, 1, 0, 3}, {1.25, 2.5, 0.75, 0.125, 3.5}, {0.7, 2.1, 1.3, 0.31, 2}, {1, 0.9, 0.2, 2.5, 1.5}};

static void agree(const char *name, uint32_t D, uint32_t N, struct times at)
{
    struct schedule_request request = harness_request(name, D, N, NULL);
    struct schedule_refusal refusal;
    if (!schedule_fits(schedule_find(name), &request, &refusal))
        return;
    bool moves = !strcmp(name, "bpipe"); /* the second evaluation takes no time for moving stashes */
    if (moves)
        at.latency = 0;
    request.iterations = schedule_find(name)->crosses ? 3 : 1;
    struct outcome outcome = harness_run(name, &request, at);
    struct plan *plan = harness_plan(name, &request);
    struct replay_times parts = {at.forward, at.backward - at.weight, at.weight, at.block, at.latency};
    struct replay replay = replay_plan(plan, parts);
    cr_expect(harness_equal(outcome.makespan, replay.makespan), "%s D=%u N=%u: %.12g and %.12g", name, D, N,
              outcome.makespan, replay.makespan);
    cr_expect(moves || harness_equal(outcome.span_cost, replay.span), "%s D=%u N=%u: spans %.12g and %.12g", name, D, N,
              outcome.span_cost, replay.span);
    cr_expect(harness_equal(outcome.peak_most, replay.peak), "%s D=%u N=%u: peaks %g and %g", name, D, N,
              outcome.peak_most, replay.peak);
    plan_destroy(plan);
}

Test(agreement, of_two_evaluations)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (uint32_t D = 1; D <= 16; D += D < 6 ? 1 : 5)
            for (uint32_t N = 1; N <= 48; N += N < 4 ? 1 : N)
                for (size_t t = 0; t < sizeof times / sizeof *times; t++)
                    agree(names[i], D, N, times[t]);
}
