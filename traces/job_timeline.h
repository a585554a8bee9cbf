/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines of whole jobs in Chrome's format as StragglerAnalysis publishes them (arXiv 2505.05713): all stages and
 * replicas in one file, an event for each forward, backward, message and collective. */
#ifndef STAGESIM_TRACES_JOB_TIMELINE_H
#define STAGESIM_TRACES_JOB_TIMELINE_H

#include "traces/trace_reader.h"

/* Takes an event; false: it is of another kind. */
bool job_timeline_take(struct trace_reader *reader, const struct trace_event *event);
/* After the file's last event: coordinates of ranks from the names of their threads. False after a mistake was
 * reported. */
bool job_timeline_finish(struct trace_reader *reader);
/* In place of it after the file could not be read. */
void job_timeline_forget(struct trace_reader *reader);

#endif
