/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a search or a sweep: which share of the work a shard has, and the files that it leaves. */
#ifndef STAGESIM_PARTS_H
#define STAGESIM_PARTS_H

#include "base/diagnostics.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct blocks_request;
struct command;
struct options;

/* "3/8", or "slurm": the task's place in its array, from the environment. False with the mistake reported. */
bool shard_read(const char *text, uint32_t *shard, uint32_t *shards);

/* What of --shard, --merge, --resume, --slurm and -o does not go together is reported; returns an exit code. */
int parts_check(const struct command *command, const struct options *options);
/* Processors that are online, and so how many processes there are when --jobs says nothing. */
unsigned parts_processors(void);
/* The journal of a whole, "DIR.journal" beside -o, or of a shard in it, "DIR/ROLE-1-of-8.journal". Memory from the
 * arena. */
const char *parts_journal_of_whole(const struct options *options, struct arena *arena);
const char *parts_journal(const struct options *options, const char *role, uint32_t shard, uint32_t shards,
                          struct arena *arena);

/* What the options say of how items are shared out: processes, parts, the journal, whose name in a part is `role`'s.
 * False with the mistake reported. */
bool parts_request(const struct options *options, const char *role, struct blocks_request *request,
                   struct arena *arena);

/* Which of the parts in the directory lack items of the request: as struct slurm_work asks for it. `what` as for
 * parts_list. */
int parts_missing(const struct blocks_request *request, const char *what, const char *directory, uint32_t shards,
                  bool *missing, uint32_t *count, struct arena *arena);

/* Makes a directory and those above it; *made says whether it was not there. False with the fault filled. */
bool parts_directory(const char *path, bool *made, struct fault *fault);
/* Removes one that was made and in which nothing has been written. */
void parts_directory_remove(const char *path, bool made);

/* Does a part of the work in a directory that is made for it, and removed where it was made and the part failed before
 * it wrote. The part's exit code; EXIT_BAD_INPUT, with the mistake reported, where there can be no such directory. */
int parts_run(const char *directory, int (*part)(void *user), void *user);

/* The journals of a command's parts in the directories, by name; NULL with the mistake reported where there is none.
 * Memory from the arena. */
const char **parts_list(char *const *directories, size_t directory_count, const char *command, size_t *count,
                        struct arena *arena);

#endif
