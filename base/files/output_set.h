/* SPDX-License-Identifier: Apache-2.0 */
/* A set of output files, for the sources that keep it (base/files/output.h). */
#ifndef STAGESIM_OUTPUT_SET_H
#define STAGESIM_OUTPUT_SET_H

#include "base/files/output.h"
#include "base/files/stage.h"

#include <signal.h>
#include <sys/types.h>

struct arena;

struct output_file {
    FILE *stream;     /* NULL: closed */
    const char *name; /* as users know it */
    const char *path; /* below stage.content; of a single file the temporary one in `folder` */
};

struct output {
    struct output *next; /* of those that are being written */
    pid_t owner;
    struct arena *arena;
    const char *directory; /* as users know it */
    const char *real;      /* without symbolic links */
    struct stage stage;
    bool is_committing; /* its files are on their way */
    bool is_single;     /* one file, without a stage, in */
    int folder;         /* this descriptor's directory; -1: it is written to as it is */
    const char *target; /* the single file's name there */
    struct output_file *files;
    size_t file_count, file_capacity;
    char **folders; /* below stage.content, outer ones first */
    size_t folder_count, folder_capacity;
    char **made; /* directories above, outer ones first */
    size_t made_count, made_capacity;
};

/* While what a signal's handler reads changes. Returns what the other one takes. */
sigset_t output_block_interruptions(void);
void output_allow_interruptions(const sigset_t *before);

#endif
