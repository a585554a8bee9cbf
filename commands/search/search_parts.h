/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a search: which candidates a shard has, and the files that it leaves. What a sweep shares out it shares out
 * likewise. */
#ifndef STAGESIM_SEARCH_PARTS_H
#define STAGESIM_SEARCH_PARTS_H

#include "base/diagnostics.h"
#include "studies/search.h"

struct arena;

/* "3/8", or "slurm": the task's place in its array, from the environment. False with the mistake reported. */
bool search_shard_read(const char *text, uint32_t *shard, uint32_t *shards);

/* Makes a directory and those above it. False with the fault filled. */
bool search_parts_directory(const char *path, struct fault *fault);

/* The journals in the directories, by name; NULL with the mistake reported where there is none. Memory from the arena.
 */
const char **search_parts_list(char *const *directories, size_t directory_count, size_t *count, struct arena *arena);

/* Which of so many shards have candidates in the table that were not looked at or not timed; missing[shard - 1].
 * Returns how many. */
uint32_t search_parts_missing(const struct search *search, uint32_t shards, bool *missing);
/* An exit code; reported where candidates are missing. */
int search_parts_check(const struct search *search);

#endif
