/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.goal: the job in GOAL's text, for LogGOPSim. Format: T. Hoefler, C. Siebert, A. Lumsdaine, "Group Operation
 * Assembly Language", ICPP 2009, as txt2bin.re of github.com/spcl/LogGOPSim reads it. Described in doc/traces.md. */
#ifndef STAGESIM_GOAL_TRACE_H
#define STAGESIM_GOAL_TRACE_H

#include "analysis/output/traces/trace_source.h"
#include "base/diagnostics.h"

#include <stdio.h>

/* Computations, sends and receives of all ranks together; a line has some 50 bytes. */
enum { GOAL_ITEMS_MAX = 1 << 24 };

/* False, and the fault says why, where there would be more of them. The programs' collectives are assigned. */
bool goal_trace_allows(const struct program *const *programs, uint32_t count, struct fault *fault);
/* Write errors stay on the stream. */
void goal_trace_write_jobs(FILE *out, const struct trace_job *jobs, uint32_t count);

#endif
