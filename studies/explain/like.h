/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that are alike, and the median of a value over them. */
#ifndef STAGESIM_EXPLAIN_LIKE_H
#define STAGESIM_EXPLAIN_LIKE_H

#include <stddef.h>
#include <stdint.h>

struct like {
    uint64_t first, second; /* alike where both are the same */
    double value;
    uint32_t operation;
    uint32_t count; /* filled: of its like */
};

/* Sorts, and replaces each value by the lower median of its like. */
void like_medians(struct like *likes, size_t count);
/* The same with the mean. */
void like_means(struct like *likes, size_t count);

#endif
