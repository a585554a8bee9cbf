/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of instants as intervals of time. */
#ifndef STAGESIM_INTERVALS_H
#define STAGESIM_INTERVALS_H

#include <stddef.h>

struct interval {
    double start, end;
};

/* Sorts intervals by start and joins those that touch or overlap, in place; empty ones go. Returns how many are left.
 */
size_t intervals_unite(struct interval *intervals, size_t count);
/* Length of a united set. */
double intervals_length(const struct interval *intervals, size_t count);
/* Length of what two sets have in common; both sorted and free of overlap (they may touch). */
double intervals_common(const struct interval *left, size_t left_count, const struct interval *right,
                        size_t right_count);

#endif
