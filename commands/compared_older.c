/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of an older comparison in the same directory, which the new one does not have. */
#include "analysis/output/saved/saved_run.h"
#include "base/arena.h"
#include "base/files/owner.h"
#include "commands/compared.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void compared_find_older(struct comparison *comparison)
{
    struct diag silent = {0};
    const char *file = arena_print(comparison->arena, "%s/comparison.json", comparison->options->output);
    const struct node *list = access(file, R_OK) ? NULL : saved_comparison_load(file, comparison->arena, &silent);
    if (list)
        comparison->older = saved_comparison_read(list, &comparison->older_count, comparison->arena, &silent);
}

static bool is_new(const struct comparison *comparison, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < comparison->count; i++) {
        const struct comparison_run *run = &comparison->runs[i];
        if (!run->reason && !strncmp(run->directory, name, length) && !strcmp(run->directory + length, "/"))
            return true;
    }
    return false;
}

/* Files of stagesim in a directory below, and the directory where nothing else is in it. */
static void remove_run(const struct comparison *comparison, int top, const char *name)
{
    int folder = openat(top, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *list = folder >= 0 ? fdopendir(folder) : NULL;
    for (const struct dirent *entry; list && (entry = readdir(list));) {
        struct fault fault = {""};
        const char *path = arena_print(comparison->arena, "%s/%s", name, entry->d_name);
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") && owner_allows(top, path, path, &fault))
            unlinkat(top, path, 0);
    }
    if (list)
        closedir(list);
    else if (folder >= 0)
        close(folder);
    if (unlinkat(top, name, AT_REMOVEDIR) && list && !comparison->options->quiet)
        diag_print(stderr, "note: %s/%s is of an older comparison, and has files that stagesim did not write\n",
                   comparison->options->output, name);
}

void compared_remove_older(const struct comparison *comparison)
{
    int top = open(comparison->options->output, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; comparison->older && i < comparison->older_count && top >= 0; i++)
        if (!is_new(comparison, comparison->older[i].directory))
            remove_run(comparison, top, comparison->older[i].directory);
    if (top >= 0)
        close(top);
}
