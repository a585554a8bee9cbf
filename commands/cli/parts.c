/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/cli/parts.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "commands/cli/command.h"
#include "commands/cli/options.h"
#include "studies/blocks/blocks.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHARDS_MAX = 1000000, JOBS_MAX = 64 };

static bool read_number(const char *text, const char **end, uint32_t *number)
{
    char *rest;
    if (*text < '0' || *text > '9')
        return false;
    unsigned long value = strtoul(text, &rest, 10);
    *end = rest;
    *number = (uint32_t)value;
    return value <= SHARDS_MAX;
}

static bool environment_number(const char *name, uint32_t *number)
{
    const char *text = getenv(name), *end;
    if (text && read_number(text, &end, number) && !*end)
        return true;
    diag_print(stderr, "stagesim: --shard slurm: %s is not set; expected to run inside a job array\n", name);
    return false;
}

/* Tasks MIN, MIN + STEP, ... of which there are COUNT. */
static bool read_array(uint32_t *shard, uint32_t *shards)
{
    uint32_t task, least, step;
    if (!environment_number("SLURM_ARRAY_TASK_ID", &task) || !environment_number("SLURM_ARRAY_TASK_MIN", &least) ||
        !environment_number("SLURM_ARRAY_TASK_STEP", &step) || !environment_number("SLURM_ARRAY_TASK_COUNT", shards))
        return false;
    *shard = step && task >= least ? (task - least) / step + 1 : 0;
    if (*shard && *shard <= *shards && (task - least) % step == 0)
        return true;
    fprintf(stderr, "stagesim: --shard slurm: task %u is none of %u from %u in steps of %u; name its shard as K/N\n",
            task, *shards, least, step);
    return false;
}

bool shard_read(const char *text, uint32_t *shard, uint32_t *shards)
{
    const char *end;
    if (!strcmp(text, "slurm"))
        return read_array(shard, shards);
    if (read_number(text, &end, shard) && *end == '/' && read_number(end + 1, &end, shards) && !*end && *shard > 0 &&
        *shard <= *shards)
        return true;
    fprintf(stderr, "stagesim: --shard takes K/N, the K-th of N parts such as 3/8, or slurm; not '%s'\n", text);
    return false;
}

bool parts_directory(const char *path, bool *made, struct fault *fault)
{
    char part[4096];
    for (const char *slash = path; slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        if (*part && mkdir(part, 0777) && errno != EEXIST)
            return fault_set(fault, "%s: %s", part, strerror(errno));
    }
    *made = mkdir(path, 0777) == 0;
    if (!*made && errno != EEXIST)
        return fault_set(fault, "%s: %s", path, strerror(errno));
    return true;
}

void parts_directory_remove(const char *path, bool made)
{
    if (made)
        rmdir(path); /* one with files stays */
}

int parts_run(const char *directory, int (*part)(void *user), void *user)
{
    struct fault fault = {""};
    bool made;
    if (!parts_directory(directory, &made, &fault)) {
        diag_print(stderr, "stagesim: %s\n", fault.text);
        return EXIT_BAD_INPUT;
    }
    int code = part(user);
    parts_directory_remove(directory, made && code != EXIT_DONE);
    return code;
}

/* ---- files ---- */

static int is_journal(const struct dirent *entry)
{
    const char *ending = strrchr(entry->d_name, '.');
    return ending && !strcmp(ending, ".journal");
}

static bool list_directory(const char *directory, const char ***files, size_t *count, size_t *capacity,
                           struct arena *arena)
{
    struct dirent **entries;
    int found = scandir(directory, &entries, is_journal, alphasort);
    if (found < 0) {
        diag_print(stderr, "stagesim: %s: %s\n", directory, strerror(errno));
        return false;
    }
    for (int i = 0; i < found; i++) {
        *files = array_grow(*files, capacity, *count + 1, sizeof **files);
        (*files)[(*count)++] = arena_print(arena, "%s/%s", directory, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return true;
}

const char **parts_list(char *const *directories, size_t directory_count, const char *command, size_t *count,
                        struct arena *arena)
{
    const char **files = NULL;
    size_t capacity = 0;
    *count = 0;
    bool ok = true;
    for (size_t i = 0; i < directory_count && ok; i++)
        ok = list_directory(directories[i], &files, count, &capacity, arena);
    if (ok && !*count)
        diag_print(stderr, "stagesim: %s: there is no part of a %s, whose name ends in .journal\n", directories[0],
                   command);
    const char **kept = ok && *count ? arena_array(arena, *count, sizeof *kept) : NULL;
    if (kept)
        memcpy(kept, files, *count * sizeof *kept);
    free(files);
    return kept;
}

int parts_check(const struct command *command, const struct options *options)
{
    if (options->file_count < 1 || (options->file_count > 1 && !options->merge))
        return command_usage(command, "expected one scenario, got %d", options->file_count);
    if (options->merge && options->file_count < 2)
        return command_usage(command, "--merge expects the directories of the parts behind the scenario");
    if ((options->shard || options->resume || options->slurm) && !options->output)
        return command_usage(command, "%s expects -o DIR, where what was found is kept",
                             options->shard    ? "--shard"
                             : options->resume ? "--resume"
                                               : "--slurm");
    if (options->slurm && (options->shard || options->merge))
        return command_usage(command, "--slurm makes and joins the parts itself; expected no %s",
                             options->shard ? "--shard" : "--merge");
    return EXIT_DONE;
}

unsigned parts_processors(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online > JOBS_MAX ? JOBS_MAX : (unsigned)online;
}

const char *parts_journal_of_whole(const struct options *options, struct arena *arena)
{
    size_t length = strlen(options->output);
    while (length > 1 && options->output[length - 1] == '/')
        length--;
    return arena_print(arena, "%.*s.journal", (int)length, options->output);
}

const char *parts_journal(const struct options *options, const char *role, uint32_t shard, uint32_t shards,
                          struct arena *arena)
{
    return arena_print(arena, "%s/%s-%u-of-%u.journal", options->output, role, shard, shards);
}

bool parts_request(const struct options *options, const char *role, struct blocks_request *request, struct arena *arena)
{
    request->jobs = options->jobs ? options->jobs : parts_processors();
    request->bar = options->quiet ? NULL : stderr;
    request->time_limit = options->time_limit;
    request->resume = options->resume;
    if (options->shard && !shard_read(options->shard, &request->shard, &request->shards))
        return false;
    if (options->output && options->shard)
        request->journal = parts_journal(options, role, request->shard, request->shards, arena);
    else if (options->output && !options->merge)
        request->journal = parts_journal_of_whole(options, arena);
    return true;
}

int parts_missing(const struct blocks_request *request, const char *what, const char *directory, uint32_t shards,
                  bool *missing, uint32_t *count, struct arena *arena)
{
    struct blocks blocks;
    struct fault fault = {""};
    char *directories[] = {(char *)(uintptr_t)directory};
    size_t files = 0;
    uint32_t said = 1;
    const char **names = parts_list(directories, 1, what, &files, arena);
    int code = names ? EXIT_DONE : EXIT_BAD_INPUT;
    if (names && !blocks_create(&blocks, request, &fault)) {
        diag_print(stderr, "stagesim: %s\n", fault.text);
        code = EXIT_FAILED;
    } else if (names) {
        code = blocks_read(&blocks, names, files, &said);
    }
    *count = code == EXIT_DONE ? blocks_missing(&blocks, shards, missing) : 0;
    if (names)
        blocks_destroy(&blocks);
    return code;
}
