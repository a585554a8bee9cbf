/* SPDX-License-Identifier: Apache-2.0 */
/* The cycle of a system that runs ordered lists of tasks side by side: when its state comes back.
 *
 * The state at a moment is, for each list, which task comes next, and for each task under way since when it runs and
 * what it has been through. Two moments are in the same state if the lists have advanced by the same number of beats (a
 * beat is what the order repeats) and all that has happened since the beginning of the oldest task under way happened
 * as long before the one as before the other: then every task under way has the same rest before it, for what it shared
 * with others on its way was the same. A system whose next step follows from its state then does for ever what it did
 * between the two. Equal distances between single events prove nothing of the kind, and are not looked at. */
#ifndef STAGESIM_CYCLE_H
#define STAGESIM_CYCLE_H

#include "base/numbers/moment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tasks of a list begin, and end, in their order. */
struct cycle_list {
    const struct moment *moments; /* [count], borrowed */
    uint32_t count;
    uint32_t beat; /* tasks of the list in one beat; 0: it stands still while the others repeat */
    /* The order repeats beat by beat from the first to before the second of these tasks; where the list stands still,
     * it does so when at least so many of its tasks have begun and at most so many. */
    uint32_t from, to;
    bool passive; /* its tasks only wait until data move to them: when one is posted changes nothing */
};

/* Share of a time by which it is not exact: sums of times are rounded. */
#define CLOCK_ROUNDING 1e-14

struct cycle {
    double start, length; /* the state at `start` is that at `start` + `length` */
    uint32_t beats;       /* that pass between the two: the smallest number */
};

/* The newest cycle among the moments of lists. `rounding`: share of a cycle's length by which times of equal states may
 * differ. False: no state comes back where the order repeats. */
bool cycle_find(const struct cycle_list *lists, size_t count, double rounding, struct cycle *cycle);

/* How many tasks of the list have begun before a time. */
uint32_t cycle_begun(const struct cycle_list *list, double time);

#endif
