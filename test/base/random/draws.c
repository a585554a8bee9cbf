/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random/draws.h"

#include <criterion/criterion.h>
#include <math.h>

/* The C library's error function has the same quantile, by another way. */
Test(draws, the_normal_share_is_that_of_the_error_function)
{
    for (int i = -8000; i <= 8000; i++) {
        double x = i / 1000.0, p = 0.5 * erfc(-x / sqrt(2)), found = normal_below(x);
        cr_assert(fabs(found - p) <= 2e-14 * p, "%g: %.17g for %.17g", x, found, p);
    }
    cr_assert(normal_below(-40) >= 0 && normal_below(-40) < 1e-300 && normal_below(40) == 1);
}

Test(draws, the_normal_quantile_is_the_inverse_of_the_error_function)
{
    for (int i = 1; i < 2000; i++) {
        double p = i / 2000.0, x = normal_quantile(p);
        cr_assert_float_eq(erfc(-x / sqrt(2)) / 2, p, 4e-15, "%g", p);
    }
    for (int exponent = 4; exponent < 300; exponent += 7) {
        double p = pow(10, -exponent), x = normal_quantile(p);
        cr_assert_float_eq(erfc(-x / sqrt(2)) / 2 / p, 1, 1e-11, "%g", p);
    }
    cr_assert_eq(normal_quantile(0.5), 0);
    cr_assert_float_eq(normal_quantile(0.975), 1.959963984540054, 1e-14);
}

/* Published with the algorithm: the first numbers of the seed 1234567. */
Test(draws, bits_are_those_of_splitmix64)
{
    struct draws draws = {1234567};
    cr_assert_eq(draw_bits(&draws), UINT64_C(6457827717110365317));
    cr_assert_eq(draw_bits(&draws), UINT64_C(3203168211198807973));
}

/* The first numbers of neighbouring streams are spread as those of one stream are: chi square of 16 classes, below its
 * quantile of 99.9 %. */
static void check_spread(uint64_t seeds, uint64_t purposes, uint64_t entities)
{
    enum { CLASSES = 16 };
    double counts[CLASSES] = {0}, all = (double)(seeds * purposes * entities), sum = 0;
    for (uint64_t seed = 0; seed < seeds; seed++)
        for (uint64_t purpose = 0; purpose < purposes; purpose++)
            for (uint64_t entity = 0; entity < entities; entity++) {
                struct draws draws = draws_of(seed, purpose, entity);
                counts[(int)(CLASSES * draw_unit(&draws))]++;
            }
    for (int i = 0; i < CLASSES; i++)
        sum += (counts[i] - all / CLASSES) * (counts[i] - all / CLASSES) / (all / CLASSES);
    cr_assert_lt(sum, 37.7);
}

Test(draws, streams_that_differ_in_one_number_have_nothing_in_common)
{
    check_spread(1, 1, 20000);
    check_spread(1, 20000, 1);
    check_spread(20000, 1, 1);
    check_spread(30, 30, 30);
    struct draws first = draws_of(3, 4, 5), second = draws_of(3, 5, 4), third = draws_of(4, 3, 5);
    cr_assert(first.state != second.state && first.state != third.state && second.state != third.state);
}

Test(draws, whole_numbers_and_means)
{
    enum { DRAWS = 60000 };
    struct draws draws = {9};
    double counts[6] = {0}, exponential = 0, normal = 0, square = 0;
    for (int i = 0; i < DRAWS; i++) {
        double x = draw_normal(&draws);
        counts[draw_below(&draws, 6)]++;
        exponential += draw_exponential(&draws) / DRAWS;
        normal += x / DRAWS;
        square += x * x / DRAWS;
    }
    for (int i = 0; i < 6; i++)
        cr_assert_float_eq(counts[i], DRAWS / 6.0, 5 * sqrt(DRAWS / 6.0));
    cr_assert_float_eq(exponential, 1, 4 / sqrt(DRAWS));
    cr_assert_float_eq(normal, 0, 4 / sqrt(DRAWS));
    cr_assert_float_eq(square, 1, 4 * sqrt(2.0 / DRAWS));
}
