/* SPDX-License-Identifier: Apache-2.0 */
/* Traces in the Paje format, as `stagesim run --trace paje` writes them: B. de Oliveira Stein, J. Chassin de
 * Kergommeaux, G. Mounie, "Paje trace file format", 2010. */
#ifndef STAGESIM_TRACES_PAJE_FILE_H
#define STAGESIM_TRACES_PAJE_FILE_H

#include "traces/source.h"
#include "traces/trace_reader.h"

/* Whether a file that begins so defines events of Paje. */
bool paje_file_is(const char *head, size_t size);
/* The whole file. False after mistakes were reported. */
bool paje_file_read(struct trace_reader *reader, struct trace_file *file);

#endif
