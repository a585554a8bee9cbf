/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines of a recorded step, as data for pictures. */
#ifndef STAGESIM_EXPLAIN_PICTURES_H
#define STAGESIM_EXPLAIN_PICTURES_H

#include "analysis/pictures/gantt.h"
#include "studies/explain/replay.h"

/* A row for each of `count` ranks (indices). The step as it was recorded. The caller owns the result. */
struct gantt *pictures_recorded(const struct recorded *recorded, uint32_t step, const uint32_t *ranks, size_t count,
                                const char *title);

/* The same with other seconds for its operations, [operation], and no gaps. NULL with the fault filled. */
struct gantt *pictures_replayed(const struct recorded *recorded, uint32_t step, const double *seconds,
                                const uint32_t *ranks, size_t count, const char *title, struct fault *fault);

enum { PICTURES_RANKS_MAX = 64 };

/* The ranks to show: all where they are few, otherwise those of the pipeline of one of them (RECORDED_NONE: the first).
 * At most PICTURES_RANKS_MAX. Returns how many. */
size_t pictures_ranks(const struct recorded *recorded, uint32_t around, uint32_t ranks[PICTURES_RANKS_MAX]);

#endif
