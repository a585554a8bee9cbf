/* SPDX-License-Identifier: Apache-2.0 */
/* What faster hardware would gain, read off the critical path: no new run. */
#ifndef STAGESIM_SENSITIVITY_H
#define STAGESIM_SENSITIVITY_H

#include "analysis/figures/critical_path.h"
#include "platforms/platform.h"

/* Seconds of the critical path in which it computes, in which bytes move, and in which first bytes travel. To first
 * order the iteration becomes x % of `compute` shorter when all computations take x % less time, likewise `bandwidth`
 * when all bytes take x % less time to move, and `latency` when all latencies are x % lower: a longest path is convex
 * in its parts, so the iteration gains at most that much, and exactly that much while the path stays the longest. With
 * contention the time of a transfer is taken as it is: other transfers are assumed to stay where they are. None of the
 * three shortens `fixed`: delays, and what the library takes before a collective's data move. Together they are the
 * path. */
struct sensitivity {
    double compute, bandwidth, latency, fixed;
};

struct sensitivity sensitivity_of(const struct frame *frame, const struct critical_path *path,
                                  struct platform *platform, const uint32_t *hosts, struct arena *arena);

#endif
