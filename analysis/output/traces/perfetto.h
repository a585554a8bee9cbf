/* SPDX-License-Identifier: Apache-2.0 */
/* Perfetto's own trace format. */
#ifndef STAGESIM_PERFETTO_H
#define STAGESIM_PERFETTO_H

#include "analysis/output/traces/trace_source.h"

#include <stdio.h>

/* A process per rank, a thread track per stream, a slice per operation, a flow per message, a counter of stashed
 * activations. Times are whole nanoseconds. Errors stay on the stream. */
void perfetto_write(FILE *out, const struct trace_source *source);
/* Several jobs in one trace, as chrome_trace_write_jobs has them. */
void perfetto_write_jobs(FILE *out, const struct trace_job *jobs, uint32_t count);

#endif
