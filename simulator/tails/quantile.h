/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles of a sample with what is known of them, and means with a control variate. */
#ifndef STAGESIM_QUANTILE_H
#define STAGESIM_QUANTILE_H

#include "simulator/tails/tails.h"

/* Of `count` sorted values the one that this share of them does not exceed, and an interval between two of them in
 * which the quantile of all that could have been drawn lies in 95 of 100 samples at least, if there are enough: the
 * number of values below it is binomial, whatever they are drawn from (H. A. David, H. N. Nagaraja, "Order statistics",
 * 2003, 7.1). */
struct tails_quantile quantile_of(const double *sorted, uint32_t count, double share);

/* A mean that was corrected by how far another one, whose true mean is known, is off. */
struct controlled_mean {
    double mean, error; /* and its standard error */
    double plain_error; /* that of the mean as it is */
};
struct controlled_mean controlled_mean_of(const double *values, const double *controls, double control_mean,
                                          uint32_t count);

#endif
