/* SPDX-License-Identifier: Apache-2.0 */
/* Rows whose seconds follow from known values by a formula: those values are found, and no more of them than the rows
 * can settle. */
#include "studies/calibrate/tuning.h"

#include "base/arena.h"

#include <criterion/criterion.h>
#include <math.h>

static struct arena *arena;

static void setup(void)
{
    arena = arena_create();
}

static void teardown(void)
{
    arena_destroy(arena);
}

TestSuite(tuning, .init = setup, .fini = teardown);

enum { ROWS_MAX = 12 };

/* A job of `work` seconds of products, `other` of all else and `operators` that the host issues: the longer counts. */
static double seconds_of(double work, double other, double operators, double clock, double dispatch)
{
    return fmax(work / clock + other, operators * dispatch);
}

static struct tuning_response response(double work, double other, double operators, double clock, double step,
                                       double dispatch)
{
    struct tuning_response r = {.bent = 1, .own_step = 0.01};
    for (int c = 0; c <= TUNING_CLOCKS; c++)
        for (int d = 0; d <= TUNING_DISPATCHES; d++)
            r.seconds[c][d] = r.own_step + seconds_of(work, other, operators, c ? tuning_clocks[c - 1] : 1,
                                                      d ? tuning_dispatches[d - 1] : 0);
    r.measured = step + seconds_of(work, other, operators, clock, dispatch);
    return r;
}

static const unsigned clock_bit = 1u << TUNING_CLOCK, step_bit = 1u << TUNING_STEP, all_bits = 7;

Test(tuning, one_row_settles_the_clock)
{
    struct tuning_response row = response(2, 0.5, 0, 0.8, 0.01, 0);
    struct tuning tuning;
    tuning_choose(&row, 1, all_bits, arena, &tuning);
    cr_assert(tuning.values.fitted == clock_bit);
    cr_assert(fabs(tuning.values.value[TUNING_CLOCK] - 0.8) < 1e-9, "%g", tuning.values.value[TUNING_CLOCK]);
    cr_assert(isnan(tuning.low[TUNING_CLOCK]) && isnan(tuning.left_out[0]) && !tuning.at_limit[TUNING_CLOCK]);
    tuning_choose(&row, 1, step_bit, arena, &tuning);
    cr_assert(tuning.values.fitted == step_bit);
    cr_assert(fabs(tuning.values.value[TUNING_STEP] - (2 / 0.8 - 2 + 0.01)) < 1e-6);
}

Test(tuning, rows_that_differ_settle_clock_and_fixed_time)
{
    struct tuning_response rows[6];
    for (int i = 0; i < 6; i++)
        rows[i] = response(0.5 * (i + 1), 0.1, 0, 0.75, 0.9, 0);
    struct tuning tuning;
    tuning_choose(rows, 6, all_bits, arena, &tuning);
    cr_assert(tuning.values.fitted == (clock_bit | step_bit), "%u", tuning.values.fitted);
    cr_assert(fabs(tuning.values.value[TUNING_CLOCK] - 0.75) < 1e-6 &&
              fabs(tuning.values.value[TUNING_STEP] - 0.9) < 1e-6);
    cr_assert(tuning.left_out_error < 1e-6 && tuning.low[TUNING_STEP] <= 0.9 + 1e-6 &&
              tuning.high[TUNING_STEP] >= 0.9 - 1e-6);
}

Test(tuning, rows_alike_settle_one_value)
{
    struct tuning_response rows[5];
    for (int i = 0; i < 5; i++) {
        rows[i] = response(1, 0.1, 0, 0.75, 0.3, 0);
        rows[i].measured *= 1 + 0.01 * (i - 2);
    }
    struct tuning tuning;
    tuning_choose(rows, 5, all_bits, arena, &tuning);
    cr_assert(__builtin_popcount(tuning.values.fitted) == 1, "%u", tuning.values.fitted);
    cr_assert(fabs(tuning_likeness(rows, 5, &tuning.values, TUNING_CLOCK, TUNING_STEP, arena)) > 0.999);
}

Test(tuning, jobs_that_wait_for_the_host_settle_its_time)
{
    struct tuning_response rows[8];
    for (int i = 0; i < 8; i++)
        rows[i] = response(0.4 * (i + 1), 0, i % 2 ? 40000 : 1000, 0.87, 0.01, 100e-6);
    struct tuning tuning;
    tuning_choose(rows, 8, clock_bit | 1u << TUNING_DISPATCH, arena, &tuning);
    cr_assert(tuning.values.fitted == (clock_bit | 1u << TUNING_DISPATCH), "%u", tuning.values.fitted);
    cr_assert(fabs(tuning.values.value[TUNING_CLOCK] - 0.87) < 1e-6, "%g", tuning.values.value[TUNING_CLOCK]);
    cr_assert(fabs(tuning.values.value[TUNING_DISPATCH] - 100e-6) < 1e-9, "%g", tuning.values.value[TUNING_DISPATCH]);
}

Test(tuning, a_limit_is_named)
{
    struct tuning_response row = response(2, 0.5, 0, 1, 0.01, 0);
    struct tuning tuning;
    row.measured = 100;
    tuning_choose(&row, 1, all_bits, arena, &tuning);
    cr_assert(tuning.at_limit[TUNING_CLOCK] && tuning.values.value[TUNING_CLOCK] >= tuning_clocks[TUNING_CLOCKS - 1]);
    row.measured = 0.1;
    tuning_choose(&row, 1, all_bits, arena, &tuning);
    cr_assert(tuning.at_limit[TUNING_CLOCK] && tuning.values.value[TUNING_CLOCK] <= tuning_clocks[0] + 1e-12);
}

/* Of rows with noise that no value explains, 8 of 10 intervals hold the value that made them. */
Test(tuning, intervals_cover)
{
    enum { TRIES = 200 };
    unsigned seed = 1, held = 0;
    for (int try = 0; try < TRIES; try++) {
        struct tuning_response rows[8];
        for (int i = 0; i < 8; i++) {
            double noise = 0;
            for (int k = 0; k < 12; k++) {
                seed = seed * 1664525u + 1013904223u;
                noise += (double)(seed >> 8) / (1 << 24) - 0.5;
            }
            rows[i] = response(0.5 * (i + 1), 0.1, 0, 0.7, 0.01, 0);
            rows[i].measured *= exp(0.02 * noise);
        }
        struct tuning tuning;
        tuning_solve(rows, 8, clock_bit, arena, &tuning);
        held += tuning.low[TUNING_CLOCK] <= 0.7 && tuning.high[TUNING_CLOCK] >= 0.7;
    }
    cr_assert(held > 0.72 * TRIES && held < 0.9 * TRIES, "%u of %d", held, TRIES);
}
