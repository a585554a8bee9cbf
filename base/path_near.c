/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path_near.h"

#include "base/arena.h"
#include "base/paths.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ENTRIES_MAX = 4096, PREFIX_MIN = 3, DEPTH_MAX = 16 };

struct entries {
    const char **names; /* sorted */
    size_t count, capacity;
};

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* The length of a name without its ending: letters behind the last dot ("gpt-7.5b" has none). */
static size_t stem_length(const char *name)
{
    const char *dot = strrchr(name, '.');
    size_t letters = 0;
    while (dot && isalpha((unsigned char)dot[1 + letters]))
        letters++;
    return dot && dot != name && letters && !dot[1 + letters] ? (size_t)(dot - name) : strlen(name);
}

/* Whether a file may be offered for a name: of the same ending, of which yml and yaml are one; any where the name has
 * none. */
static bool is_of_kind(const char *name, const char *wanted)
{
    const char *ending = name + stem_length(name), *asked = wanted + stem_length(wanted);
    return !*asked || !strcmp(ending, asked) || (!strncmp(ending, ".y", 2) && !strncmp(asked, ".y", 2));
}

static bool has_stem(const char *name, const char *wanted)
{
    size_t length = stem_length(wanted);
    return stem_length(name) == length && !strncmp(name, wanted, length);
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The visible directories, or the files of the kind, in a directory; the caller frees the names' array. */
static struct entries list(const char *directory, const char *wanted, bool directories, struct arena *arena)
{
    struct entries entries = {NULL, 0, 0};
    DIR *open = opendir(directory);
    for (struct dirent *entry; open && entries.count < ENTRIES_MAX && (entry = readdir(open));) {
        if (entry->d_name[0] == '.' || (!directories && !is_of_kind(entry->d_name, wanted)))
            continue;
        const char *path = path_resolve(directory, entry->d_name, arena);
        if (!(directories ? is_directory(path) : is_file(path)))
            continue;
        entries.names = array_grow(entries.names, &entries.capacity, entries.count + 1, sizeof *entries.names);
        entries.names[entries.count++] = arena_copy(arena, entry->d_name);
    }
    if (open)
        closedir(open);
    if (entries.count)
        qsort(entries.names, entries.count, sizeof *entries.names, compare_names);
    return entries;
}

/* An entry that begins with the name's stem as a whole word: "gpt-7.5b.yaml" for "gpt.yaml". */
static const char *with_prefix(const struct entries *entries, const char *wanted)
{
    size_t length = stem_length(wanted);
    for (size_t i = 0; i < entries->count && length >= PREFIX_MIN; i++)
        if (!strncmp(entries->names[i], wanted, length) && !isalnum((unsigned char)entries->names[i][length]))
            return entries->names[i];
    return NULL;
}

/* The entry whose stem is nearest to the name's; endings, which are alike, would make all names seem so. */
static const char *nearest_stem(const struct entries *entries, const char *wanted, struct arena *arena)
{
    const char **stems = arena_array(arena, entries->count + 1, sizeof *stems);
    for (size_t i = 0; i < entries->count; i++)
        stems[i] = arena_print(arena, "%.*s", (int)stem_length(entries->names[i]), entries->names[i]);
    const char *near =
        diag_nearest(arena_print(arena, "%.*s", (int)stem_length(wanted), wanted), stems, entries->count);
    for (size_t i = 0; i < entries->count && near; i++)
        if (stems[i] == near)
            return entries->names[i];
    return NULL;
}

/* The entry that a name in a directory stands for, as a path, or NULL; `exact`: only one that differs by its ending at
 * most. */
static const char *find_entry(const char *directory, const char *wanted, bool directories, bool exact,
                              struct arena *arena)
{
    struct entries entries = list(directory, wanted, directories, arena);
    const char *found = NULL;
    for (size_t i = 0; i < entries.count && !found; i++)
        found = has_stem(entries.names[i], wanted) ? entries.names[i] : NULL;
    if (!found && !exact)
        found = nearest_stem(&entries, wanted, arena);
    if (!found && !exact)
        found = with_prefix(&entries, wanted);
    free(entries.names);
    return found ? path_resolve(directory, found, arena) : NULL;
}

/* The directory itself, or that of the nearest name, or NULL. */
static const char *find_directory(const char *path, unsigned depth, struct arena *arena)
{
    if (is_directory(path))
        return path;
    if (depth == DEPTH_MAX)
        return NULL;
    const char *above = find_directory(path_directory(path, arena), depth + 1, arena);
    return above ? find_entry(above, path_name(path, "", arena), true, false, arena) : NULL;
}

/* A file of that name, or one with another ending, a folder below. */
static const char *find_below(const char *directory, const char *name, struct arena *arena)
{
    struct entries folders = list(directory, "", true, arena);
    const char *found = NULL;
    for (size_t i = 0; i < folders.count && !found; i++)
        found = find_entry(path_resolve(directory, folders.names[i], arena), name, false, true, arena);
    free(folders.names);
    return found;
}

static const char *find(const char *path, struct arena *arena)
{
    const char *name = path_name(path, "", arena), *above = path_directory(path, arena);
    const char *directory = find_directory(above, 0, arena), *found = NULL;
    if (directory)
        found = find_entry(directory, name, false, false, arena);
    if (!found && directory)
        found = find_below(directory, name, arena);
    if (!found && !directory && is_directory(path_directory(above, arena)))
        found = find_entry(path_directory(above, arena), name, false, true, arena);
    if (!found && is_of_kind("a.yaml", name))
        found = path_find_installed(INSTALLED_SCENARIOS, arena_print(arena, "%.*s", (int)stem_length(name), name),
                                    ".yaml", arena);
    return found;
}

const char *path_near(const char *directory, const char *path, struct arena *arena)
{
    int error = errno;
    const char *whole = path_resolve(directory, path, arena), *found = NULL;
    struct stat status;
    if (stat(whole, &status) && errno == ENOENT)
        found = find(whole, arena);
    /* named as the user would write it */
    size_t length = strlen(directory);
    if (found && path[0] != '/' && !strncmp(found, directory, length) && found[length] == '/')
        found += length + 1;
    errno = error;
    return found ? arena_print(arena, "; did you mean '%s'?", found) : "";
}

const char *path_near_file(const char *directory, const char *path, bool typed, struct arena *arena)
{
    const char *words = path_near(directory, path, arena);
    return typed && !*words ? path_near(".", path, arena) : words;
}

const char *path_suggest_file(enum installed kind, const char *directory, const char *text, const char *ending,
                              bool typed, struct arena *arena)
{
    const char *name = path_suggest(kind, text, ending, arena);
    return *name ? name : path_near_file(directory, text, typed, arena);
}

const char *path_near_directory(const char *path, struct arena *arena)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    const char *found = find_directory(arena_print(arena, "%.*s", (int)length, path), 0, arena);
    return found && strcmp(found, path) != 0 && !is_directory(path) ? arena_print(arena, "; did you mean '%s'?", found)
                                                                    : "";
}

static bool check(const char *path, bool platform, struct fault *fault)
{
    struct fault own = {.text = ""};
    if (path_check_readable(path, &own))
        return true;
    struct arena *arena = arena_create();
    const char *name = platform ? path_suggest(INSTALLED_PLATFORMS, path, ".xml", arena) : "";
    fault_set(fault, "%s%s", own.text, *name ? name : path_near(".", path, arena));
    arena_destroy(arena);
    return false;
}

bool path_check_typed(const char *path, struct fault *fault)
{
    return check(path, false, fault);
}

bool path_check_platform(const char *path, struct fault *fault)
{
    return check(path, true, fault);
}
