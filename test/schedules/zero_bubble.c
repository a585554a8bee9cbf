/* SPDX-License-Identifier: Apache-2.0 */
/* The zero-bubble schedules against their closed forms, activation peaks and printed orders. */
#include "test/schedules/harness.h"
#include "test/schedules/replay.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t workers_grid[] = {1, 2, 3, 4, 6, 8, 16, 32};
static const uint32_t micro_batches_grid[] = {1, 2, 3, 4, 7, 8, 15, 16, 31, 33, 63, 64, 128};
/* t_W <= min(t_F, t_B), where the closed forms hold. */
static const struct replay_times times_grid[] = {
    {1, 1, 1, 2, 0}, {1, 1, 0.5, 2, 0}, {1, 1.5, 0.75, 2, 0}, {2, 1, 1, 3, 0}, {1.25, 1, 0.25, 2, 0}};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define FOR_GRID(D, N)                                                                                                 \
    for (size_t grid_d = 0; grid_d < COUNT(workers_grid); grid_d++)                                                    \
        for (size_t grid_n = 0; grid_n < COUNT(micro_batches_grid); grid_n++)                                          \
            for (uint32_t D = workers_grid[grid_d], N = micro_batches_grid[grid_n], once = 1; once; once = 0)

static void close_to(double value, double expected, const char *what, uint32_t D, uint32_t N, size_t t)
{
    cr_expect(fabs(value - expected) <= 1e-9 * fmax(1, expected), "%s D=%u N=%u times %zu: %.12g, expected %.12g", what,
              D, N, t, value, expected);
}

Test(zero_bubble, h1_has_the_published_makespan_and_the_memory_of_1f1b)
{
    FOR_GRID(D, N)
    for (size_t t = 0; t < COUNT(times_grid); t++) {
        const struct replay_times *times = &times_grid[t];
        double total = times->forward + times->backward + times->weight;
        struct replay replay = replay_schedule("zb-h1", D, N, *times);
        double expected = N >= D ? N * total + (D - 1) * (times->forward + times->backward - times->weight)
                                 : (N + D - 1) * (times->forward + times->backward) + times->weight;
        close_to(replay.makespan, expected, "makespan", D, N, t);
        close_to(replay.peak, N < D ? N : D, "peak", D, N, t);
        cr_expect_eq(replay.slots, (size_t)3 * D * N);
    }
}

/* A v-th of ZB-H1's bubble, and D stashes on every worker. */
Test(zero_bubble, interleaved_has_a_part_of_the_bubble_of_h1)
{
    static const uint32_t workers[] = {2, 3, 4, 6, 8}, chunks[] = {2, 3, 4};
    for (size_t i = 0; i < COUNT(workers) * COUNT(chunks) * COUNT(times_grid); i++) {
        uint32_t D = workers[i % COUNT(workers)], v = chunks[i / COUNT(workers) % COUNT(chunks)];
        const struct replay_times *replayed = &times_grid[i / COUNT(workers) / COUNT(chunks)];
        struct times times = {.forward = replayed->forward,
                              .backward = replayed->backward + replayed->weight,
                              .weight = replayed->weight};
        char option[32];
        snprintf(option, sizeof option, "chunks=%u", v);
        for (uint32_t N = D; N <= 4 * D; N += D) {
            struct outcome outcome =
                harness_outcome("interleaved-zb", D, N, (const char *const[]){option, NULL}, times);
            double bubble = (D - 1) * (times.forward + times.backward - 2 * times.weight) / v;
            close_to(outcome.makespan, N * (times.forward + times.backward) + bubble, "makespan", D, N, i);
            close_to(outcome.peak_most, D, "peak", D, N, i);
            close_to(outcome.peak_least, D, "peak", D, N, i);
        }
    }
}

Test(zero_bubble, h1_in_order)
{
    struct plan *plan = plan_default("zb-h1", 4, 6);
    const char *const orders[] = {
        "F0 F1 F2 F3 B0 W0 F4 B1 W1 F5 B2 W2 B3 W3 B4 W4 B5 W5",
        "F0 F1 F2 B0 F3 B1 W0 F4 B2 W1 F5 B3 W2 B4 W3 B5 W4 W5",
        "F0 F1 B0 F2 B1 F3 B2 W0 F4 B3 W1 F5 B4 W2 B5 W3 W4 W5",
        "F0 B0 F1 B1 F2 B2 F3 B3 W0 F4 B4 W1 F5 B5 W2 W3 W4 W5",
    };
    for (uint32_t worker = 0; worker < 4; worker++) {
        char *text = order_text(plan, worker);
        cr_expect_str_eq(text, orders[worker]);
        free(text);
    }
    plan_destroy(plan);
}

Test(zero_bubble, h2_has_the_published_span_and_memory)
{
    FOR_GRID(D, N)
    for (size_t t = 0; t < COUNT(times_grid) && N >= 2 * D - 1; t++) {
        const struct replay_times *times = &times_grid[t];
        double total = times->forward + times->backward + times->weight;
        struct replay replay = replay_schedule("zb-h2", D, N, *times);
        close_to(replay.span, N * total + (D - 1) * (times->forward + times->backward - 2 * times->weight), "span", D,
                 N, t);
        close_to(replay.peak, 2 * D - 1, "peak", D, N, t);
    }
}

Test(zero_bubble, h2_warms_up_with_7_5_3_1)
{
    struct plan *plan = plan_default("zb-h2", 4, 8);
    const char *const starts[] = {"F0 F1 F2 F3 F4 F5 F6 B0 W0 F7 B1 W1 B2 ",
                                  "F0 F1 F2 F3 F4 B0 F5 B1 F6 B2 W0 F7 B3 W1 ",
                                  "F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 F6 B4 W0 F7 B5 W1 ",
                                  "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 W0 F7 B7 W1 W2 "};
    for (uint32_t worker = 0; worker < 4; worker++) {
        char *text = order_text(plan, worker);
        cr_expect(!strncmp(text, starts[worker], strlen(starts[worker])), "worker %u: %s", worker, text);
        free(text);
    }
    plan_destroy(plan);
}

Test(zero_bubble, v_has_no_bubble_and_the_memory_of_1f1b)
{
    FOR_GRID(D, N)
    {
        struct replay replay = replay_schedule("zb-v", D, N, (struct replay_times){1, 1, 1, 2, 0});
        cr_expect_eq(replay.slots, (size_t)6 * D * N);
        if (N >= 2 * D - 1) {
            close_to(replay.span, 3.0 * N, "span", D, N, 0);
            close_to(replay.peak, D, "peak", D, N, 0);
        } else {
            cr_expect_leq(replay.peak, D);
            cr_expect_geq(replay.span, 3.0 * N - 1e-9);
        }
    }
}

/* Post-validation: from one iteration to the next no worker waits, and every iteration takes N (F + B + W) in steady
 * state. Blocking: one iteration a plan. */
Test(zero_bubble, iterations_follow_each_other_without_a_bubble)
{
    static const char *const names[] = {"zb-h2", "zb-v", "zb-v-greedy"};
    for (size_t i = 0; i < COUNT(names); i++) {
        const struct schedule *schedule = schedule_find(names[i]);
        cr_assert(schedule->crosses);
        for (uint32_t D = 2; D <= 8; D += 2) {
            uint32_t N = 2 * D + 1;
            struct schedule_request request = schedule_request_default(schedule, D, N);
            request.iterations = 5;
            struct plan *plan = schedule->plan(&request);
            cr_assert_eq(plan->iterations, 5);
            cr_assert_eq(plan->micro_batches, 5 * N);
            cr_assert_eq(plan->step, PLAN_STEP_LOCAL);
            struct replay replay = replay_plan(plan, (struct replay_times){1, 1, 1, 2, 0});
            for (int k = 1; k < 5; k++)
                close_to(replay.ends[k] - replay.ends[k - 1], 3.0 * N, names[i], D, N, (size_t)k);
            close_to(replay.span, 15.0 * N, "span", D, N, 0);
            plan_destroy(plan);
            request.options[0] = 1;
            plan = schedule->plan(&request);
            cr_expect_eq(plan->iterations, 1);
            cr_expect_eq(plan->micro_batches, N);
            cr_expect_eq(plan->step, PLAN_STEP_BLOCKING);
            plan_destroy(plan);
        }
    }
}

/* arXiv 2401.10241, Tables 5 and 9: bubble rate = 1 - N (T_F + T_B + T_W) / largest span, T_comm the latency of every
 * message. */
Test(zero_bubble, the_18_published_bubble_rates)
{
    static const struct {
        uint32_t micro_batches;
        struct replay_times times;
        const char *rates[3];
    } rows[] = {
        {24, {18.522, 18.086, 9.337, 0, 0.601}, {"0.2431", "0.1585", "0.1083"}},
        {32, {18.513, 18.086, 9.331, 0, 0.626}, {"0.1985", "0.1242", "0.0837"}},
        {64, {18.546, 18.097, 9.321, 0, 0.762}, {"0.1240", "0.0674", "0.0444"}},
        {24, {29.718, 29.444, 19.927, 0, 0.527}, {"0.2347", "0.1323", "0.0698"}},
        {32, {29.802, 29.428, 19.530, 0, 0.577}, {"0.1898", "0.1045", "0.0559"}},
        {64, {29.935, 29.621, 19.388, 0, 0.535}, {"0.1091", "0.0554", "0.0294"}},
    };
    static const char *const names[] = {"1f1b", "zb-h1", "zb-h2"};
    for (size_t row = 0; row < COUNT(rows); row++)
        for (size_t i = 0; i < COUNT(names); i++) {
            struct replay replay = replay_schedule(names[i], 8, rows[row].micro_batches, rows[row].times);
            double ideal =
                rows[row].micro_batches * (rows[row].times.forward + rows[row].times.backward + rows[row].times.weight);
            char rate[16];
            snprintf(rate, sizeof rate, "%.4f", 1 - ideal / replay.span);
            cr_expect_str_eq(rate, rows[row].rates[i], "row %zu %s: %s, published %s", row, names[i], rate,
                             rows[row].rates[i]);
        }
}
