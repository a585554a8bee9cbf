/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { DEPTH_MAX = 64, LINKS_MAX = 100000, FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

/* Where a walk is. */
struct walk {
    const struct tree_names *named;
    char path[PATH_MAX]; /* below the root */
    unsigned depth;
    size_t links;
};

/* ---- directories ---- */

static bool is_dot(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..");
}

/* A stream of its own: the descriptor stays the caller's and at its place. */
static DIR *entries_of(int folder)
{
    int own = openat(folder, ".", FOLDER);
    DIR *stream = own < 0 ? NULL : fdopendir(own);
    if (own >= 0 && !stream)
        close(own);
    return stream;
}

static struct dirent *next_entry(DIR *stream)
{
    struct dirent *entry;
    do {
        errno = 0;
        entry = readdir(stream);
    } while (entry && is_dot(entry->d_name));
    return entry;
}

/* Extends the path by a name; returns its length before. PATH_MAX where it does not fit or is too deep. */
static size_t enter(struct walk *walk, const char *name)
{
    size_t length = strlen(walk->path), more = strlen(name);
    if (walk->depth == DEPTH_MAX || length + more + 2 > sizeof walk->path) {
        errno = ENAMETOOLONG;
        return PATH_MAX;
    }
    snprintf(walk->path + length, sizeof walk->path - length, "%s%s", length ? "/" : "", name);
    walk->depth++;
    return length;
}

static void leave(struct walk *walk, size_t length)
{
    walk->path[length] = '\0';
    walk->depth--;
}

static bool is_named(const struct walk *walk)
{
    for (size_t i = 0; i < walk->named->count; i++)
        if (!strcmp(walk->named->names[i], walk->path))
            return true;
    return false;
}

/* ---- removing ---- */

static bool remove_entries(int folder, unsigned depth)
{
    DIR *stream = depth < DEPTH_MAX + 8 ? entries_of(folder) : NULL;
    bool gone = stream != NULL;
    for (struct dirent *entry; stream && (entry = next_entry(stream));) {
        if (unlinkat(folder, entry->d_name, 0) == 0)
            continue;
        int below = openat(folder, entry->d_name, FOLDER);
        gone &= below >= 0 && remove_entries(below, depth + 1);
        if (below >= 0)
            close(below);
        gone &= unlinkat(folder, entry->d_name, AT_REMOVEDIR) == 0;
    }
    if (stream)
        closedir(stream);
    return gone;
}

bool tree_remove(int parent, const char *name)
{
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
        return true;
    int folder = openat(parent, name, FOLDER);
    if (folder >= 0) {
        remove_entries(folder, 0);
        close(folder);
    }
    struct stat status;
    return unlinkat(parent, name, AT_REMOVEDIR) == 0 ||
           (fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT);
}

/* ---- linking ---- */

/* Names of security modules are given to new files as to old ones; others say who may do what. */
static bool has_access_list(int folder)
{
    char names[4096];
    ssize_t length = flistxattr(folder, names, sizeof names);
    if (length < 0)
        return errno == ERANGE;
    for (const char *name = names; name < names + length; name += strlen(name) + 1)
        if (strncmp(name, "security.", 9) != 0)
            return true;
    return false;
}

bool tree_copy_attributes(int from, int to)
{
    struct stat wanted, status;
    if (fstat(from, &wanted) || fstat(to, &status))
        return false;
    if (has_access_list(from)) {
        errno = ENOTSUP;
        return false;
    }
    bool same_owner = wanted.st_uid == status.st_uid && wanted.st_gid == status.st_gid;
    return (same_owner || fchown(to, wanted.st_uid, wanted.st_gid) == 0) && fchmod(to, wanted.st_mode & 07777) == 0;
}

static bool copy_times(int from, int to)
{
    struct stat status;
    return fstat(from, &status) == 0 && futimens(to, (struct timespec[]){status.st_atim, status.st_mtim}) == 0;
}

static bool link_entries(struct walk *walk, int from, int to);

static bool link_folder(struct walk *walk, int from, int to, const char *name)
{
    if (mkdirat(to, name, 0700) != 0 && errno != EEXIST)
        return false;
    int below = openat(from, name, FOLDER), copy = openat(to, name, FOLDER);
    bool done = below >= 0 && copy >= 0 && link_entries(walk, below, copy) && tree_copy_attributes(below, copy) &&
                copy_times(below, copy);
    int reason = errno;
    if (below >= 0)
        close(below);
    if (copy >= 0)
        close(copy);
    errno = reason;
    return done;
}

/* The marked folder of another output directory, in which a process may be writing: it must not get another place. */
static bool is_marked(const char *name)
{
    static const char suffix[] = ".stagesim";
    size_t length = strlen(name), end = sizeof suffix - 1;
    return name[0] == '.' && length >= end && !strcmp(name + length - end, suffix);
}

static bool link_entry(struct walk *walk, int from, int to, const char *name)
{
    struct stat status;
    if (fstatat(from, name, &status, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT; /* it went away just now */
    if (++walk->links > LINKS_MAX) {
        errno = E2BIG;
        return false;
    }
    if (!S_ISDIR(status.st_mode))
        return is_named(walk) || linkat(from, name, to, name, 0) == 0;
    errno = EISDIR;
    return !is_named(walk) && !is_marked(name) && link_folder(walk, from, to, name);
}

static bool link_entries(struct walk *walk, int from, int to)
{
    DIR *stream = entries_of(from);
    bool done = stream != NULL;
    while (done) {
        struct dirent *entry = next_entry(stream);
        size_t length = entry ? enter(walk, entry->d_name) : 0;
        if (!entry) {
            done = errno == 0;
            break;
        }
        done = length < PATH_MAX && link_entry(walk, from, to, entry->d_name);
        if (length < PATH_MAX)
            leave(walk, length);
    }
    int reason = errno;
    if (stream)
        closedir(stream);
    errno = reason;
    return done;
}

bool tree_link(int from, int to, const struct tree_names *but)
{
    struct walk walk = {.named = but};
    return link_entries(&walk, from, to);
}

/* ---- emptying ---- */

static bool is_later(const struct stat *one, const struct stat *other)
{
    return one->st_mtim.tv_sec != other->st_mtim.tv_sec ? one->st_mtim.tv_sec > other->st_mtim.tv_sec
                                                        : one->st_mtim.tv_nsec > other->st_mtim.tv_nsec;
}

static bool retire_file(const struct walk *walk, int old, int now, const char *name, const struct stat *status)
{
    struct stat other;
    if (is_named(walk))
        return unlinkat(old, name, 0) == 0;
    if (fstatat(now, name, &other, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT && renameat(old, name, now, name) == 0;
    bool same = other.st_dev == status->st_dev && other.st_ino == status->st_ino;
    if (!same && is_later(status, &other))
        return renameat(old, name, now, name) == 0;
    return unlinkat(old, name, 0) == 0;
}

static bool retire_entries(struct walk *walk, int old, int now);

static bool retire_folder(struct walk *walk, int old, int now, const char *name)
{
    int there = openat(now, name, FOLDER);
    if (there < 0)
        return errno == ENOENT && renameat(old, name, now, name) == 0;
    int below = openat(old, name, FOLDER);
    bool gone = below >= 0 && retire_entries(walk, below, there);
    if (below >= 0)
        close(below);
    close(there);
    return gone && unlinkat(old, name, AT_REMOVEDIR) == 0;
}

static bool retire_entries(struct walk *walk, int old, int now)
{
    DIR *stream = entries_of(old);
    bool gone = stream != NULL;
    for (struct dirent *entry; stream && (entry = next_entry(stream));) {
        struct stat status;
        size_t length = enter(walk, entry->d_name);
        if (length == PATH_MAX || fstatat(old, entry->d_name, &status, AT_SYMLINK_NOFOLLOW))
            gone = false;
        else if (S_ISDIR(status.st_mode))
            gone &= retire_folder(walk, old, now, entry->d_name);
        else
            gone &= retire_file(walk, old, now, entry->d_name, &status);
        if (length < PATH_MAX)
            leave(walk, length);
    }
    if (stream)
        closedir(stream);
    return gone;
}

bool tree_retire(int old, int now, const struct tree_names *named)
{
    struct walk walk = {.named = named};
    return retire_entries(&walk, old, now);
}
