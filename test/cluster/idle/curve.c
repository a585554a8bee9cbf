/* SPDX-License-Identifier: Apache-2.0 */
/* Rates between, below and beyond the points that are given. */
#include "cluster/idle/curve.h"

#include "base/arena.h"

#include <criterion/criterion.h>

static void expect(double is, double should)
{
    cr_assert_float_eq(is, should, 1e-9, "is %.12g, expected %.12g", is, should);
}

Test(curve, lines_between_points)
{
    static const struct curve_point points[] = {{2, 20}, {4, 36}, {8, 60}};
    struct arena *arena = arena_create();
    struct curve curve = curve_create(points, 3, 1, 10, arena);
    const double rates[] = {0, 10, 20, 28, 36, 42, 48, 54, 60, 66, 72};
    for (uint32_t nodes = 0; nodes <= 10; nodes++)
        expect(curve.rate[nodes], rates[nodes]);
    expect(curve_between(&curve, 0.5), 5);
    expect(curve_between(&curve, 4.5), 39);
    expect(curve_between(&curve, 11), 72);
    arena_destroy(arena);
}

/* Where more nodes make it slower, nodes beyond add nothing; below the least size there is no rate. */
Test(curve, ends)
{
    static const struct curve_point points[] = {{1, 10}, {2, 30}, {3, 24}};
    struct arena *arena = arena_create();
    struct curve curve = curve_create(points, 3, 2, 5, arena);
    const double rates[] = {0, 0, 30, 24, 24, 24}, lines[] = {0, 0, 30, 45, 60, 75};
    struct curve linear = curve_linear(&curve, arena);
    for (uint32_t nodes = 0; nodes <= 5; nodes++) {
        expect(curve.rate[nodes], rates[nodes]);
        expect(linear.rate[nodes], lines[nodes]);
    }
    expect(curve_between(&curve, 1), 15);
    arena_destroy(arena);
}
