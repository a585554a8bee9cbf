/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of Nsight Systems, exported as SQLite (nsys export --type sqlite): one process, which is a rank. */
#ifndef STAGESIM_TRACES_NSIGHT_H
#define STAGESIM_TRACES_NSIGHT_H

#include "traces/trace_reader.h"

#include <stddef.h>

/* Whether a file that begins so is a database. */
bool nsight_is(const char *head, size_t size);
/* Reads the file of the reader by its name. False after mistakes were reported. */
bool nsight_read(struct trace_reader *reader);

#endif
