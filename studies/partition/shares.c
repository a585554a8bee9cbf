/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/partition/shares.h"

#include "studies/partition/partition.h"

#include <math.h>

/* ---- two groups ---- */

/* The polynomial that is 0 at the wanted share: first group's time less the second's. */
struct difference {
    double constant, linear, square;
};

static struct difference difference_of(const struct partition_side sides[2], const struct partition_exchange *exchange,
                                       double element_bytes)
{
    double first = element_bytes / sides[0].bandwidth, second = element_bytes / sides[1].bandwidth;
    return (struct difference){.constant = exchange->whole * (first - second) + exchange->other * first +
                                           sides[0].fixed - sides[1].fixed - sides[1].seconds,
                               .linear = sides[0].seconds + sides[1].seconds + exchange->product * (first - second) -
                                         exchange->other * (first + second),
                               .square = -exchange->product * (first - second)};
}

/* Its roots, without loss of digits where one is small; how many. */
static int roots_of(const struct difference *d, double roots[2])
{
    if (d->square == 0) {
        roots[0] = -d->constant / d->linear;
        return d->linear != 0;
    }
    double discriminant = d->linear * d->linear - 4 * d->square * d->constant;
    if (discriminant < 0)
        return 0;
    double q = -(d->linear + copysign(sqrt(discriminant), d->linear)) / 2;
    roots[0] = q / d->square;
    roots[1] = d->constant / q;
    return q != 0 ? 2 : 1;
}

double partition_side_time(const struct partition_side *side, const struct partition_exchange *exchange,
                           double element_bytes, double share)
{
    return share * side->seconds + side->fixed +
           partition_exchange_elements(exchange, share) * element_bytes / side->bandwidth;
}

double partition_share(const struct partition_side sides[2], const struct partition_exchange *exchange,
                       double element_bytes, bool *balanced)
{
    struct difference d = difference_of(sides, exchange, element_bytes);
    double roots[2], best = sides[1].seconds / (sides[0].seconds + sides[1].seconds), least = INFINITY;
    int count = roots_of(&d, roots);
    for (int i = 0; i < count; i++) {
        double time = partition_side_time(&sides[0], exchange, element_bytes, roots[i]);
        if (roots[i] > 0 && roots[i] < 1 && time < least) {
            least = time;
            best = roots[i];
        }
    }
    *balanced = least < INFINITY;
    return best;
}

/* ---- several kinds ---- */

enum { BISECTIONS = 120 };
/* A group with less has nothing. */
static const double share_least = 1e-6;

/* Shares with which a group takes at most a time: up to `low`, and from `high` on. */
struct allowed {
    double low, high; /* below 0 and above 1: none on that side */
};

static struct allowed allowed_within(const struct partition_side *side, const struct partition_exchange *exchange,
                                     double element_bytes, double time)
{
    double byte = element_bytes / side->bandwidth;
    struct difference d = {.constant = side->fixed + (exchange->whole + exchange->other) * byte - time,
                           .linear = side->seconds + (exchange->product - exchange->other) * byte,
                           .square = -exchange->product * byte};
    double roots[2];
    int count = roots_of(&d, roots);
    if (d.square == 0 && count)
        return d.linear > 0 ? (struct allowed){roots[0], 2} : (struct allowed){-1, roots[0]};
    if (count < 2)
        return d.constant <= 0 ? (struct allowed){1, 2} : (struct allowed){-1, 2};
    return (struct allowed){fmin(roots[0], roots[1]), fmax(roots[0], roots[1])};
}

/* Takes an interval of each kind, those by `choice` the upper one; false where their shares cannot add up to 1. */
static bool choose(const struct allowed *allowed, const uint32_t *groups, uint32_t kinds, uint32_t choice,
                   double *shares)
{
    double low[PARTITION_KINDS], high[PARTITION_KINDS], least = 0, most = 0;
    for (uint32_t k = 0; k < kinds; k++) {
        bool upper = choice >> k & 1;
        low[k] = upper ? fmax(allowed[k].high, 0) : 0;
        high[k] = upper ? 1 : fmin(allowed[k].low, 1);
        if (low[k] > high[k])
            return false;
        least += groups[k] * low[k];
        most += groups[k] * high[k];
    }
    if (least > 1 || most < 1)
        return false;
    double part = most > least ? (1 - least) / (most - least) : 0;
    for (uint32_t k = 0; k < kinds; k++)
        shares[k] = low[k] + (high[k] - low[k]) * part;
    return true;
}

static bool share_within(const struct partition_side *sides, const uint32_t *groups, uint32_t kinds,
                         const struct partition_exchange *exchange, double element_bytes, double time, double *shares)
{
    struct allowed allowed[PARTITION_KINDS];
    for (uint32_t k = 0; k < kinds; k++)
        allowed[k] = allowed_within(&sides[k], exchange, element_bytes, time);
    for (uint32_t choice = 0; choice < 1u << kinds; choice++)
        if (choose(allowed, groups, kinds, choice, shares))
            return true;
    return false;
}

void partition_speeds(const struct partition_side *sides, const uint32_t *groups, uint32_t kinds, double *shares)
{
    double speeds = 0;
    for (uint32_t k = 0; k < kinds; k++)
        speeds += groups[k] / sides[k].seconds;
    for (uint32_t k = 0; k < kinds; k++)
        shares[k] = 1 / sides[k].seconds / speeds;
}

void partition_shares(const struct partition_side *sides, const uint32_t *groups, uint32_t kinds,
                      const struct partition_exchange *exchange, double element_bytes, double *shares, bool *balanced)
{
    if (kinds == 2 && groups[0] == 1 && groups[1] == 1) {
        shares[0] = partition_share(sides, exchange, element_bytes, balanced);
        shares[1] = 1 - shares[0];
        return;
    }
    double low = 0, high = 0, least = 1;
    partition_speeds(sides, groups, kinds, shares);
    for (uint32_t k = 0; k < kinds; k++)
        high = fmax(high, partition_side_time(&sides[k], exchange, element_bytes, shares[k]));
    for (int i = 0; i < BISECTIONS && low < high; i++) {
        double middle = low + (high - low) / 2;
        *(share_within(sides, groups, kinds, exchange, element_bytes, middle, shares) ? &high : &low) = middle;
    }
    *balanced = share_within(sides, groups, kinds, exchange, element_bytes, high, shares);
    for (uint32_t k = 0; k < kinds; k++) {
        double time = partition_side_time(&sides[k], exchange, element_bytes, shares[k]);
        *balanced &= time > high * (1 - 1e-6);
        least = fmin(least, shares[k]);
    }
    if (least < share_least) {
        partition_speeds(sides, groups, kinds, shares);
        *balanced = false;
    }
}
