/* SPDX-License-Identifier: Apache-2.0 */
/* The data files of hardware: an embedded copy of those that stagesim comes with, and the user's own beside the file
 * that names them or in the directories of $STAGESIM_PLATFORMS. */
#ifndef STAGESIM_HARDWARE_FILES_H
#define STAGESIM_HARDWARE_FILES_H

#include "base/document.h"
#include "platforms/hardware/hardware.h"

/* One embedded file. */
struct hardware_text {
    const char *folder, *name; /* "devices", "H100-SXM5-80GB" */
    const char *text;          /* `size` bytes, not terminated */
    size_t size;
};

/* Made of the files by tools/embed_hardware.py, in the order of lists. */
extern const struct hardware_text hardware_texts[];
extern const size_t hardware_text_count;

/* The map of the file of that name, fresh for the caller to change: a file NAME.yaml beside the file of `at`, then one
 * of $STAGESIM_PLATFORMS, then the embedded one. NULL after a mistake was reported, or, with *known false, where there
 * is none. Memory from hardware_arena. */
struct node *hardware_load(enum hardware kind, const char *name, struct place at, bool *known, struct diag *diag);
/* The same for a file by its path. */
struct node *hardware_load_file(const char *path, struct place at, struct diag *diag);

#endif
