/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/cli/sweep_parts.h"

#include "base/arena.h"
#include "base/exit_code.h"
#include "commands/cli/parts.h"
#include "commands/cli/slurm_array.h"

bool sweep_parts_request(const struct options *options, struct sweep_request *request, struct arena *arena)
{
    request->jobs = options->jobs ? options->jobs : parts_processors();
    request->quiet = options->quiet;
    request->time_limit = options->time_limit;
    request->resume = options->resume;
    request->shard = request->shards = 1;
    if (options->shard && !shard_read(options->shard, &request->shard, &request->shards))
        return false;
    if (options->output && options->shard)
        request->journal = parts_journal(options, "part", request->shard, request->shards, arena);
    else if (options->output && !options->merge)
        request->journal = parts_journal_of_whole(options, arena);
    return true;
}

int sweep_parts_merge(struct sweep *sweep, const struct options *options, const char *what, struct arena *arena)
{
    size_t count = 0;
    const char **files = parts_list(options->files + 1, (size_t)options->file_count - 1, what, &count, arena);
    return files ? sweep_merge(sweep, files, count) : EXIT_BAD_INPUT;
}

struct missing {
    const struct sweep_request *request;
    const char *command;
};

static int find_missing(void *user, const char *parts, uint32_t shards, bool *missing, uint32_t *count)
{
    const struct missing *of = user;
    struct sweep sweep;
    struct arena *arena = arena_create();
    char *directories[] = {(char *)(uintptr_t)parts};
    size_t files = 0;
    uint32_t said = 1;
    int code = sweep_create(&sweep, of->request, arena);
    const char **names = code == EXIT_DONE ? parts_list(directories, 1, of->command, &files, arena) : NULL;
    if (names)
        code = sweep_read(&sweep, names, files, &said);
    *count = code == EXIT_DONE ? sweep_missing(&sweep, shards, missing) : 0;
    arena_destroy(arena);
    return code;
}

/* What simulations cost is not known. */
int sweep_parts_on_slurm(const struct sweep_request *request, const struct options *options, const char *command,
                         int argc, char **argv, struct arena *arena)
{
    struct sweep sweep;
    struct missing missing = {request, command};
    int code = sweep_create(&sweep, request, arena);
    struct slurm_work work = {.command = command,
                              .options = options,
                              .seconds = SLURM_TASK_SECONDS * (double)sweep.count,
                              .find_missing = find_missing,
                              .user = &missing};
    return code == EXIT_DONE ? slurm_array_run(&work, argc, argv, arena) : code;
}
