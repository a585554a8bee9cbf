/* SPDX-License-Identifier: Apache-2.0 */
/* How the iterations of a timeline follow each other: whether the time between their ends stands. */
#ifndef STAGESIM_ENDS_H
#define STAGESIM_ENDS_H

#include "simulator/program/timeline.h"

struct arena;

/* As many iterations, with a whole number of halves of each other between their ends, and with them the first one,
 * which fills, and the last one, which nothing follows. */
enum { ENDS_FEWEST = 6, ENDS_MOST = 258 };
/* The next number to try: 6, 10, 18, 34, ... */
uint32_t ends_more(uint32_t iterations);

/* Whether the mean time between ends over the first half of the iterations that count is that over their second half,
 * or the job comes back to a state. Fewer than ENDS_FEWEST stand only so. */
bool ends_stand(const struct timeline *timeline, struct arena *arena);

#endif
