/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of 106 bits: sums of two doubles, of which the second is at most half a unit in the last place of the first.
 * Source: T. J. Dekker, A floating-point technique for extending the available precision, Numerische Mathematik 18,
 * 1971, and Y. Hida, X. S. Li, D. H. Bailey, Algorithms for quad-double precision floating point arithmetic, ARITH-15,
 * 2001. */
#ifndef STAGESIM_ROUNDED_PAIR_H
#define STAGESIM_ROUNDED_PAIR_H

#include <float.h>

_Static_assert(FLT_EVAL_METHOD == 0,
               "sums and products of doubles have to be rounded to doubles (i386: -msse2 -mfpmath=sse)");

struct pair {
    double high, low;
};

/* The exact sum of two doubles. */
static inline struct pair pair_sum(double a, double b)
{
    double sum = a + b, part = sum - a;
    return (struct pair){sum, (a - (sum - part)) + (b - part)};
}

/* The same, where the second is not the larger one. */
static inline struct pair pair_ordered(double a, double b)
{
    double sum = a + b;
    return (struct pair){sum, b - (sum - a)};
}

/* The exact product of two doubles below 2^990. */
static inline struct pair pair_product(double a, double b)
{
    const double half = 134217729; /* 2^27 + 1 divides the bits of a number in two */
    double product = a * b, wide_a = half * a, wide_b = half * b;
    double high_a = wide_a - (wide_a - a), high_b = wide_b - (wide_b - b), low_a = a - high_a, low_b = b - high_b;
    return (struct pair){product, ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b};
}

static inline struct pair pair_add(struct pair a, struct pair b)
{
    struct pair high = pair_sum(a.high, b.high), low = pair_sum(a.low, b.low);
    high = pair_ordered(high.high, high.low + low.high);
    return pair_ordered(high.high, high.low + low.low);
}

static inline struct pair pair_scale(struct pair a, double by)
{
    struct pair product = pair_product(a.high, by);
    return pair_ordered(product.high, product.low + a.low * by);
}

static inline struct pair pair_multiply(struct pair a, struct pair b)
{
    struct pair product = pair_product(a.high, b.high);
    return pair_ordered(product.high, product.low + (a.high * b.low + a.low * b.high));
}

static inline struct pair pair_divide(struct pair a, struct pair b)
{
    double first = a.high / b.high;
    struct pair rest = pair_add(a, pair_scale(b, -first));
    double second = rest.high / b.high;
    rest = pair_add(rest, pair_scale(b, -second));
    struct pair quotient = pair_ordered(first, second);
    return pair_add(quotient, (struct pair){rest.high / b.high, 0});
}

#endif
