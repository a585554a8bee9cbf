/* SPDX-License-Identifier: Apache-2.0 */
/* The results of a command: to standard output, or to files that appear whole or not at all. */
#ifndef STAGESIM_RESULT_H
#define STAGESIM_RESULT_H

#include "base/diagnostics.h"
#include "base/files/output.h"

#include <stdbool.h>
#include <stdio.h>

/* Calls write(out, user, fault) for standard output or, when `path` is not NULL, for the file. Says what went wrong on
 * standard error, at its place or after "stagesim NAME: "; returns an exit code. `write` returns false, with the fault
 * filled, for bad input. */
int result_write(const char *name, const char *path, bool (*write)(FILE *out, void *user, struct fault *fault),
                 void *user);

/* The end of a set of files, which may be NULL: it appears where all of it is `written`, and is taken back otherwise.
 * Says the fault on standard error if there is one. Whether the files are there. */
bool result_settle(struct output *output, bool written, struct fault *fault);

#endif
