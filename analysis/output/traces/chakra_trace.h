/* SPDX-License-Identifier: Apache-2.0 */
/* chakra/rank.N.et: Chakra's execution trace of each rank, for ASTRA-sim and whatever else reads it, and
 * chakra/groups.json, the ranks of each process group. Described in doc/traces.md. */
#ifndef STAGESIM_CHAKRA_TRACE_H
#define STAGESIM_CHAKRA_TRACE_H

#include "analysis/output/traces/trace_source.h"
#include "base/diagnostics.h"

#include <stdio.h>

/* A file a rank, and some hundred bytes a node. */
enum { CHAKRA_RANKS_MAX = 4096, CHAKRA_NODES_MAX = 1 << 22 };

/* False, and the fault says why, where there would be more of them. */
bool chakra_trace_allows(const struct program *const *programs, uint32_t count, struct fault *fault);
/* All files as base/files/parts.h has them. Write errors stay on the stream. */
void chakra_trace_write_jobs(FILE *out, const struct trace_job *jobs, uint32_t count);

#endif
