/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random/draws.h"

#include "base/rounded/rounded.h"

#include <math.h>
#include <stddef.h>

uint64_t draw_bits(struct draws *draws)
{
    uint64_t z = draws->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Each number goes through a whole round before the next one is added. */
struct draws draws_of(uint64_t seed, uint64_t purpose, uint64_t entity)
{
    struct draws draws = {seed};
    draws.state = draw_bits(&draws) + purpose;
    draws.state = draw_bits(&draws) + entity;
    draws.state = draw_bits(&draws);
    return draws;
}

double draw_unit(struct draws *draws)
{
    return (double)(draw_bits(draws) >> 11) * 0x1p-53;
}

uint64_t draw_below(struct draws *draws, uint64_t count)
{
    uint64_t most = UINT64_MAX - UINT64_MAX % count, number;
    do
        number = draw_bits(draws);
    while (number >= most);
    return number % count;
}

double draw_exponential(struct draws *draws)
{
    return -rounded_log(1 - draw_unit(draws));
}

double draw_normal(struct draws *draws)
{
    return normal_quantile(draw_unit(draws) + 0x1p-54); /* the middle of 2^53 equal parts */
}

/* ---- the normal quantile ---- */

enum { TERMS = 8 };

struct fraction {
    double above[TERMS], below[TERMS]; /* coefficients of rising powers */
};

static const struct fraction middle = {
    {3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
     4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3},
    {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3, 2.1213794301586595867e+4,
     3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3}};
static const struct fraction outer = {
    {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4},
    {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1, 1.48103976427480074590e-1,
     1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}};
static const struct fraction tail = {
    {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2, 7.86869131145613259100e-4,
     1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}};

static double fraction_at(const struct fraction *fraction, double x)
{
    double above = 0, below = 0;
    for (size_t i = TERMS; i-- > 0;) {
        above = above * x + fraction->above[i];
        below = below * x + fraction->below[i];
    }
    return above / below;
}

double normal_quantile(double probability)
{
    double from_middle = probability - 0.5;
    if (fabs(from_middle) <= 0.425)
        return from_middle * fraction_at(&middle, 0.180625 - from_middle * from_middle);
    double far = sqrt(-rounded_log(from_middle < 0 ? probability : 1 - probability));
    double value = far <= 5 ? fraction_at(&outer, far - 1.6) : fraction_at(&tail, far - 5);
    return from_middle < 0 ? -value : value;
}

enum { NORMAL_TERMS = 120 };

double normal_below(double value)
{
    static const double root_of_two_pi = 2.50662827463100050242, series_up_to = 2;
    double x = fabs(value), density = rounded_exp(-0.5 * x * x) / root_of_two_pi;
    if (x > series_up_to) {
        double below = x;
        for (unsigned term = NORMAL_TERMS; term > 0; term--)
            below = x + term / below;
        return value < 0 ? density / below : 1 - density / below;
    }
    double sum = x, term = x;
    for (unsigned k = 1; k < NORMAL_TERMS; k++) {
        term *= x * x / (2 * k + 1);
        sum += term;
    }
    return value < 0 ? 0.5 - density * sum : 0.5 + density * sum;
}
