/* SPDX-License-Identifier: Apache-2.0 */
/* The marked folder in which the files of an output directory are written before they take their place all at once.
 *
 * For a directory DIR it is the sibling ".DIR.stagesim". It holds "lock", locked while the process lives, "new", the
 * directory as it will be, "names", which says what a commit was about to do, and "old", what single files replaced.
 * Where DIR cannot be exchanged as a whole (it is a mount point, or the process works in it) the folder is
 * "DIR/.stagesim", and files are moved one by one. What a process that was killed left is found by the next one that
 * writes to DIR, and finished or removed. */
#ifndef STAGESIM_STAGE_H
#define STAGESIM_STAGE_H

#include "base/diagnostics.h"
#include "base/files/tree.h"

#include <stdbool.h>

struct arena;

struct stage {
    int parent;        /* descriptors: of the folder that has the marked one, */
    int folder;        /* of the marked folder, */
    int content;       /* of "new" in it, where files are written, */
    int target;        /* of the output directory; -1: there is none yet; */
    int lock;          /* of the file "lock" */
    const char *name;  /* of the marked folder in `parent` */
    const char *place; /* of the output directory in `parent`; NULL: the marked folder is in it */
    const char *path;  /* of the output directory, as users know it, for messages */
    bool keep;         /* the marked folder is left to the next process: files could not be put in order */
};

/* Makes the marked folder for the output directory `directory` (an absolute path without symbolic links; its parent
 * exists) and puts in order what an earlier process left there. False with the fault filled, also when a living process
 * writes to this directory. `path` and memory from the arena outlive the stage. */
bool stage_open(struct stage *stage, const char *directory, const char *path, struct arena *arena, struct fault *fault);

/* Brings the named files of "new" (paths below it) to their places: the directory is exchanged for the new one as a
 * whole, what else is in it linked there first; or the files are moved one by one, and back where one cannot be. False
 * with the fault filled when the directory is as it was. stage_close comes next in any case. */
bool stage_commit(struct stage *stage, const struct tree_names *names, struct fault *fault);

/* Whether a file of the path below the output directory, which messages call `name`, may be replaced (owner_allows);
 * also where there is no directory yet. False with the fault filled. */
bool stage_allows(const struct stage *stage, const char *path, const char *name, struct fault *fault);

/* Removes the marked folder with all that is not in place, and closes the descriptors. */
void stage_close(struct stage *stage);

/* The same for a signal's handler, before a commit began, when nothing is left in "new". */
void stage_remove_empty(const struct stage *stage);

#endif
