/* SPDX-License-Identifier: Apache-2.0 */
/* A platform file as text, before SimGrid reads it: what would make SimGrid write files, hang, or end the process is
 * refused here with its place, as is what stagesim does not know. */
#ifndef STAGESIM_PLATFORM_FILE_H
#define STAGESIM_PLATFORM_FILE_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* Hosts that a platform file may make. */
#define PLATFORM_HOSTS_MAX ((uint64_t)1 << 20)

struct platform_file {
    bool varies;                 /* profiles are attached to something */
    const char *const *settings; /* what <config> sets, as "key:value", in the file's order */
    size_t setting_count;
    uint64_t hosts;      /* that it makes */
    struct {             /* every <cluster> with a topology that stands in no zone; both 0: there is none */
        size_t from, to; /* bytes of the file: where the first begins, and where the last ends */
    } bare_shapes;
    const char
        *deep; /* the first gateway that stands in a zone within the one that it is of, with its place, or NULL */
};

/* Reads the file once. Facts live in the arena. False with the fault filled, as "FILE:LINE:COLUMN: what is wrong". */
bool platform_file_check(const char *path, struct platform_file *file, struct arena *arena, struct fault *fault);

/* The place where an element with that id begins ("FILE:LINE:COLUMN: "), or an empty text where none does, as for what
 * SimGrid makes of a <cluster>; of links l_UP and l_DOWN it is that of l. In the arena. */
const char *platform_file_place(const char *path, const char *id, struct arena *arena);

#endif
