/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/tails/quantile.h"

#include "base/rounded/rounded.h"

#include <math.h>

/* Chance on either side of an interval. */
static const double OUTSIDE = 0.025;

/* ---- quantiles ---- */

static double log_choose(uint32_t n, uint32_t k)
{
    double sum = 0;
    uint32_t least = k < n - k ? k : n - k;
    for (uint32_t i = 1; i <= least; i++)
        sum += rounded_log((double)(n - least + i) / i);
    return sum;
}

/* The chance of exactly k, going up from the one below it. */
static double next_chance(double chance, uint32_t n, uint32_t k, double share)
{
    return chance * (n - k + 1.0) / k * share / (1 - share);
}

struct tails_quantile quantile_of(const double *sorted, uint32_t count, double share)
{
    uint32_t place = (uint32_t)fmax(1, ceil(share * count - 1e-9)), low = 0, high = count;
    /* From a number so small that nothing is below it, and whose chance can be written down. */
    double spread = sqrt(count * share * (1 - share));
    uint32_t first = (uint32_t)fmax(0, floor(share * count - 12 * spread - 12));
    double chance =
        rounded_exp(log_choose(count, first) + first * rounded_log(share) + (count - first) * rounded_log1p(-share));
    double up_to = chance; /* that at most k values are below the quantile */
    for (uint32_t k = first; k < count; k++) {
        if (k > first)
            up_to += chance = next_chance(chance, count, k, share);
        if (up_to <= OUTSIDE)
            low = k + 1; /* value low (from 1) is above the quantile with at most this chance */
        if (up_to >= 1 - OUTSIDE) {
            high = k + 1;
            break;
        }
    }
    return (struct tails_quantile){sorted[place - 1], sorted[low ? low - 1 : 0], sorted[high - 1]};
}

/* ---- means ---- */

struct controlled_mean controlled_mean_of(const double *values, const double *controls, double control_mean,
                                          uint32_t count)
{
    double mean = 0, control = 0, squares = 0, control_squares = 0, products = 0;
    for (uint32_t i = 0; i < count; i++) {
        mean += values[i] / count;
        control += controls[i] / count;
    }
    for (uint32_t i = 0; i < count; i++) {
        double a = values[i] - mean, b = controls[i] - control;
        squares += a * a;
        control_squares += b * b;
        products += a * b;
    }
    double slope = control_squares > 0 ? products / control_squares : 0, left = fmax(0, squares - slope * products);
    struct controlled_mean result = {mean, 0, 0};
    result.mean -= slope * (control - control_mean);
    if (count > 2) {
        result.error = sqrt(left / (count - 2.0) / count);
        result.plain_error = sqrt(squares / (count - 1.0) / count);
    }
    return result;
}
