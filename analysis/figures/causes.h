/* SPDX-License-Identifier: Apache-2.0 */
/* Why a compute stream is idle: every idle instant has exactly one cause. */
#ifndef STAGESIM_CAUSES_H
#define STAGESIM_CAUSES_H

#include "analysis/figures/report.h"
#include "base/intervals.h"

/* The cause of idle time before a computation that is not the first of its iteration: what it waits for, and if for
 * several things, the one that ends last (if equal, the first of receive, collective, dependency,
 * input). Ends that differ by
 * no more than that share of them are equal. */
enum cause cause_before(const struct position *position, const struct moment *moments, uint32_t id, double rounding);

/* Splits the idle time from `idle.start` to `idle.end` after a rank's last computation: returns the seconds in which a
 * collective of the rank runs or waits; the rest is drain. `scratch` holds at least as many intervals as the position
 * has operations. */
double cause_collective_after(const struct position *position, const struct moment *moments, struct interval idle,
                              struct interval *scratch);

#endif
