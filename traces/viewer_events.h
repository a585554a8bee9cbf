/* SPDX-License-Identifier: Apache-2.0 */
/* Chrome traces that are neither profiles nor job timelines: those of `stagesim run --trace chrome`, and of others', of
 * which names and times are taken. */
#ifndef STAGESIM_TRACES_VIEWER_EVENTS_H
#define STAGESIM_TRACES_VIEWER_EVENTS_H

#include "traces/trace_reader.h"

/* Takes an event of a file of stagesim's own, which its first event says; false: it is none. */
bool viewer_take(struct trace_reader *reader, const struct trace_event *event);
/* Remembers an event that nobody else has taken. */
void viewer_remember(struct trace_reader *reader, const struct trace_event *event);
/* The file has ended: own operations are joined; without any operation, what was remembered is one for each event.
 * False after a mistake was reported. */
bool viewer_finish(struct trace_reader *reader);
void viewer_forget(struct trace_reader *reader);

#endif
