/* SPDX-License-Identifier: Apache-2.0 */
/* Chakra's execution traces with times, as its converters make them of profiles: a rank a file, NAME.RANK.et. */
#ifndef STAGESIM_TRACES_CHAKRA_TRACE_H
#define STAGESIM_TRACES_CHAKRA_TRACE_H

#include "traces/trace_reader.h"

/* Whether the file's name is that of one. */
bool chakra_trace_is(const char *file);
/* Reads the file of the reader by its name. False after mistakes were reported. */
bool chakra_trace_read(struct trace_reader *reader);

#endif
