/* SPDX-License-Identifier: Apache-2.0 */
/* Folders with all that is in them, by descriptors of directories: removed, linked, emptied into another. Symbolic
 * links are never followed. */
#ifndef STAGESIM_TREE_H
#define STAGESIM_TREE_H

#include <stdbool.h>
#include <stddef.h>

/* Paths below the root of a tree ("summary.json", "demo-1f1b/summary.json"). */
struct tree_names {
    const char *const *names;
    size_t count;
};

/* Removes `name` in `parent`, a folder with all that is in it or a file. True when nothing of the name is left. */
bool tree_remove(int parent, const char *name);

/* Gives every file below `from`, but for those named, a second (hard) link at the same place below `to`; folders are
 * made with the same owner, mode and times. False, with errno set, when anything cannot be linked (other file systems,
 * other owners, access lists, very many files, folders in which another
 * process writes its output): `to` then has links that are of no use, `from` is as it was. */
bool tree_link(int from, int to, const struct tree_names *but);

/* Makes the folder `to` like `from` in owner and mode. False when it has more (access lists), or that is forbidden. */
bool tree_copy_attributes(int from, int to);

/* Empties `old`, of which `now` is a copy by tree_link with the named files new: what is named or has the same file in
 * `now` is unlinked, anything else was put into `old` later and moves to its place in `now`. Of two files of one place
 * the one that was written last stays. True when `old` is empty. */
bool tree_retire(int old, int now, const struct tree_names *named);

#endif
