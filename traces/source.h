/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a trace's file, unpacked where it is compressed with gzip. */
#ifndef STAGESIM_TRACES_SOURCE_H
#define STAGESIM_TRACES_SOURCE_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct trace_file;

/* NULL after why the file cannot be read was reported. */
struct trace_file *trace_file_open(const char *path, struct diag *diag);
/* The same of a file that is open, which stays open; `name` stands in messages. */
struct trace_file *trace_file_of_stream(const char *name, FILE *stream, struct diag *diag);
void trace_file_close(struct trace_file *file); /* NULL is fine */

/* The first bytes, at most `size` of them, which are read again later. Returns how many. */
size_t trace_file_peek(struct trace_file *file, char *bytes, size_t size);

/* A source of base/json/json_reader.h; `user` is the file. A cut or damaged gzip file is a mistake of the file. */
size_t trace_file_read(void *user, char *buffer, size_t size, struct fault *fault);

#endif
