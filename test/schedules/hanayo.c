/* SPDX-License-Identifier: Apache-2.0 */
/* Hanayo: regression values of the list schedule, and the published ratio within a tolerance: it is approximate. */
#include "test/schedules/harness.h"

#include <criterion/criterion.h>
#include <math.h>

static struct outcome waves(uint32_t D, uint32_t N, int64_t W, struct times times)
{
    struct schedule_request request = harness_request("hanayo", D, N, NULL);
    request.options[0] = W;
    request.forward = times.forward;
    request.backward = times.backward;
    return harness_run("hanayo", &request, times);
}

/* Bubble ratios for N = D, t_B = 2 t_F and waves 1, 2, 4, to three digits; (2D - 2) / (3DW + D - 1) is what is
 * published. */
Test(hanayo, ratios)
{
    static const struct {
        uint32_t workers;
        double ratios[3];
    } rows[] = {{4, {0.333, 0.213, 0.119}}, {8, {0.368, 0.238, 0.135}}};
    for (size_t row = 0; row < 2; row++)
        for (unsigned i = 0; i < 3; i++) {
            double D = rows[row].workers, W = 1u << i;
            double ratio = waves(rows[row].workers, rows[row].workers, (int64_t)W, (struct times){1, 2, 0, 0, 0}).ratio;
            cr_expect_float_eq(ratio, rows[row].ratios[i], 0.0005, "D=%g W=%g: %.4f", D, W, ratio);
            double published = (2 * D - 2) / (3 * D * W + D - 1);
            cr_expect_leq(fabs(ratio - published), W == 1 ? 0.09 : 0.02, "D=%g W=%g: %.4f, published %.4f", D, W, ratio,
                          published);
        }
}

/* Stashes stay below two micro-batches for each worker however many micro-batches there are, and the bubble shrinks. */
Test(hanayo, memory_and_bubble_with_many_micro_batches)
{
    for (uint32_t D = 1; D <= 16; D = 2 * D + (D == 2))
        for (int64_t W = 1; W <= 4; W *= 2) {
            struct outcome base = waves(D, D, W, (struct times){1, 2, 0, 0, 0});
            struct outcome many = waves(D, 16 * D, W, (struct times){1, 2, 0, 0, 0});
            cr_expect_leq(base.peak_most, D, "D=%u W=%d: %g", D, (int)W, base.peak_most);
            cr_expect_leq(many.peak_most, 2 * D - 1, "D=%u W=%d: %g", D, (int)W, many.peak_most);
            cr_expect_leq(many.ratio, fmax(base.ratio / 3, 1e-9), "D=%u W=%d: %g, %g", D, (int)W, many.ratio,
                          base.ratio);
            cr_expect_geq(many.makespan, 16 * D * 3.0 - 1e-9);
        }
}

/* The order depends on the ratio of the times only, and any times give a possible order. */
Test(hanayo, any_times)
{
    static const struct times times[] = {{3, 6, 0, 0, 0},        {1, 1, 0, 0, 0}, {0.7, 1.1, 0, 0, 0},
                                         {1, 0.3, 0, 0, 0},      {0, 0, 0, 0, 0}, {1e-300, 1e300, 0, 0, 0},
                                         {1e308, 1e308, 0, 0, 0}};
    double unit = waves(5, 7, 2, (struct times){1, 2, 0, 0, 0}).makespan;
    cr_expect(harness_equal(waves(5, 7, 2, times[0]).makespan, 3 * unit));
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        for (uint32_t D = 1; D <= 6; D++)
            waves(D, D + 1, 3, times[i]);
}
