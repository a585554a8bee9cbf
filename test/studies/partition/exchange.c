/* SPDX-License-Identifier: Apache-2.0 */
/* What two groups exchange, against the paper's tables and against tensors whose elements are counted one by one. */
#include "studies/partition/exchange.h"

#include <criterion/criterion.h>

static double received(enum partition_type from, enum partition_type to, double elements, double share)
{
    struct partition_exchange exchange =
        partition_exchange_between(partition_layout_out(from), partition_layout_in(to), elements);
    return partition_exchange_elements(&exchange, share);
}

/* Table of communication between layers: F and E of the boundary have as many elements. */
Test(exchange, between_types)
{
    const double elements = 1000, shares[] = {0.5, 0.25, 0.7};
    for (int i = 0; i < 3; i++) {
        double a = shares[i], b = 1 - a, both = 2 * a * b * elements, half = b * elements;
        const double table[PARTITION_TYPES][PARTITION_TYPES] = {{0, both, half}, {half, half, 0}, {both, 0, half}};
        for (unsigned from = 0; from < PARTITION_TYPES; from++)
            for (unsigned to = 0; to < PARTITION_TYPES; to++)
                cr_assert_float_eq(received(from, to, elements, a), table[from][to], 1e-9, "%u to %u", from, to);
    }
}

Test(exchange, inside_layers)
{
    const double expected[PARTITION_TYPES] = {7, 13, 11};
    for (unsigned type = 0; type < PARTITION_TYPES; type++) {
        struct partition_exchange exchange = partition_exchange_inside(type, 7, 11, 13);
        cr_assert_eq(partition_exchange_elements(&exchange, 0.3), expected[type]);
    }
}

/* Whether a group has, or needs, an element: the first group has the first `cut` rows and columns of `size`. */
static int is_there(enum partition_layout layout, int group, int row, int column, int rows, int columns)
{
    if (layout == PARTITION_WHOLE)
        return 1;
    return layout == PARTITION_ROWS ? (row >= rows) == group : (column >= columns) == group;
}

static int count_missing(enum partition_layout has, enum partition_layout needs, int group, int size, int cut)
{
    int missing = 0;
    for (int row = 0; row < size; row++)
        for (int column = 0; column < size; column++)
            missing += is_there(needs, group, row, column, cut, cut) && !is_there(has, group, row, column, cut, cut);
    return missing;
}

Test(exchange, counted_elements)
{
    enum { SIZE = 20 };
    for (int cut = 1; cut < SIZE; cut++)
        for (unsigned from = 0; from < 3; from++)
            for (unsigned to = 0; to < 3; to++)
                for (int group = 0; group < 2; group++) {
                    struct partition_exchange exchange = partition_exchange_between(from, to, SIZE * SIZE);
                    double share = (double)(group ? SIZE - cut : cut) / SIZE;
                    int missing = count_missing(from, to, group, SIZE, cut) + count_missing(to, from, group, SIZE, cut);
                    cr_assert_float_eq(partition_exchange_elements(&exchange, share), missing, 1e-9);
                }
}
