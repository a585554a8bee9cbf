/* SPDX-License-Identifier: Apache-2.0 */
/* Many things in the order of time: a stable sort that is linear in their number. */
#ifndef STAGESIM_TIMED_H
#define STAGESIM_TIMED_H

#include <stddef.h>
#include <stdint.h>

struct timed {
    double time;
    uint32_t entry, id; /* which thing; the caller's */
};

/* Sorts by time (no NaN); things of equal time keep their order. `scratch` has room for as many. */
void timed_sort(struct timed *items, struct timed *scratch, size_t count);

#endif
