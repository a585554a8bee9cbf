/* SPDX-License-Identifier: Apache-2.0 */
/* Which files an output may replace: those that stagesim wrote itself and that nobody changed since, and none that this
 * process read (base/paths.h).
 *
 * A file that stagesim wrote has the extended attribute "user.stagesim" with its size and the time of its last change,
 * so a file that was written to since is somebody's own. A directory of results that was copied without its attributes,
 * or to a file system that has none, is known by its about.json, which has none either: files without attributes are
 * taken for stagesim's there. */
#ifndef STAGESIM_OWNER_H
#define STAGESIM_OWNER_H

#include "base/diagnostics.h"

#include <stdbool.h>

/* Marks the file, which is complete and written out, as stagesim's. Where this is not possible it stays without. */
void owner_mark(int descriptor);

/* Whether the file `path`, seen from the directory of the descriptor `folder` (AT_FDCWD: a file by itself, of no set),
 * may be replaced; also when there is none. False with the fault filled, which calls it `name`, and refused. */
bool owner_allows(int folder, const char *path, const char *name, struct fault *fault);

#endif
