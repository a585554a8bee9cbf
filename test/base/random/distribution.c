/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random/distribution.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdbool.h>

enum { DRAWS = 40000 };

/* The share of draws up to a value, and their mean, against what is known. */
static void check(struct distribution d, double value, double below, double mean, double deviation)
{
    struct draws draws = {17};
    double count = 0, sum = 0;
    for (int i = 0; i < DRAWS; i++) {
        double x = distribution_draw(&d, &draws);
        cr_assert(x >= 0);
        count += x <= value;
        sum += x;
    }
    cr_assert_float_eq(count / DRAWS, below, 4 * sqrt(below * (1 - below) / DRAWS) + 1e-9, "kind %d: %g", d.kind,
                       count / DRAWS);
    cr_assert_float_eq(distribution_mean(&d) / mean, 1, 1e-12, "kind %d: %.17g", d.kind, distribution_mean(&d));
    cr_assert_float_eq(sum / DRAWS, mean, 4 * deviation / sqrt(DRAWS) + 1e-9, "kind %d: %g", d.kind, sum / DRAWS);
}

Test(distribution, shares_and_means_are_those_of_the_formulas)
{
    check(distribution_fixed(3), 2.9, 0, 3, 0);
    check((struct distribution){.kind = DISTRIBUTION_UNIFORM, .a = 2, .b = 6}, 3, 0.25, 4, 4 / sqrt(12));
    check(distribution_exponential(5), 5, 1 - exp(-1), 5, 5);
    check((struct distribution){.kind = DISTRIBUTION_NORMAL, .a = 10, .b = 2}, 12, erfc(-1 / sqrt(2)) / 2, 10, 2);
    check(distribution_log_normal(10, 5), 10 / sqrt(1.25), 0.5, 10, 5);
    check(distribution_weibull(10, 0.7), 10 / tgamma(1 + 1 / 0.7), 1 - exp(-1), 10,
          10 * sqrt(tgamma(1 + 2 / 0.7) / pow(tgamma(1 + 1 / 0.7), 2) - 1));
    check(distribution_weibull(10, 3), 10 / tgamma(1 + 1 / 3.0), 1 - exp(-1), 10, 4);
    check(distribution_gamma(6, 6), 6, 1 - exp(-1), 6, 6);                   /* shape 1: exponential */
    check(distribution_gamma(6, sqrt(18)), 6, 1 - 3 * exp(-2), 6, sqrt(18)); /* shape 2: of Erlang */
    check(distribution_gamma(2, sqrt(8)), 2, erf(sqrt(0.5)), 2, sqrt(8));    /* shape 1/2: chi square */
}

/* Median 3 min 42 s and mean 38 min 54 s of published recoveries: sigma 2.169. */
Test(distribution, a_median_and_a_mean_make_a_tail)
{
    struct distribution d = distribution_log_normal_of_median(222, 2334);
    cr_assert_float_eq(d.b, 2.169, 0.0005);
    cr_assert_float_eq(distribution_mean(&d), 2334, 1e-9);
    struct draws draws = {1};
    double below = 0;
    for (int i = 0; i < DRAWS; i++)
        below += distribution_draw(&d, &draws) < 222;
    cr_assert_float_eq(below / DRAWS, 0.5, 0.01);
}

Test(distribution, samples_and_mixtures)
{
    static const double samples[] = {1, 2, 3, 10}, shares[] = {0.75, 1};
    struct distribution parts[] = {{.kind = DISTRIBUTION_SAMPLES, .values = samples, .count = 4},
                                   distribution_fixed(100)};
    check(parts[0], 2.5, 0.5, 4, 4);
    check((struct distribution){.kind = DISTRIBUTION_MIXTURE, .values = shares, .parts = parts, .count = 2}, 50, 0.75,
          28, 42);
}
