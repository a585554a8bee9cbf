/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a scenario names, and where the installed ones are. */
#ifndef STAGESIM_PATHS_H
#define STAGESIM_PATHS_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

struct arena;

enum installed {
    INSTALLED_PLUGINS,
    INSTALLED_PLATFORMS,
    INSTALLED_MODELS,
    INSTALLED_EFFICIENCY,
    INSTALLED_FRAMEWORKS,
    INSTALLED_SCENARIOS
};

/* The part of a path before its last '/', "." where it has none. Memory from the arena. */
const char *path_directory(const char *path, struct arena *arena);
/* The last part of a path without the ending (".yaml"), where it has it. Memory from the arena. */
const char *path_name(const char *path, const char *ending, struct arena *arena);
/* `path` seen from a directory; absolute paths stay as they are. Memory from the arena. */
const char *path_resolve(const char *directory, const char *path, struct arena *arena);
/* A file that a scenario names, seen from `directory`; of one typed on the command line that is not there, the file of
 * that name where the command was started, if that one is. Memory from the arena. */
const char *path_of_file(const char *directory, const char *path, bool typed, struct arena *arena);
/* NAME + ending in the directories of a kind, or NULL: first those of the environment ($STAGESIM_PLUGINS,
 * $STAGESIM_PLATFORMS, $STAGESIM_MODELS, $STAGESIM_EFFICIENCY, $STAGESIM_FRAMEWORKS, none for scenarios; separated by
 * ':'), then the installed one beside the executable, then that of installation. Names with a '/' are never found.
 * Memory from the arena. */
const char *path_find_installed(enum installed kind, const char *name, const char *ending, struct arena *arena);
/* A library that is part of stagesim: beside the executable, or where installation put it; NULL where it is in neither.
 * Memory from the arena. */
const char *path_of_part(const char *name, struct arena *arena);
/* A platform named on the command line: the file itself where it can be read, else the installed one of that name, with
 * or without its ending; the name unchanged where there is neither. Memory from the arena. */
const char *path_platform(const char *name, struct arena *arena);
/* The names that path_find_installed finds for a kind and ending, in alphabetical order; `count` of them. Memory from
 * the arena. The fault (NULL: nobody asks) is filled where a directory is there but cannot be read to its end. */
const char **path_list_installed(enum installed kind, const char *ending, size_t *count, struct arena *arena,
                                 struct fault *fault);
/* "; did you mean 'NAME'?" with the installed name of a kind that is nearest to one without '/', or "". Memory from the
 * arena. */
const char *path_suggest(enum installed kind, const char *name, const char *ending, struct arena *arena);
/* A file that can be read, and no directory or device, of which reading could wait for ever. False with the fault
 * filled. */
bool path_check_readable(const char *path, struct fault *fault);

/* Opens a file of the user's for reading, as fopen does, and notes that the process reads it: no output replaces such a
 * file. NULL with errno set. */
FILE *path_open_read(const char *path);
/* Notes the regular file that is open as this descriptor. */
void path_note_read(int descriptor);
/* Whether a file was noted, under whatever name. */
bool path_was_read(const struct stat *file);
/* From now on it is as if none had been read. */
void path_forget_read(void);

#endif
