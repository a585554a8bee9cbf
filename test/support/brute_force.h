/* SPDX-License-Identifier: Apache-2.0 */
/* The contention-free times of a program by another road than the analytic engine: start times are relaxed over and
 * over, straight from the program's meaning, until nothing changes. Where collectives take a share of compute, times
 * are checked instead. */
#ifndef STAGESIM_TEST_BRUTE_FORCE_H
#define STAGESIM_TEST_BRUTE_FORCE_H

#include "platforms/platform.h"
#include "simulator/program/timeline.h"

/* How far the times of a timeline that has all ranks are from what the program means, in seconds: each time is worked
 * out from those that it follows from, computations also from what collectives take of them meanwhile (which relaxing
 * cannot find: it only makes times later). Times that follow from each other in this way are right. */
double brute_force_error(const struct program *program, struct platform *platform, const uint32_t *hosts,
                         const struct timeline *timeline);

/* Fills the times of a timeline that has all ranks. False when they never settle: the program cannot finish. */
bool brute_force(const struct program *program, struct platform *platform, const uint32_t *hosts,
                 struct timeline *timeline);

#endif
