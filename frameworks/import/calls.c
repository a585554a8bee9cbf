/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of stand-ins: the calls that they noted, of all nodes, as one launch. */
#include "base/arena.h"
#include "frameworks/import/parts.h"
#include "frameworks/readers/text.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CALLS_MAX = 4096 };

struct calls {
    const char **files;
    size_t count, others;
    const char *other; /* the first call that launches nothing that is read */
    const struct shell_command *first;
    const char *first_file;
};

bool calls_is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool list_files(const char *folder, struct calls *calls, struct settings *settings)
{
    const char *path = arena_print(settings->arena, "%s/calls", folder);
    DIR *directory = opendir(path);
    calls->files = arena_array(settings->arena, CALLS_MAX, sizeof *calls->files);
    for (const struct dirent *entry; directory && (entry = readdir(directory)) && calls->count < CALLS_MAX;) {
        size_t length = strlen(entry->d_name);
        if (length > 3 && !strcmp(entry->d_name + length - 3, ".sh"))
            calls->files[calls->count++] = arena_print(settings->arena, "%s/%s", path, entry->d_name);
    }
    if (directory)
        closedir(directory);
    if (calls->count)
        qsort(calls->files, calls->count, sizeof *calls->files, by_name);
    else
        diag_error(
            settings->diag, (struct place){.file = folder},
            "a folder without noted calls; expected one of stagesim import --shim, after the script was run with it "
            "first in PATH");
    return calls->count;
}

/* Options whose values are those of one node or one run. */
static bool is_of_node(const char *word)
{
    static const char *const names[] = {"node_rank", "node-rank",  "machine_rank", "machine-rank", "rdzv_id",
                                        "rdzv-id",   "local_addr", "local-addr",   "local_rank",   "local-rank",
                                        NULL};
    const char *name = word + strspn(word, "-");
    for (const char *const *each = names; name > word && *each; each++)
        if (!strncmp(name, *each, strlen(*each)) && strchr("=", name[strlen(*each)]))
            return true;
    return false;
}

/* The first word in which two calls differ, but for what each node has of its own; `count`: none. */
static size_t difference(const struct shell_command *a, const struct shell_command *b)
{
    size_t count = a->count > b->count ? a->count : b->count;
    for (size_t i = 0; i < count; i++) {
        if (i >= a->count || i >= b->count)
            return i;
        bool same = !strcmp(a->words[i].text, b->words[i].text);
        bool of_node = is_of_node(a->words[i].text) || (i && is_of_node(a->words[i - 1].text));
        if (!same && !of_node)
            return i;
    }
    return count;
}

static void read_call(struct calls *calls, const char *file, const struct shell_request *like,
                      struct settings *settings)
{
    struct shell_command *command = arena_alloc(settings->arena, sizeof *command);
    struct shell_request request = *like;
    size_t size;
    const char *text = text_read(file, &size, settings->arena, settings->diag);
    if (!text)
        return;
    request.file = file;
    request.text = text;
    request.size = size;
    if (!shell_read(&request, settings->arena, settings->diag, command))
        return;
    if (!command->count) {
        calls->others++;
        calls->other = calls->other ? calls->other : file;
        return;
    }
    size_t at = calls->first ? difference(calls->first, command) : command->count;
    if (!calls->first) {
        calls->first = command;
        calls->first_file = file;
    } else if (at < command->count || at < calls->first->count)
        diag_error(
            settings->diag, at < command->count ? command->words[at].at : (struct place){file, 1, 1},
            "'%s' differs from the call of %s, which has '%s'; expected calls of one job: remove those of others",
            at < command->count ? command->words[at].text : "", calls->first_file,
            at < calls->first->count ? calls->first->words[at].text : "");
}

bool calls_read(const char *folder, const struct shell_request *like, struct settings *settings,
                struct shell_command *out)
{
    struct calls calls = {0};
    unsigned errors = settings->diag->errors;
    *out = (struct shell_command){0};
    if (!list_files(folder, &calls, settings))
        return false;
    for (size_t i = 0; i < calls.count; i++)
        read_call(&calls, calls.files[i], like, settings);
    if (settings->diag->errors != errors)
        return false;
    if (!calls.first) {
        diag_error(
            settings->diag, (struct place){calls.other, 1, 1},
            "none of the %zu noted calls has options of %s, such as --num-layers; expected the call that trains, or "
            "the configuration files that it names",
            calls.count, like->tool);
        return false;
    }
    *out = *calls.first;
    settings_remark(settings, REMARK_CHOICE, (struct place){0}, "calls",
                    "%zu noted, of which %zu launch this job, and %zu nothing that is read", calls.count,
                    calls.count - calls.others, calls.others);
    return true;
}
