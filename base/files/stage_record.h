/* SPDX-License-Identifier: Apache-2.0 */
/* What a commit was about to do, kept in the file "names" of a marked folder for a process that comes after a killed
 * one. */
#ifndef STAGESIM_STAGE_RECORD_H
#define STAGESIM_STAGE_RECORD_H

#include "base/files/tree.h"

#include <stdbool.h>

enum stage_kind {
    STAGE_WRITES,    /* no commit began */
    STAGE_IS_NEW,    /* "new" becomes a directory that is not there yet */
    STAGE_EXCHANGES, /* "new" is exchanged for the directory of that device and inode */
    STAGE_MOVES      /* the named files are moved one by one */
};

struct stage_record {
    enum stage_kind kind;
    unsigned long device, inode;
    struct tree_names names;
    char *text; /* of a record that was read: what `names` point into */
};

/* Writes it to the folder, whole or not at all. False with errno set. */
bool stage_record_write(const struct stage_record *record, int folder);

/* Reads the folder's record; STAGE_WRITES where there is none. 0, or -1 with errno set; free it either way. */
int stage_record_read(struct stage_record *record, int folder);
void stage_record_free(struct stage_record *record);

#endif
