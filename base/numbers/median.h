/* SPDX-License-Identifier: Apache-2.0 */
/* The middle of some numbers. */
#ifndef STAGESIM_MEDIAN_H
#define STAGESIM_MEDIAN_H

#include <stddef.h>

/* The middle one of `count` numbers, at least one, or the mean of the two in the middle. Sorts them. */
double median(double *values, size_t count);

#endif
