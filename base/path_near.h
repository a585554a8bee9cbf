/* SPDX-License-Identifier: Apache-2.0 */
/* Which file was meant by a name that does not exist. */
#ifndef STAGESIM_PATH_NEAR_H
#define STAGESIM_PATH_NEAR_H

#include "base/paths.h"

struct arena;

/* "; did you mean 'NAME'?" for a path seen from `directory`, or "" where it exists or nothing is like it: a file with
 * the nearest name in its directory or in the directory of the nearest name, one that lacks only the ending, one a
 * folder below or above, and last an installed scenario. Only files with the path's own ending, if it has one, are
 * offered. errno stays as it was. Memory from the arena. */
const char *path_near(const char *directory, const char *path, struct arena *arena);
/* The same for a file that path_of_file did not find. */
const char *path_near_file(const char *directory, const char *path, bool typed, struct arena *arena);
/* For a file that may be an installed one's name: "; did you mean 'NAME'?" with the nearest installed name, or else
 * what path_near_file says. */
const char *path_suggest_file(enum installed kind, const char *directory, const char *text, const char *ending,
                              bool typed, struct arena *arena);
/* The same for a directory: that of the nearest name. */
const char *path_near_directory(const char *path, struct arena *arena);

/* path_check_readable for a file named on the command line: the fault has path_near's words as well. */
bool path_check_typed(const char *path, struct fault *fault);
/* The same for a platform, which may have been meant to be an installed one's name. */
bool path_check_platform(const char *path, struct fault *fault);

#endif
