/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of PyTorch, as libkineto writes them on CUDA and ROCm: one rank a file. */
#ifndef STAGESIM_TRACES_KINETO_H
#define STAGESIM_TRACES_KINETO_H

#include "traces/trace_reader.h"

/* Takes an event; false: it is of another kind. */
bool kineto_take(struct trace_reader *reader, const struct trace_event *event);
/* Reads the members of distributedInfo, whose object has begun: the rank and its groups. */
void kineto_read_distributed(struct trace_reader *reader, struct json_reader *json);
/* After the file's last event: joins what belongs together, notes what is missing. Indices of operations are still
 * those of the file. */
void kineto_finish(struct trace_reader *reader);

#endif
