/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of instants that grow and are cut out of each other. */
#ifndef STAGESIM_PROFILE_MOMENTS_H
#define STAGESIM_PROFILE_MOMENTS_H

#include "base/intervals.h"

#include <stddef.h>

/* All zero: empty. Freed by moments_finish. */
struct moments {
    struct interval *intervals;
    size_t count, capacity;
};

void moments_add(struct moments *moments, double start, double end);
/* To be called once all are added, and before what follows: sorts and joins them. */
void moments_unite(struct moments *moments);
void moments_finish(struct moments *moments);

/* What is in `from` and not in `without`; the caller finishes it. Both united. */
struct moments moments_without(const struct moments *from, const struct moments *without);
/* What is in both. */
struct moments moments_common(const struct moments *left, const struct moments *right);
double moments_length(const struct moments *moments);
/* Takes what is in both out of `left`, and returns its length. */
double moments_take(struct moments *left, const struct moments *what);

#endif
