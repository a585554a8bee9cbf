/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks, watts, budgets and carbon against closed forms. */
#include "platforms/power/power.h"
#include "base/arena.h"

#include <criterion/criterion.h>
#include <math.h>

#define NEAR(value, expected, tolerance)                                                                               \
    cr_assert(fabs((double)(value) - (double)(expected)) <= (tolerance)*fabs((double)(expected)), "%.17g, not %.17g",  \
              (double)(value), (double)(expected))

static const struct power_settings plain = {
    .given = true, .idle = 100, .full = 400, .alpha = 3, .compute_bound = -1, .pue = 1};

static double random_between(uint64_t *state, double low, double high)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(*state >> 11) / 0x1p53;
}

Test(power, clock_and_watts_are_inverse)
{
    uint64_t state = 1;
    for (int i = 0; i < 1000; i++) {
        double idle = random_between(&state, 0, 200), full = idle + random_between(&state, 1, 900),
               alpha = random_between(&state, 1, 4), cap = idle + random_between(&state, 0.01, 1) * (full - idle);
        double clock = power_clock(idle, full, alpha, cap);
        cr_assert(clock > 0 && clock <= 1);
        NEAR(power_watts(idle, full, alpha, clock), cap, 1e-12);
    }
    cr_assert(!(power_clock(60, 400, 3, 400) < 1) && !(power_clock(60, 400, 3, 700) > 1));
}

/* Work that is bound by arithmetic, alpha 3: the least energy is at (Ps / (2 Pd))^(1/3) of the clock. */
Test(power, least_energy)
{
    double best = 0, least = INFINITY;
    for (double clock = 0.05; clock <= 1; clock += 1e-5) {
        double joules = power_watts(100, 400, 3, clock) * power_stretch(clock, 1);
        best = joules < least ? clock : best;
        least = fmin(least, joules);
    }
    NEAR(best, cbrt(100.0 / 600), 2e-5);
    NEAR(best, 0.5503, 1e-4);
    NEAR(least / 400, 0.6814, 1e-4);
}

/* Half of the time moves bytes, and keeps its speed. */
Test(power, stretch)
{
    NEAR(power_stretch(0.5, 1), 2, 1e-15);
    NEAR(power_stretch(0.5, 0.5), 1.5, 1e-15);
    NEAR(power_stretch(0.5, 0), 1, 1e-15);
}

Test(power, table)
{
    static const struct power_point points[] = {{200, 0.6}, {300, 0.9}, {400, 1}};
    struct power_settings settings = plain;
    settings.table = points;
    settings.table_count = 3;
    NEAR(power_table_speed(&settings, 100), 0.6, 1e-15);
    NEAR(power_table_speed(&settings, 250), 0.75, 1e-15);
    NEAR(power_table_speed(&settings, 300), 0.9, 1e-15);
    NEAR(power_table_speed(&settings, 375), 0.975, 1e-15);
    NEAR(power_table_speed(&settings, 500), 1, 1e-15);
    cr_assert(!power_by_operator(&settings));
}

/* Four GPUs of which three work, and two links: 1,000 W, less 2 x 20 W and 100 W of the idle GPU, are 286.7 W each. */
Test(power, budget)
{
    struct arena *arena = arena_create();
    struct platform_host hosts[4] = {{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}};
    struct platform_link_watts watts[2] = {{5, 20}, {5, 20}};
    struct platform platform = {.host_count = 4, .hosts = hosts, .link_count = 2, .link_watts = watts};
    struct power_settings settings = plain;
    static const uint32_t ranks[] = {0, 1, 3};
    const char *key = NULL;
    struct fault fault = {""};
    settings.budget = 1000;
    struct power_plan *plan = power_plan_create(&settings, &platform, ranks, 3, arena, &key, &fault);
    cr_assert_not_null(plan, "%s", fault.text);
    NEAR(plan->cap, 860.0 / 3, 1e-15);
    NEAR(plan->states[2].clock, cbrt((860.0 / 3 - 100) / 300), 1e-12);
    NEAR(plan->states[2].busy, 860.0 / 3, 1e-12);
    cr_assert(plan->capped);
    settings.cap = 250;
    plan = power_plan_create(&settings, &platform, ranks, 3, arena, &key, &fault);
    NEAR(plan->cap, 250, 0);
    settings.budget = 400;
    cr_assert_null(power_plan_create(&settings, &platform, ranks, 3, arena, &key, &fault));
    cr_assert_str_eq(key, "power.budget");
    arena_destroy(arena);
}

/* A series is the sum over its steps, second by second, however often it repeats. */
Test(power, carbon)
{
    static const struct power_intensity day[] = {{0, 100}, {6, 300}, {18, 500}}; /* the last holds 12 s, too */
    struct power_settings settings = plain;
    settings.carbon = day;
    settings.carbon_count = 3;
    settings.pue = 1.5;
    for (int start = 0; start < 40; start += 7)
        for (int seconds = 1; seconds < 100; seconds += 13) {
            double grams = 0;
            for (int second = start; second < start + seconds; second++) {
                int hour = second % 30;
                grams += 1000.0 / 3.6e6 * 1.5 * (hour < 6 ? 100 : hour < 18 ? 300 : 500);
            }
            settings.carbon_start = start;
            NEAR(power_grams(&settings, 1000.0 * seconds, seconds), grams, 1e-12);
        }
    settings.carbon_count = 1;
    NEAR(power_grams(&settings, 3.6e6, 5), 150, 1e-15);
}

/* The column "here" of the table in doc/power.md. */
Test(power, beside_published)
{
    NEAR(1 - power_clock(70, 700, 3, 600), 0.056, 5e-3);
    NEAR(1 - power_clock(70, 700, 2, 600), 0.083, 5e-3);
    double clock = power_clock(25, 250, 3, 150);
    NEAR(1 - 150 * power_stretch(clock, 1) / 250, 0.270, 2e-3);
    NEAR(1 - 150 * power_stretch(clock, 0.5) / 250, 0.335, 2e-3);
    NEAR(power_stretch(clock, 0.5) - 1, 0.108, 5e-3);
}
