/* SPDX-License-Identifier: Apache-2.0 */
/* How alike two orders are. */
#ifndef STAGESIM_RANK_CORRELATION_H
#define STAGESIM_RANK_CORRELATION_H

#include <stddef.h>

/* Ranks of values, the smallest being 1; equal values share the mean of their ranks. `ranks` has room for count
 * entries. */
void rank_values(const double *values, size_t count, double *ranks);

/* Spearman's coefficient (1904): the correlation of the ranks, 1 for the same order, -1 for the reverse. NaN for fewer
 * than two values, and where all values of one side are equal. */
double rank_correlation(const double *left, const double *right, size_t count);

#endif
