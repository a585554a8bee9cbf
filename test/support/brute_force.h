/* SPDX-License-Identifier: Apache-2.0 */
/* The contention-free times of a program by another road than the analytic engine: start times are relaxed over and over,
 * straight from the program's meaning, until nothing changes. */
#ifndef STAGESIM_TEST_BRUTE_FORCE_H
#define STAGESIM_TEST_BRUTE_FORCE_H

#include "platforms/platform.h"
#include "simulator/timeline.h"

/* Fills the times of a timeline that has all ranks. False when they never settle: the program cannot finish. */
bool brute_force(const struct program *program, struct platform *platform, const uint32_t *hosts, struct timeline *timeline);

#endif
