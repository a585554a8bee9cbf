/* SPDX-License-Identifier: Apache-2.0 */
/* V-Half and V-Min: memory exactly, bubbles at most those of the authors' implementation. */
#include "test/schedules/harness.h"
#include "test/schedules/replay.h"

#include <criterion/criterion.h>

/* Chunks of one unit. */
static const struct replay_times units = {2, 2, 2, 4, 0};

static double bubble(const char *name, uint32_t D, uint32_t N)
{
    return replay_schedule(name, D, N, units).span - 6.0 * N;
}

Test(v_block, bubbles_are_at_most_those_of_the_reference)
{
    static const struct {
        uint32_t workers;
        double half, least;
    } bounds[] = {{4, 5, 11}, {6, 11, 17}, {8, 17, 27}, {16, 41, 59}};
    for (size_t i = 0; i < 4; i++)
        for (uint32_t N = 2 * bounds[i].workers; N <= 8 * bounds[i].workers; N += bounds[i].workers - 1) {
            uint32_t D = bounds[i].workers;
            cr_expect_leq(bubble("v-half", D, N), bounds[i].half, "v-half D=%u N=%u: %g", D, N, bubble("v-half", D, N));
            cr_expect_leq(bubble("v-min", D, N), bounds[i].least, "v-min D=%u N=%u: %g", D, N, bubble("v-min", D, N));
        }
}

/* 3D - 7 (even D), 3D - 4 (odd D), and at most 4D - 5; 1F1B has 6D - 6. */
Test(v_block, bubbles_grow_with_workers_only)
{
    for (uint32_t D = 3; D <= 40; D++)
        for (uint32_t N = 2 * D; N <= 2 * D + 3; N++) {
            cr_expect_float_eq(bubble("v-half", D, N), D % 2 ? 3.0 * D - 4 : 3.0 * D - 7, 1e-9, "D=%u N=%u: %g", D, N,
                               bubble("v-half", D, N));
            cr_expect_leq(bubble("v-min", D, N), 4.0 * D - 5, "D=%u N=%u: %g", D, N, bubble("v-min", D, N));
        }
}

Test(v_block, memory_is_exact)
{
    for (uint32_t D = 1; D <= 64; D += D < 20 ? 1 : 11)
        for (uint32_t N = 2 * D; N <= 4 * D; N += D) {
            cr_expect_eq(replay_schedule("v-half", D, N, units).peak, (D + 2) / 2, "v-half D=%u N=%u", D, N);
            cr_expect_eq(replay_schedule("v-min", D, N, units).peak, (D + 4) / 3, "v-min D=%u N=%u", D, N);
        }
}

/* Few micro-batches too, and other times than those that the order was made for. */
Test(v_block, any_number_of_micro_batches)
{
    static const char *const names[] = {"v-half", "v-min"};
    for (size_t i = 0; i < 2; i++)
        for (uint32_t D = 1; D <= 9; D++)
            for (uint32_t N = 1; N <= 2 * D; N++) {
                struct schedule_request request = harness_request(names[i], D, N, NULL);
                struct plan *plan = harness_plan(names[i], &request);
                struct replay replay = replay_plan(plan, (struct replay_times){1, 1.5, 0.5, 3, 0.1});
                cr_expect_eq(replay.slots, (size_t)6 * D * N);
                cr_expect_geq(replay.span, 3.0 * N);
                cr_expect_leq(replay.peak, i ? (D + 4) / 3 : (D + 2) / 2);
                plan_destroy(plan);
            }
}
