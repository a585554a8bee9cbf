/* SPDX-License-Identifier: Apache-2.0 */
/* A set of files in an output directory that appears as a whole or not at all: files are written beside their final
 * names and renamed when all of them are complete. */
#ifndef STAGESIM_OUTPUT_H
#define STAGESIM_OUTPUT_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stdio.h>

struct output;

/* Makes the directory (and those above it) where it does not exist. NULL with the fault filled when that is not
 * possible; directories made so far are gone again. When the process is interrupted (SIGINT, SIGTERM, SIGHUP, SIGPIPE)
 * before commit or abort, files and directories of the set are removed first. Files over the process's size limit
 * become write errors from here on, like a full disk. */
struct output *output_create(const char *directory, struct fault *fault);

/* A file to write "name" or "sub-directory/name" to; the sub-directory is made. NULL with the fault filled. The set
 * owns the stream: it is closed by output_commit and output_abort. A child process may write to streams that were
 * opened before it was forked, if it ends with output_flush and leaves commit and abort to its parent. */
FILE *output_open(struct output *output, const char *name, struct fault *fault);

/* Pushes what was written to all streams out. False with the fault filled, naming the file, after a write error. */
bool output_flush(struct output *output, struct fault *fault);

/* The final names of all files opened so far, a line each, in the order of opening. */
void output_print_names(const struct output *output, FILE *out);

/* Closes all files and gives them their names, replacing older files. When anything fails no file is renamed, or the
 * names that did not exist before are gone again; false with the fault filled. Frees the set either way. */
bool output_commit(struct output *output, struct fault *fault);

/* Removes the files and the directories that were made for them, and frees the set. NULL is fine. */
void output_abort(struct output *output);

#endif
