/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rounded/rounded.h"

#include "base/rounded/pair.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Below this, 1 + value rounds to 1 and value + value^2 to value. */
#define TINY 0x1p-60
/* e^x is infinite above the one, and 0 below the other. */
enum { EXP_MOST = 710, EXP_LEAST = -746, WHOLE_POWER_MOST = 64 };

static const struct pair one = {1, 0};
static const struct pair ln2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
static const struct pair over_ln2 = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
static const struct pair over_ln10 = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
/* ln 2 in parts of 41 bits: products with numbers of 12 bits are exact. */
static const double ln2_parts[] = {0x1.62e42fefa3000p-1, 0x1.3de6af278e000p-42, 0x1.9cc01f97b5000p-83,
                                   0x1.e81e6864ce531p-125};
/* 1/3!, 1/4!, ... 1/10! */
static const struct pair over_factorials[] = {
    {0x1.5555555555555p-3, 0x1.5555555555555p-57},   {0x1.5555555555555p-5, 0x1.5555555555555p-59},
    {0x1.1111111111111p-7, 0x1.1111111111111p-63},   {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
    {0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},  {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
    {0x1.71de3a556c734p-19, -0x1.c154f8ddc6c00p-73}, {0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76},
};

/* e^value - 1 for values of at most 0.35: a Taylor series of value / 512, and (1 + y)^2 - 1 = 2 y + y^2 nine times. */
static struct pair small_expm1(struct pair value)
{
    struct pair x = {value.high / 512, value.low / 512};
    double last = over_factorials[7].high; /* what is 2^-50 of the sum needs 53 bits */
    for (int i = 6; i >= 4; i--)
        last = last * x.high + over_factorials[i].high;
    struct pair sum = {last, 0};
    for (int i = 3; i >= 0; i--)
        sum = pair_add(pair_multiply(sum, x), over_factorials[i]);
    sum = pair_add(pair_multiply(sum, x), (struct pair){0.5, 0});
    sum = pair_add(pair_multiply(pair_multiply(sum, x), x), x);
    for (int i = 0; i < 9; i++)
        sum = pair_add((struct pair){2 * sum.high, 2 * sum.low}, pair_multiply(sum, sum));
    return sum;
}

/* value = *twos ln 2 + the result, which is at most 0.35. */
static struct pair reduce(struct pair value, int *twos)
{
    double times = nearbyint(value.high * over_ln2.high);
    for (int i = 0; i < 4; i++)
        value = pair_add(value, (struct pair){-times * ln2_parts[i], 0});
    *twos = (int)times;
    return value;
}

/* value 2^twos, rounded once, also where the result has fewer bits than others. */
static double scaled(struct pair value, int twos)
{
    double result = ldexp(value.high, twos);
    if (fabs(result) >= DBL_MIN || value.high == 0)
        return result;
    double above = copysign(ldexp(1, -1022 - twos), value.high);
    return ldexp(pair_add((struct pair){above, 0}, value).high - above, twos);
}

/* e^value, for values that are numbers. */
static double exp_of(struct pair value)
{
    if (value.high > EXP_MOST)
        return INFINITY;
    if (value.high < EXP_LEAST)
        return 0;
    int twos;
    struct pair rest = reduce(value, &twos);
    return scaled(pair_add(one, small_expm1(rest)), twos);
}

double rounded_exp(double value)
{
    return isnan(value) ? value : exp_of((struct pair){value, 0});
}

double rounded_exp2(double value)
{
    if (isnan(value) || value > 1024)
        return value > 1024 ? INFINITY : value;
    if (value < -1076)
        return 0;
    double whole = nearbyint(value);
    return scaled(pair_add(one, small_expm1(pair_scale(ln2, value - whole))), (int)whole);
}

double rounded_expm1(double value)
{
    if (isnan(value) || fabs(value) < TINY)
        return value;
    if (value > EXP_MOST)
        return INFINITY;
    if (value < -60)
        return -1;
    int twos;
    struct pair power = small_expm1(reduce((struct pair){value, 0}, &twos));
    if (!twos)
        return power.high;
    power = pair_add(one, power); /* half of it is scaled: 2^1024 is no double */
    power = (struct pair){ldexp(power.high, twos - 1), ldexp(power.low, twos - 1)};
    return pair_add(power, (struct pair){-0.5, 0}).high * 2;
}

/* 1/3, 1/5, ... 1/45 */
static const struct pair over_odd[] = {
    {0x1.5555555555555p-2, 0x1.5555555555555p-56},  {0x1.999999999999ap-3, -0x1.999999999999ap-57},
    {0x1.2492492492492p-3, 0x1.2492492492492p-57},  {0x1.c71c71c71c71cp-4, 0x1.c71c71c71c71cp-58},
    {0x1.745d1745d1746p-4, -0x1.745d1745d1746p-59}, {0x1.3b13b13b13b14p-4, -0x1.3b13b13b13b14p-58},
    {0x1.1111111111111p-4, 0x1.1111111111111p-60},  {0x1.e1e1e1e1e1e1ep-5, 0x1.e1e1e1e1e1e1ep-61},
    {0x1.af286bca1af28p-5, 0x1.af286bca1af28p-59},  {0x1.8618618618618p-5, 0x1.8618618618618p-59},
    {0x1.642c8590b2164p-5, 0x1.642c8590b2164p-60},  {0x1.47ae147ae147bp-5, -0x1.eb851eb851eb8p-61},
    {0x1.2f684bda12f68p-5, 0x1.2f684bda12f68p-59},  {0x1.1a7b9611a7b96p-5, 0x1.1a7b9611a7b96p-61},
    {0x1.0842108421084p-5, 0x1.0842108421084p-60},  {0x1.f07c1f07c1f08p-6, -0x1.f07c1f07c1f08p-61},
    {0x1.d41d41d41d41dp-6, 0x1.0750750750750p-60},  {0x1.bacf914c1bad0p-6, -0x1.bacf914c1bad0p-60},
    {0x1.a41a41a41a41ap-6, 0x1.0690690690690p-60},  {0x1.8f9c18f9c18fap-6, -0x1.f3831f3831f38p-61},
    {0x1.7d05f417d05f4p-6, 0x1.7d05f417d05f4p-62},  {0x1.6c16c16c16c17p-6, -0x1.f49f49f49f49fp-61},
};

/* value = 2^*twos m with m in [sqrt(1/2), sqrt(2)]; returns log m = 2 (z + z^3/3 + z^5/5 + ...), z = (m - 1)/(m + 1).
 */
static struct pair log_parts(struct pair value, int *twos)
{
    double part = frexp(value.high, twos);
    if (part < M_SQRT1_2)
        --*twos;
    struct pair m = {ldexp(value.high, -*twos), ldexp(value.low, -*twos)};
    struct pair z = pair_divide(pair_add(m, (struct pair){-1, 0}), pair_add(m, one));
    struct pair square = pair_multiply(z, z);
    double last = over_odd[21].high; /* what is 2^-50 of the sum needs 53 bits */
    for (int i = 20; i >= 10; i--)
        last = last * square.high + over_odd[i].high;
    struct pair sum = {last, 0};
    for (int i = 9; i >= 0; i--)
        sum = pair_add(pair_multiply(sum, square), over_odd[i]);
    sum = pair_add(pair_multiply(pair_multiply(sum, square), z), z);
    return (struct pair){2 * sum.high, 2 * sum.low};
}

static struct pair log_of(struct pair value)
{
    int twos;
    struct pair rest = log_parts(value, &twos);
    return pair_add(pair_scale(ln2, twos), rest);
}

/* Whether value has a logarithm that is a number; else *out is what C's functions return. */
static bool has_log(double value, double *out)
{
    *out = value < 0 ? NAN : value == 0 ? -INFINITY : value;
    return value > 0 && value < INFINITY;
}

double rounded_log(double value)
{
    double other;
    return has_log(value, &other) ? log_of((struct pair){value, 0}).high : other;
}

double rounded_log2(double value)
{
    double other;
    if (!has_log(value, &other))
        return other;
    int twos;
    struct pair rest = log_parts((struct pair){value, 0}, &twos);
    return pair_add((struct pair){twos, 0}, pair_multiply(rest, over_ln2)).high;
}

double rounded_log10(double value)
{
    double other;
    return has_log(value, &other) ? pair_multiply(log_of((struct pair){value, 0}), over_ln10).high : other;
}

double rounded_log1p(double value)
{
    double other;
    if (fabs(value) < TINY)
        return value;
    if (!has_log(1 + value, &other))
        return other;
    return log_of(pair_sum(1, value)).high;
}

/* base^exponent by products: exact where the result has at most 106 bits. */
static double whole_power(double base, int exponent)
{
    int twos;
    double part = frexp(base, &twos);
    struct pair power = one;
    for (int i = 0; i < (exponent < 0 ? -exponent : exponent); i++)
        power = pair_scale(power, part);
    return scaled(exponent < 0 ? pair_divide(one, power) : power, twos * exponent);
}

/* Where no rounding is needed: C11, F.10.4.4. */
static double special_power(double base, double exponent)
{
    bool whole = nearbyint(exponent) == exponent, odd = whole && fabs(fmod(exponent, 2)) == 1;
    if (exponent == 0 || base == 1)
        return 1;
    if (isnan(base) || isnan(exponent))
        return base + exponent;
    if (isinf(exponent))
        return base == -1 ? 1 : (fabs(base) > 1) == (exponent > 0) ? INFINITY : 0;
    if (base == 0 || isinf(base)) {
        double size = (base == 0) == (exponent > 0) ? 0 : INFINITY;
        return odd ? copysign(size, base) : size;
    }
    return whole ? (odd ? -1 : 1) * rounded_pow(-base, exponent) : NAN; /* a negative base */
}

double rounded_pow(double base, double exponent)
{
    if (!(base > 0) || isinf(base) || !isfinite(exponent) || base == 1 || exponent == 0)
        return special_power(base, exponent);
    if (fabs(exponent) <= WHOLE_POWER_MOST && nearbyint(exponent) == exponent)
        return whole_power(base, (int)exponent);
    if (fabs(exponent) < 0x1p-70)
        return 1;
    struct pair logarithm = log_of((struct pair){base, 0});
    double rough = logarithm.high * exponent;
    if (rough > EXP_MOST || rough < EXP_LEAST)
        return rough > 0 ? INFINITY : 0;
    return exp_of(pair_scale(logarithm, exponent));
}
