/* SPDX-License-Identifier: Apache-2.0 */
/* Which share of the work groups of devices have, so that all take equally long. */
#ifndef STAGESIM_PARTITION_SHARES_H
#define STAGESIM_PARTITION_SHARES_H

#include "studies/partition/exchange.h"

#include <stdbool.h>
#include <stdint.h>

/* A group: seconds of all computing on it, seconds that its share does not change, bytes per second. */
struct partition_side {
    double seconds, fixed, bandwidth;
};

/* The first group's share a of the work with which both groups take equally long,
 *
 *     a C_1 + K_1 + V_1(a) / B_1 = (1 - a) C_2 + K_2 + V_2(1 - a) / B_2
 *
 * with the seconds C of all computing on one group, what K its share does not change, the bytes V that a group
 * receives, and its bandwidth B: a quadratic equation. Of two such shares that with the shorter time; where there is
 * none, C_2 / (C_1 + C_2) and *balanced is false. */
double partition_share(const struct partition_side sides[2], const struct partition_exchange *exchange,
                       double element_bytes, bool *balanced);
/* The same of so many groups of each of some kinds, all groups of a kind alike: the shares of a group of each kind with
 * which the longest time is least. A group's time is a concave function of its share, so that those below a bound are
 * at most two intervals, and the bound is found by bisection. Where a kind would have next to nothing, the shares of
 * the speeds and *balanced is false; it is also false where not all take equally long. */
void partition_shares(const struct partition_side *sides, const uint32_t *groups, uint32_t kinds,
                      const struct partition_exchange *exchange, double element_bytes, double *shares, bool *balanced);

/* Shares of a group of each kind by its speed alone. */
void partition_speeds(const struct partition_side *sides, const uint32_t *groups, uint32_t kinds, double *shares);
/* Seconds of a group with this share. */
double partition_side_time(const struct partition_side *side, const struct partition_exchange *exchange,
                           double element_bytes, double share);

#endif
