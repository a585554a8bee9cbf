/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a search or a sweep: which share of the work a shard has, and the files that it leaves. */
#ifndef STAGESIM_PARTS_H
#define STAGESIM_PARTS_H

#include "base/diagnostics.h"

#include <stddef.h>
#include <stdint.h>

struct arena;

/* "3/8", or "slurm": the task's place in its array, from the environment. False with the mistake reported. */
bool shard_read(const char *text, uint32_t *shard, uint32_t *shards);

/* Makes a directory and those above it; *made says whether it was not there. False with the fault filled. */
bool parts_directory(const char *path, bool *made, struct fault *fault);
/* Removes one that was made and in which nothing has been written. */
void parts_directory_remove(const char *path, bool made);

/* The journals of a command's parts in the directories, by name; NULL with the mistake reported where there is none.
 * Memory from the arena. */
const char **parts_list(char *const *directories, size_t directory_count, const char *command, size_t *count,
                        struct arena *arena);

#endif
