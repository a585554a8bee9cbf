/* SPDX-License-Identifier: Apache-2.0 */
/* operations.csv, which `stagesim run --trace csv` writes: a job's timeline. */
#ifndef STAGESIM_TRACES_OPERATIONS_TABLE_H
#define STAGESIM_TRACES_OPERATIONS_TABLE_H

#include "traces/source.h"
#include "traces/trace_reader.h"

/* Whether a file that begins so is one. */
bool operations_table_is(const char *head, size_t size);
/* False after mistakes were reported. */
bool operations_table_read(struct trace_reader *reader, struct trace_file *file);

#endif
