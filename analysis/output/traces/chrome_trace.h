/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.chrome.json: the timeline in Chrome's trace event format, for Perfetto and chrome://tracing. Described in
 * doc/traces.md. */
#ifndef STAGESIM_CHROME_TRACE_H
#define STAGESIM_CHROME_TRACE_H

#include "analysis/output/traces/trace_source.h"

#include <stdio.h>

/* Write errors stay on the stream. */
void chrome_trace_write(FILE *out, const struct trace_source *source);

#endif
