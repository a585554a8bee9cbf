/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/tails/quick_draw.h"

#include "base/arena.h"
#include "base/rounded/rounded.h"

#include <stdbool.h>

/* Cells of equal probability. In as many at either end quantiles are too far apart for straight lines. */
enum { CELLS = 4096, ENDS = 64 };

/* Kinds that take one number of a stream, of which they are a rising function. */
static bool has_quantiles(const struct distribution *d)
{
    return d &&
           (d->kind == DISTRIBUTION_UNIFORM || d->kind == DISTRIBUTION_EXPONENTIAL || d->kind == DISTRIBUTION_NORMAL ||
            d->kind == DISTRIBUTION_LOG_NORMAL || d->kind == DISTRIBUTION_WEIBULL);
}

static double quantile(const struct distribution *d, double unit)
{
    switch (d->kind) {
    case DISTRIBUTION_UNIFORM:
        return d->a + (d->b - d->a) * unit;
    case DISTRIBUTION_EXPONENTIAL:
        return -d->a * rounded_log(1 - unit);
    case DISTRIBUTION_NORMAL:
        return d->a + d->b * normal_quantile(unit + 0x1p-54);
    case DISTRIBUTION_LOG_NORMAL:
        return rounded_exp(d->a + d->b * normal_quantile(unit + 0x1p-54));
    default:
        return d->a * rounded_pow(-rounded_log(1 - unit), 1 / d->b);
    }
}

struct quick_draw quick_draw_of(const struct distribution *distribution, struct arena *arena)
{
    if (!has_quantiles(distribution))
        return (struct quick_draw){distribution, NULL};
    double *quantiles = arena_array(arena, CELLS + 1, sizeof *quantiles);
    for (int i = ENDS; i <= CELLS - ENDS; i++)
        quantiles[i] = quantile(distribution, (double)i / CELLS);
    return (struct quick_draw){distribution, quantiles};
}

double quick_draw(const struct quick_draw *quick, struct draws *draws)
{
    if (!quick->distribution)
        return 1;
    if (!quick->quantiles)
        return distribution_draw(quick->distribution, draws);
    double unit = draw_unit(draws), place = unit * CELLS;
    int cell = (int)place;
    if (cell >= ENDS && cell < CELLS - ENDS)
        return quick->quantiles[cell] + (place - cell) * (quick->quantiles[cell + 1] - quick->quantiles[cell]);
    double value = quantile(quick->distribution, unit);
    return value < 0 ? distribution_draw(quick->distribution, draws) : value;
}
