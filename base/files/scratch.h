/* SPDX-License-Identifier: Apache-2.0 */
/* Files without names in $TMPDIR, and memory in them, which processes that are forked share. */
#ifndef STAGESIM_SCRATCH_H
#define STAGESIM_SCRATCH_H

#include "base/diagnostics.h"

#include <stddef.h>

/* A descriptor; -1 with the fault filled. */
int scratch_file(struct fault *fault);

/* Memory in such a file, zeroed; NULL with the fault filled. */
void *scratch_map(size_t bytes, struct fault *fault);
void scratch_unmap(void *memory, size_t bytes);
/* Lets the system take back what was written; it is there when it is looked at. */
void scratch_release(void *memory, size_t bytes);

#endif
