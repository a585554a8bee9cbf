/* SPDX-License-Identifier: Apache-2.0 */
/* A set of files in an output directory that appears as a whole or not at all, also when the process is killed: they
 * are written in a marked folder beside the directory, which then takes its place (see base/files/stage.h). Or one
 * file, which is written beside its place and renamed. */
#ifndef STAGESIM_OUTPUT_H
#define STAGESIM_OUTPUT_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stdio.h>

struct output;

/* Prepares a set for the directory, and makes those above it where they do not exist. NULL with the fault filled when
 * that is not possible, also when a living process writes to the same directory; directories made so far are gone
 * again. When the process is interrupted (SIGINT, SIGTERM, SIGHUP) or ends before commit or abort, files and
 * directories of the set are removed first; what a killed one left is put in order by the next output_create for the
 * directory. Files over the process's size limit become write errors from here on, like a full disk. */
struct output *output_create(const char *directory, struct fault *fault);

/* A file to write "name" or "sub-directory/name" to. NULL with the fault filled. The set owns the stream: it is closed
 * by output_commit and output_abort. A child process may write to streams that were opened before it was forked, if it
 * ends with output_flush and leaves commit and abort to its parent. */
FILE *output_open(struct output *output, const char *name, struct fault *fault);

/* Closes the stream that was opened last before all others, where there are very many. False with the fault filled. */
bool output_close_last(struct output *output, struct fault *fault);

/* Whether files of these names, of which the last is NULL, may be opened later: a refusal that comes before the work
 * whose results they take. False with the fault filled. */
bool output_foresee(struct output *output, const char *const *names, struct fault *fault);

/* A set of the one file `path`, other files of its directory are left alone; *out is its stream, as of output_open.
 * What is there and no regular file (a pipe, a device) is written to as it is. NULL with the fault filled. */
struct output *output_create_file(const char *path, FILE **out, struct fault *fault);

/* The directory as its user calls it. */
const char *output_directory(const struct output *output);

/* Takes the files of a sub-directory back that were opened so far: "sub-directory/". */
void output_drop(struct output *output, const char *folder);

/* Pushes what was written to all streams out. False with the fault filled, naming the file, after a write error. */
bool output_flush(struct output *output, struct fault *fault);

/* The final names of all files opened so far, a line each, in the order of opening. */
void output_print_names(const struct output *output, FILE *out);

/* Closes all files and brings them to their places, all at once, replacing older files. When anything fails, also when
 * a figure was not finite (base/figure.h), the older
 * files are as they were; false with the fault filled. Frees the set either way. */
bool output_commit(struct output *output, struct fault *fault);

/* Removes the files of all sets whose commit has not begun. Only for a process that ends now: what a signal's handler
 * may call. */
void output_remove_all(void);

/* Removes the files and the directories that were made for them, and frees the set. NULL is fine. */
void output_abort(struct output *output);

#endif
