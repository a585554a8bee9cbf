/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.chrome.json: the timeline in Chrome's trace event format, for Perfetto and chrome://tracing. Described in
 * doc/traces.md. */
#ifndef STAGESIM_CHROME_TRACE_H
#define STAGESIM_CHROME_TRACE_H

#include "analysis/output/traces/trace_source.h"

#include <stdio.h>

/* Write errors stay on the stream. */
void chrome_trace_write(FILE *out, const struct trace_source *source);
/* Several jobs in one trace: the processes of each one are numbered behind those of the one before, and have its name.
 */
void chrome_trace_write_jobs(FILE *out, const struct trace_job *jobs, uint32_t count);

#endif
