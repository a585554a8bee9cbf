/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random/distribution.h"

#include "base/rounded/rounded.h"

#include <math.h>
#include <stdbool.h>

/* ---- by what people know of them ---- */

struct distribution distribution_fixed(double value)
{
    return (struct distribution){.kind = DISTRIBUTION_FIXED, .a = value};
}

struct distribution distribution_exponential(double mean)
{
    return (struct distribution){.kind = DISTRIBUTION_EXPONENTIAL, .a = mean};
}

struct distribution distribution_log_normal(double mean, double deviation)
{
    double variance = rounded_log1p(deviation / mean * (deviation / mean));
    return (struct distribution){
        .kind = DISTRIBUTION_LOG_NORMAL, .a = rounded_log(mean) - variance / 2, .b = sqrt(variance)};
}

struct distribution distribution_log_normal_of_median(double median, double mean)
{
    return (struct distribution){
        .kind = DISTRIBUTION_LOG_NORMAL, .a = rounded_log(median), .b = sqrt(2 * rounded_log(mean / median))};
}

struct distribution distribution_gamma(double mean, double deviation)
{
    return (struct distribution){
        .kind = DISTRIBUTION_GAMMA, .a = deviation / mean * deviation, .b = mean / deviation * (mean / deviation)};
}

/* Euler's gamma function from 1 on: C. Lanczos, "A precision approximation of the gamma function", 1964, with g = 7. */
static double gamma_function(double x)
{
    static const double terms[] = {0.99999999999980993,  676.5203681218851,     -1259.1392167224028,
                                   771.32342877765313,   -176.61502916214059,   12.507343278686905,
                                   -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};
    double sum = terms[0], base = x + 6.5;
    for (int i = 1; i < 9; i++)
        sum += terms[i] / (x - 1 + i);
    return 2.5066282746310005 * rounded_exp((x - 0.5) * rounded_log(base) - base) * sum;
}

struct distribution distribution_weibull(double mean, double shape)
{
    return (struct distribution){.kind = DISTRIBUTION_WEIBULL, .a = mean / gamma_function(1 + 1 / shape), .b = shape};
}

/* ---- drawing ---- */

/* With scale 1: G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables", 2000. */
static double draw_gamma(double shape, struct draws *draws)
{
    if (shape < 1)
        return draw_gamma(shape + 1, draws) * rounded_pow(1 - draw_unit(draws), 1 / shape);
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = draw_normal(draws), root = 1 + c * x, v = root * root * root;
        double u = 1 - draw_unit(draws);
        if (root > 0 && rounded_log(u) < x * x / 2 + d - d * v + d * rounded_log(v))
            return d * v;
    }
}

static double draw_above(double mean, double deviation, struct draws *draws)
{
    double value;
    do
        value = mean + deviation * draw_normal(draws);
    while (value < 0);
    return value;
}

static const struct distribution *draw_part(const struct distribution *mixture, struct draws *draws)
{
    double unit = draw_unit(draws);
    size_t part = 0;
    while (part + 1 < mixture->count && unit >= mixture->values[part])
        part++;
    return &mixture->parts[part];
}

static double draw_simple(const struct distribution *d, struct draws *draws)
{
    switch (d->kind) {
    case DISTRIBUTION_UNIFORM:
        return d->a + (d->b - d->a) * draw_unit(draws);
    case DISTRIBUTION_EXPONENTIAL:
        return d->a * draw_exponential(draws);
    case DISTRIBUTION_NORMAL:
        return draw_above(d->a, d->b, draws);
    case DISTRIBUTION_LOG_NORMAL:
        return rounded_exp(d->a + d->b * draw_normal(draws));
    case DISTRIBUTION_GAMMA:
        return d->a * draw_gamma(d->b, draws);
    case DISTRIBUTION_WEIBULL:
        return d->a * rounded_pow(draw_exponential(draws), 1 / d->b);
    case DISTRIBUTION_SAMPLES:
        return d->values[draw_below(draws, d->count)];
    default:
        return d->a;
    }
}

double distribution_draw(const struct distribution *distribution, struct draws *draws)
{
    bool mixture = distribution->kind == DISTRIBUTION_MIXTURE;
    return draw_simple(mixture ? draw_part(distribution, draws) : distribution, draws);
}

/* ---- means ---- */

static double simple_mean(const struct distribution *d)
{
    double sum = 0;
    switch (d->kind) {
    case DISTRIBUTION_UNIFORM:
        return (d->a + d->b) / 2;
    case DISTRIBUTION_LOG_NORMAL:
        return rounded_exp(d->a + d->b * d->b / 2);
    case DISTRIBUTION_GAMMA:
        return d->a * d->b;
    case DISTRIBUTION_WEIBULL:
        return d->a * gamma_function(1 + 1 / d->b);
    case DISTRIBUTION_SAMPLES:
        for (size_t i = 0; i < d->count; i++)
            sum += d->values[i];
        return sum / (double)d->count;
    default:
        return d->a;
    }
}

double distribution_mean(const struct distribution *distribution)
{
    double mean = 0;
    if (distribution->kind != DISTRIBUTION_MIXTURE)
        return simple_mean(distribution);
    for (size_t i = 0; i < distribution->count; i++)
        mean +=
            (distribution->values[i] - (i ? distribution->values[i - 1] : 0)) * simple_mean(&distribution->parts[i]);
    return mean;
}
