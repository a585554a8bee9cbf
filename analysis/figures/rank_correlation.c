/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/figures/rank_correlation.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

void rank_values(const double *values, size_t count, double *ranks)
{
    for (size_t i = 0; i < count; i++) {
        size_t less = 0, equal = 0;
        for (size_t k = 0; k < count; k++) {
            less += values[k] < values[i];
            equal += values[k] == values[i];
        }
        ranks[i] = (double)less + (double)(equal + 1) / 2;
    }
}

/* Of values whose mean is that of 1 .. count. */
static double covariance(const double *left, const double *right, size_t count)
{
    double mean = (double)(count + 1) / 2, sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (left[i] - mean) * (right[i] - mean);
    return sum;
}

double rank_correlation(const double *left, const double *right, size_t count)
{
    if (count < 2)
        return NAN;
    double *ranks = array_zeroed(2 * count, sizeof *ranks);
    rank_values(left, count, ranks);
    rank_values(right, count, ranks + count);
    double spread = sqrt(covariance(ranks, ranks, count) * covariance(ranks + count, ranks + count, count));
    double result = spread > 0 ? covariance(ranks, ranks + count, count) / spread : NAN;
    free(ranks);
    return result;
}
