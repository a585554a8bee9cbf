/* SPDX-License-Identifier: Apache-2.0 */
#include "base/paths.h"

#include "base/arena.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Relative to the installation prefix, unless the build says otherwise with an absolute path. */
static const struct {
    const char *variable; /* NULL: none */
    const char *directory;
    const char *source; /* in the source tree, for executables in a build directory of it; NULL: none */
} installed[] = {
    [INSTALLED_PLUGINS] = {"STAGESIM_PLUGINS", STAGESIM_PLUGIN_DIR, NULL},
    [INSTALLED_PLATFORMS] = {"STAGESIM_PLATFORMS", STAGESIM_DATA_DIR "/platforms", "platforms"},
    [INSTALLED_MODELS] = {"STAGESIM_MODELS", STAGESIM_DATA_DIR "/models", "workloads/models"},
    [INSTALLED_EFFICIENCY] = {"STAGESIM_EFFICIENCY", STAGESIM_DATA_DIR "/efficiency", "workloads/efficiency"},
    [INSTALLED_FRAMEWORKS] = {"STAGESIM_FRAMEWORKS", STAGESIM_DATA_DIR "/frameworks", "frameworks/profiles"},
    [INSTALLED_SCENARIOS] = {NULL, STAGESIM_DATA_DIR "/scenarios", "scenarios"},
};

const char *path_directory(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    return slash == path ? "/" : arena_print(arena, "%.*s", (int)(slash - path), path);
}

const char *path_name(const char *path, const char *ending, struct arena *arena)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t length = strlen(name), end = strlen(ending);
    if (length > end && !strcmp(name + length - end, ending))
        length -= end;
    return arena_print(arena, "%.*s", (int)length, name);
}

const char *path_resolve(const char *directory, const char *path, struct arena *arena)
{
    if (path[0] == '/' || !strcmp(directory, "."))
        return arena_copy(arena, path);
    return arena_print(arena, "%s%s%s", directory, directory[strlen(directory) - 1] == '/' ? "" : "/", path);
}

static const char *find_in(const char *directory, size_t length, const char *name, const char *ending,
                           struct arena *arena)
{
    const char *path = arena_print(arena, "%.*s/%s%s", (int)length, directory, name, ending);
    return length && !access(path, F_OK) ? path : NULL;
}

static const char *find_in_variable(const char *list, const char *name, const char *ending, struct arena *arena)
{
    const char *found = NULL;
    while (list && *list && !found) {
        size_t length = strcspn(list, ":");
        found = find_in(list, length, name, ending, arena);
        list += length + (list[length] == ':');
    }
    return found;
}

/* An installation that was moved as a whole (DESTDIR, a package unpacked elsewhere) is found from its executable. */
static const char *directory_of_executable(struct arena *arena)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return NULL;
    path[length] = '\0';
    return path_directory(path, arena);
}

static const char *prefix_of_executable(struct arena *arena)
{
    const char *directory = directory_of_executable(arena);
    return directory ? path_directory(directory, arena) : NULL;
}

static const char *variable_of(enum installed kind)
{
    return installed[kind].variable ? getenv(installed[kind].variable) : NULL;
}

const char *path_find_installed(enum installed kind, const char *name, const char *ending, struct arena *arena)
{
    if (!*name || strchr(name, '/'))
        return NULL;
    const char *found = find_in_variable(variable_of(kind), name, ending, arena);
    const char *prefix = prefix_of_executable(arena);
    const char *directory;
    if (!found && prefix) {
        directory = path_resolve(prefix, installed[kind].directory, arena);
        found = find_in(directory, strlen(directory), name, ending, arena);
    }
    if (!found && prefix && installed[kind].source) {
        directory = path_resolve(prefix, installed[kind].source, arena);
        found = find_in(directory, strlen(directory), name, ending, arena);
    }
    if (!found) {
        directory = path_resolve(STAGESIM_PREFIX, installed[kind].directory, arena);
        found = find_in(directory, strlen(directory), name, ending, arena);
    }
    return found;
}

const char *path_of_part(const char *name, struct arena *arena)
{
    const char *directories[] = {directory_of_executable(arena), prefix_of_executable(arena), STAGESIM_PREFIX};
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
        const char *directory = directories[i] ? directories[i] : "";
        if (*directory && i > 0)
            directory = path_resolve(directory, STAGESIM_PART_DIR, arena);
        const char *found = find_in(directory, strlen(directory), name, "", arena);
        if (found)
            return found;
    }
    return NULL;
}

struct listing {
    const char **names;
    size_t count, capacity;
    const char *ending;
    struct arena *arena;
    struct fault *fault; /* may be NULL */
};

static void list_directory(struct listing *listing, const char *path)
{
    DIR *directory = opendir(path);
    if (directory)
        errno = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory)); errno = 0) {
        size_t length = strlen(entry->d_name), end = strlen(listing->ending);
        if (length <= end || strcmp(entry->d_name + length - end, listing->ending) || entry->d_name[0] == '.')
            continue;
        listing->names = array_grow(listing->names, &listing->capacity, listing->count + 1, sizeof *listing->names);
        listing->names[listing->count++] = path_name(entry->d_name, listing->ending, listing->arena);
    }
    if (listing->fault && errno != 0 && errno != ENOENT && errno != ENOTDIR)
        fault_set(listing->fault, "%s: cannot be listed: %s", path, strerror(errno));
    if (directory)
        closedir(directory);
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

const char **path_list_installed(enum installed kind, const char *ending, size_t *count, struct arena *arena,
                                 struct fault *fault)
{
    struct listing listing = {.ending = ending, .arena = arena, .fault = fault};
    const char *prefix = prefix_of_executable(arena);
    for (const char *list = variable_of(kind); list && *list;) {
        size_t length = strcspn(list, ":");
        list_directory(&listing, arena_print(arena, "%.*s", (int)length, list));
        list += length + (list[length] == ':');
    }
    if (prefix)
        list_directory(&listing, path_resolve(prefix, installed[kind].directory, arena));
    if (prefix && installed[kind].source)
        list_directory(&listing, path_resolve(prefix, installed[kind].source, arena));
    list_directory(&listing, path_resolve(STAGESIM_PREFIX, installed[kind].directory, arena));
    if (listing.count)
        qsort(listing.names, listing.count, sizeof *listing.names, compare_names);
    const char **names = arena_array(arena, listing.count + 1, sizeof *names);
    *count = 0;
    for (size_t i = 0; i < listing.count; i++)
        if (i == 0 || strcmp(listing.names[i], listing.names[i - 1]))
            names[(*count)++] = listing.names[i];
    free(listing.names);
    return names;
}

bool path_check_readable(const char *path, struct fault *fault)
{
    struct stat status;
    if (stat(path, &status) || access(path, R_OK))
        return fault_set(fault, "cannot read '%.200s': %s", path, strerror(errno));
    return S_ISREG(status.st_mode) || fault_set(fault, "cannot read '%.200s': it is not a regular file", path);
}

const char *path_platform(const char *name, struct arena *arena)
{
    if (access(name, R_OK) == 0)
        return name;
    const char *found = path_find_installed(INSTALLED_PLATFORMS, name, "", arena);
    if (!found)
        found = path_find_installed(INSTALLED_PLATFORMS, name, ".xml", arena);
    return found ? found : name;
}

const char *path_of_file(const char *directory, const char *path, bool typed, struct arena *arena)
{
    const char *beside = path_resolve(directory, path, arena);
    return typed && access(beside, R_OK) && access(path, R_OK) == 0 ? arena_copy(arena, path) : beside;
}

const char *path_suggest(enum installed kind, const char *name, const char *ending, struct arena *arena)
{
    if (strchr(name, '/'))
        return "";
    size_t count, length = strlen(name), end = strlen(ending);
    bool ends = length > end && strcmp(name + length - end, ending) == 0;
    const char **names = path_list_installed(kind, ending, &count, arena, NULL);
    const char *near = diag_nearest(ends ? arena_print(arena, "%.*s", (int)(length - end), name) : name, names, count);
    return near ? arena_print(arena, "; did you mean '%s'?", near) : "";
}

/* ---- what was read ---- */

/* A fact of the process, asked for only where files are replaced. */
static struct {
    struct file_identity {
        dev_t device;
        ino_t inode;
    } * files;
    size_t count, capacity;
} noted;

bool path_was_read(const struct stat *file)
{
    for (size_t i = 0; i < noted.count; i++)
        if (noted.files[i].device == file->st_dev && noted.files[i].inode == file->st_ino)
            return true;
    return false;
}

void path_forget_read(void)
{
    noted.count = 0;
}

void path_note_read(int descriptor)
{
    struct stat status;
    if (fstat(descriptor, &status) || !S_ISREG(status.st_mode) || path_was_read(&status))
        return;
    noted.files = array_grow(noted.files, &noted.capacity, noted.count + 1, sizeof *noted.files);
    noted.files[noted.count++] = (struct file_identity){status.st_dev, status.st_ino};
}

FILE *path_open_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file)
        path_note_read(fileno(file));
    return file;
}
