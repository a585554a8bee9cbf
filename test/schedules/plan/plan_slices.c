/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths of slices that take the same time, and where they end when they are multiples of something. */
#include "schedules/plan/plan_slices.h"

#include <criterion/criterion.h>
#include <math.h>

static struct plan *cut(uint32_t slices, double attention, double grain)
{
    struct plan *plan = plan_create(1, 1, 1, slices);
    plan_cut(plan, slices);
    plan_cut_balanced(plan, attention, grain);
    return plan;
}

Test(plan_slices, balanced_lengths)
{
    static const double known[] = {.3660, .2520, .2048, .1771};
    struct plan *plan = cut(4, 0.5, 0);
    for (uint32_t slice = 0; slice < 4; slice++)
        cr_expect_float_eq(plan_slice_length(plan, slice), known[slice], 5e-5, "%u: %g", slice,
                           plan_slice_length(plan, slice));
    plan_destroy(plan);
    for (double attention = 0; attention <= 1; attention += 0.125) {
        plan = cut(7, attention, 0);
        for (uint32_t slice = 0; slice < 7; slice++)
            cr_expect_float_eq(plan_slice_work(plan, slice, attention), 1.0 / 7, 1e-12);
        plan_destroy(plan);
    }
}

/* Of a sequence of 4,096 tokens in multiples of 8: 725.4, 838.9 and 1,032.2 are rounded down, the first gets the rest.
 */
Test(plan_slices, multiples)
{
    static const uint32_t tokens[] = {1512, 1032, 832, 720};
    struct plan *plan = cut(4, 0.5, 8 / 4096.0);
    for (uint32_t slice = 0; slice < 4; slice++)
        cr_expect_eq(plan_slice_length(plan, slice) * 4096, tokens[slice], "%u: %g", slice,
                     plan_slice_length(plan, slice) * 4096);
    plan_destroy(plan);
}

/* Equal lengths: slice q of n takes lin / n + att (2 q + 1) / n^2; exchanged attention makes all alike. */
Test(plan_slices, unequal_times)
{
    struct plan *plan = plan_create(1, 1, 1, 10);
    plan_cut(plan, 5);
    for (uint32_t number = 0; number < 10; number++) {
        double q = number % 5;
        cr_expect_float_eq(plan_slice_work(plan, number, 0.25), 0.75 / 5 + 0.25 * (2 * q + 1) / 25, 1e-12);
    }
    plan->even_slices = true;
    for (uint32_t number = 0; number < 10; number++)
        cr_expect_float_eq(plan_slice_work(plan, number, 0.25), 0.2, 1e-12);
    plan_destroy(plan);
}
