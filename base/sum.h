/* SPDX-License-Identifier: Apache-2.0 */
/* A sum of many doubles that keeps the rounding errors (Neumaier 1974), so that shares of a time add up to 1e-12 and
 * better however many operations there are. */
#ifndef STAGESIM_SUM_H
#define STAGESIM_SUM_H

#include <math.h>

struct sum {
    double value, error;
};

static inline void sum_add(struct sum *sum, double term)
{
    double total = sum->value + term;
    sum->error += fabs(sum->value) >= fabs(term) ? (sum->value - total) + term : (term - total) + sum->value;
    sum->value = total;
}

static inline double sum_total(const struct sum *sum)
{
    return sum->value + sum->error;
}

#endif
