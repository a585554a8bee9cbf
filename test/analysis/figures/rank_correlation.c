/* SPDX-License-Identifier: Apache-2.0 */
/* Spearman's coefficient against 1 - 6 sum d^2 / (n^3 - n), which holds where no two values are equal. */
#include "analysis/figures/rank_correlation.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { COUNT = 9 };

static void shuffle(double *values)
{
    for (int i = 0; i < COUNT; i++)
        values[i] = i + 1;
    for (int i = COUNT - 1; i > 0; i--) {
        int other = rand() % (i + 1);
        double swap = values[i];
        values[i] = values[other];
        values[other] = swap;
    }
}

Test(rank_correlation, of_permutations)
{
    srand(3);
    for (int round = 0; round < 200; round++) {
        double left[COUNT], right[COUNT], squares = 0;
        shuffle(left);
        shuffle(right);
        for (int i = 0; i < COUNT; i++)
            squares += (left[i] - right[i]) * (left[i] - right[i]);
        for (int i = 0; i < COUNT; i++) {
            left[i] = exp(left[i]); /* only the order counts */
            right[i] = -1 / right[i];
        }
        cr_assert_float_eq(rank_correlation(left, right, COUNT), 1 - 6 * squares / (COUNT * COUNT * COUNT - COUNT),
                           1e-12);
    }
}

Test(rank_correlation, equal_values_share_the_mean_of_their_ranks)
{
    double values[] = {5, 1, 5, 7, 5}, ranks[5], expected[] = {3, 1, 3, 5, 3};
    rank_values(values, 5, ranks);
    for (int i = 0; i < 5; i++)
        cr_assert_eq(ranks[i], expected[i]);
}

Test(rank_correlation, is_not_known_of_one_value_or_equal_ones)
{
    double values[] = {1, 2, 3}, same[] = {4, 4, 4};
    cr_assert(isnan(rank_correlation(values, values, 1)));
    cr_assert(isnan(rank_correlation(values, same, 3)));
    cr_assert_eq(rank_correlation(values, values, 3), 1);
}
